<?php
// SPDX-License-Identifier: Apache-2.0
// The payment method (docs/clients.md, "WooCommerce"). An order is paid only if the server says so of a reference of that
// order, in its currency and of at least its total. What the browser or a webhook's body says only starts that question.

namespace ModPayments;

defined('ABSPATH') || exit;

class Gateway extends \WC_Payment_Gateway
{
    public const ID = 'mod_payments';

    private const REFERENCE = '_mod_payments_reference'; // one for each attempt; the last is the current one
    private const PAID_BY = '_mod_payments_paid_by';     // the reference whose money this order has
    private const TOLD = '_mod_payments_told';           // what has a note: repeated events change nothing
    private const REFUND = '_mod_payments_refund';       // a refund whose outcome is not known: key, amount, note

    private const TIMEOUT_S = 15.0;
    private const LOCK_S = 10;
    private const BODY_BYTES = 1048576;

    public function __construct()
    {
        $this->id = self::ID;
        $this->method_title = 'mod_payments';
        $this->method_description = __('Payers pay on the hosted page of your mod_payments server.', 'mod-payments');
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        $this->description = $this->get_option('description');
        add_action('woocommerce_update_options_payment_gateways_' . $this->id, [$this, 'process_admin_options']);
    }

    // ---- settings

    public function init_form_fields()
    {
        $this->form_fields = [
            'enabled' => ['title' => __('Enabled', 'mod-payments'), 'type' => 'checkbox', 'default' => 'no',
                'label' => __('Offer this payment method', 'mod-payments')],
            'title' => ['title' => __('Title', 'mod-payments'), 'type' => 'text',
                'default' => __('Card or bank transfer', 'mod-payments')],
            'description' => ['title' => __('Description', 'mod-payments'), 'type' => 'textarea',
                'default' => __('You pay on our payment page and come back here.', 'mod-payments')],
            'base_url' => ['title' => __('Base URL', 'mod-payments'), 'type' => 'text', 'default' => '',
                'description' => __('The address of the server, without /api/v1: https://pay.shop.example', 'mod-payments')],
            'secret_key' => ['title' => __('Secret key', 'mod-payments'), 'type' => 'password', 'default' => '',
                'description' => __('The key decides: a test key takes no money, a live key does.', 'mod-payments')],
            'webhook_secret' => ['title' => __('Webhook secret', 'mod-payments'), 'type' => 'password', 'default' => '',
                // translators: %s is the address of the webhook
                'description' => sprintf(__('The secret of the webhook %s; without it the shop does not learn of payers who do not '
                    . 'come back.', 'mod-payments'), esc_html(WC()->api_request_url(self::ID . '_webhook')))],
        ];
    }

    public function validate_base_url_field($key, $value)
    {
        $value = untrailingslashit(trim(wp_unslash((string) $value)));
        $safe = '#^(https://[^/?\#@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(/[^?\#]*)?$#Di';
        return preg_match($safe, $value) || $value === '' ? esc_url_raw($value)
            : $this->keep($key, __('The base URL must begin with https://, or keys are sent in the clear.', 'mod-payments'));
    }

    public function validate_secret_key_field($key, $value)
    {
        $value = trim(wp_unslash((string) $value));
        return preg_match('/^[a-z0-9]+_(test|live)sk_[!-~]+$/i', $value) || $value === '' ? $value
            : $this->keep($key, __('This is not a secret key: it looks like pay_testsk_... or pay_livesk_...', 'mod-payments'));
    }

    public function validate_webhook_secret_field($key, $value)
    {
        $value = trim(wp_unslash((string) $value));
        return self::is_webhook_secret($value) || $value === '' ? $value
            : $this->keep($key, __('The webhook secret looks like whsec_...', 'mod-payments'));
    }

    private function keep(string $key, string $why): string
    {
        \WC_Admin_Settings::add_error($why);
        return (string) $this->get_option($key);
    }

    public function needs_setup()
    {
        return $this->get_option('base_url') === '' || $this->get_option('secret_key') === '';
    }

    public function is_available()
    {
        return parent::is_available() && !$this->needs_setup();
    }

    // An empty secret would be one that everybody knows.
    private static function is_webhook_secret(string $text): bool
    {
        return (bool) preg_match('#^whsec_[A-Za-z0-9+/]{22,}={0,2}$#D', $text);
    }

    private function server(): Payments
    {
        return new Payments($this->get_option('base_url'), $this->get_option('secret_key'), self::TIMEOUT_S);
    }

    // ---- paying

    public function process_payment($order_id)
    {
        try {
            $url = $this->alone((int) $order_id, function (\WC_Order $order) {
                return $this->close_earlier($order) ? $this->get_return_url($order) : $this->open_page($order);
            });
            return ['result' => 'success', 'redirect' => $url];
        } catch (\Throwable $failure) {
            $this->log("order {$order_id}: no payment page", $failure);
            wc_add_notice($failure instanceof ForPayer ? $failure->getMessage() : __('The payment page could not be opened. '
                . 'Please try again in a few minutes, or choose another way to pay.', 'mod-payments'), 'error');
            return ['result' => 'failure'];
        }
    }

    // Ends the attempt before this one, so that nobody pays twice. Returns whether that one has paid the order.
    private function close_earlier(\WC_Order $order): bool
    {
        $earlier = $this->references($order);
        $earlier = end($earlier);
        if ($earlier === false) {
            return false;
        }
        try {
            $this->server()->call('POST', '/api/v1/void-transaction', ['transactionReference' => $earlier]);
            return false;
        } catch (PaymentException $refusal) {
            if ($refusal->getCode() === 404) {
                return false; // the request that should have made it never came, or the key is of the other mode
            }
            if ($refusal->responseCode !== 'V2') {
                throw $refusal;
            }
        }
        $outcome = $this->settle($order, $earlier);
        if ($outcome === 'pending') {
            throw new ForPayer(__('Your payment is being processed. Please do not pay again.', 'mod-payments'));
        }
        return $outcome !== 'failed';
    }

    private function open_page(\WC_Order $order): string
    {
        $reference = sprintf('wc-%d-%s', $order->get_id(), bin2hex(random_bytes(8)));
        $order->add_meta_data(self::REFERENCE, $reference);
        $order->save(); // before the call: if its answer is lost, the page exists, and the next attempt closes it
        $first = trim($order->get_billing_first_name());
        $last = trim($order->get_billing_last_name());
        $back = ['order_id' => $order->get_id(), 'key' => $order->get_order_key()];
        $page = $this->server()->checkout($reference, self::text(self::thousandths($order->get_total())),
            $order->get_billing_email(), $first === '' ? '-' : $first, $last === '' ? '-' : $last, [
                'currency' => $order->get_currency(),
                'redirectUrl' => add_query_arg($back, WC()->api_request_url(self::ID)),
                'metaData' => ['order' => (string) $order->get_order_number()],
                'checkoutCustomizationData' => ['paymentDescription' =>
                    // translators: %s is the order's number
                    sprintf(__('Order %s', 'mod-payments'), $order->get_order_number())],
            ]);
        $url = esc_url_raw($page['paymentRedirectUrl'] ?? '', ['https', 'http']);
        if (($page['statusCode'] ?? '') !== '01' || $url === '') {
            throw new \UnexpectedValueException("{$reference}: the server opened no page");
        }
        // translators: %s is a reference
        $order->add_order_note(sprintf(__('Payment page opened, reference %s.', 'mod-payments'), $reference));
        return $url;
    }

    // ---- the payer comes back

    // A GET from another site, so that no nonce fits; the order's key says whose order it is, and the server what was paid.
    public function answer_return(): void
    {
        $get = function (string $name): string {
            $value = $_GET[$name] ?? '';
            return is_string($value) ? sanitize_text_field(wp_unslash($value)) : '';
        };
        $url = home_url('/');
        try {
            $url = $this->alone(absint($get('order_id')), function (\WC_Order $order) use ($get, &$url) {
                if (!hash_equals($order->get_order_key(), $get('key'))) {
                    throw new ForPayer(__('This order is unknown.', 'mod-payments'));
                }
                $url = $order->get_checkout_payment_url();
                if (!in_array($get('reference'), $this->references($order), true)) {
                    throw new ForPayer(__('This payment does not belong to the order.', 'mod-payments'));
                }
                return $this->after_return($order, $get('reference'));
            });
        } catch (ForPayer $message) {
            wc_add_notice($message->getMessage(), 'error');
        } catch (\Throwable $failure) {
            $this->log('return of order ' . absint($get('order_id')), $failure);
            wc_add_notice(__('We could not check yet whether your payment was made. If you have paid, please do not pay again: '
                . 'the order is updated as soon as we know.', 'mod-payments'), 'notice');
        }
        wp_safe_redirect($url);
        exit;
    }

    // Where the payer goes on.
    private function after_return(\WC_Order $order, string $reference): string
    {
        $outcome = $this->settle($order, $reference);
        if ($outcome === 'failed') {
            throw new ForPayer(__('The payment was not made. You can try again.', 'mod-payments'));
        }
        if ($outcome === 'pending' && $order->has_status(['pending', 'failed'])) {
            // On hold, WooCommerce neither cancels the order after an hour nor lets it be paid twice.
            $order->update_status('on-hold', sprintf(
                // translators: %s is a reference
                __('Payment %s is being processed. The webhook reports the outcome.', 'mod-payments'), $reference));
        }
        return $this->get_return_url($order);
    }

    // ---- webhooks

    public function answer_webhook(): void
    {
        if (($_SERVER['REQUEST_METHOD'] ?? '') !== 'POST') {
            $this->answer(405, 'POST only');
        }
        // The bytes as they came: they are what is signed. No event is longer.
        $body = (string) file_get_contents('php://input', false, null, 0, self::BODY_BYTES);
        $headers = [];
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            $headers[$name] = wp_unslash($_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '');
        }
        $secret = (string) $this->get_option('webhook_secret');
        try {
            if (!self::is_webhook_secret($secret)) {
                throw new \UnexpectedValueException('the webhook secret is not set');
            }
            $event = Payments::verifyWebhook($secret, $headers, $body);
        } catch (\Throwable $failure) {
            $this->log('webhook refused', $failure);
            $this->answer(401, 'not signed by the webhook secret of this shop, or too old');
        }
        try {
            $this->answer(200, $this->take($event));
        } catch (\Throwable $failure) {
            $this->log('webhook to be repeated', $failure);
            $this->answer(503, 'not handled: try again');
        }
    }

    // What became of the event.
    private function take(array $event): string
    {
        $data = is_array($event['data'] ?? null) ? $event['data'] : [];
        $reference = (string) ($data['transactionReference'] ?? '');
        $kind = $event['notify'] ?? '';
        if (!in_array($kind, ['transaction', 'refund'], true) || !preg_match('/^wc-(\d{1,18})-[0-9a-f]{16}$/D', $reference, $found)) {
            return 'not of this shop';
        }
        try {
            return $this->alone((int) $found[1], function (\WC_Order $order) use ($kind, $reference, $data) {
                if (!in_array($reference, $this->references($order), true)) {
                    throw new ForPayer('no such reference');
                }
                if ($kind === 'refund') {
                    $this->tell_refund($order, $reference, (string) ($data['refundReference'] ?? ''));
                    return 'noted';
                }
                return $this->settle($order, $reference);
            });
        } catch (ForPayer $unknown) {
            $this->log("webhook of {$reference}, which is of no order here", $unknown);
            return 'not of this shop';
        }
    }

    private function answer(int $status, string $text): void
    {
        status_header($status);
        nocache_headers();
        header('Content-Type: text/plain; charset=utf-8');
        echo esc_html($text);
        exit;
    }

    // ---- what became of a payment

    // Asks the server and brings the order up to date, once: 'paid', 'held' (a person has to look), 'pending' or 'failed'.
    private function settle(\WC_Order $order, string $reference): string
    {
        if ($order->get_transaction_id() === $reference || $this->was_told($order, "paid {$reference}")) {
            return $order->has_status(array_merge(wc_get_is_paid_statuses(), ['refunded'])) ? 'paid' : 'held';
        }
        $said = $this->server()->verify($reference);
        if (($said['transactionReference'] ?? '') !== $reference) {
            throw new \UnexpectedValueException("{$reference}: the answer is about another transaction");
        }
        if (Payments::isPaid($said)) {
            return $this->settle_paid($order, $reference, $said);
        }
        if (!in_array($said['paymentStatus'] ?? '', ['failed', 'abandoned', 'void', 'reversed'], true)) {
            return 'pending';
        }
        if (!$this->was_told($order, "{$said['paymentStatus']} {$reference}")) {
            $this->settle_unpaid($order, $reference, $said);
        }
        return 'failed';
    }

    // What is written last is that it was told: whatever ends the process before, the next webhook does the rest.
    private function settle_paid(\WC_Order $order, string $reference, array $said): string
    {
        $charged = self::thousandths($said['chargedAmount'] ?? '');
        $currency = (string) ($said['currency'] ?? '');
        // translators: 1: an amount, 2: a currency, 3: a reference, 4: test or live
        $note = sprintf(__('%1$s %2$s paid, reference %3$s (%4$s).', 'mod-payments'), self::text($charged), $currency, $reference,
            $said['domain'] ?? '');
        $paid_by = (string) $order->get_meta(self::PAID_BY);
        $is_paid = $order->get_date_paid() || $order->is_paid() || $order->has_status('refunded');
        $outcome = 'held';
        if ($paid_by === $reference && $is_paid) {
            $outcome = 'paid';
        } elseif ($paid_by !== $reference && ($paid_by !== '' || $is_paid)) {
            $order->add_order_note($note . ' ' . __('The order has been paid before: refund this payment on the server, or deliver '
                . 'again.', 'mod-payments'));
        } elseif (!$order->has_status(['pending', 'failed', 'on-hold', 'checkout-draft'])) {
            // translators: %s is a state of an order
            $this->hold($order, $reference, $note . ' ' . sprintf(__('The order was "%s" meanwhile. Deliver it or refund it.',
                'mod-payments'), $order->get_status()));
        } elseif ($currency !== $order->get_currency() || $charged < self::thousandths($order->get_total())) {
            // translators: 1: an amount, 2: a currency
            $this->hold($order, $reference, $note . ' ' . sprintf(__('The order is now %1$s %2$s. Request the rest or refund it.',
                'mod-payments'), self::text(self::thousandths($order->get_total())), $order->get_currency()));
        } else {
            $order->add_order_note($note);
            $order->update_meta_data(self::PAID_BY, $reference);
            if (!$order->payment_complete($reference)) {
                throw new \RuntimeException("{$reference} is paid, and WooCommerce could not complete its order");
            }
            $outcome = 'paid';
        }
        $this->told($order, "paid {$reference}");
        $order->save();
        return $outcome;
    }

    // The shop has the money, and a person has to say what becomes of it.
    private function hold(\WC_Order $order, string $reference, string $note): void
    {
        $order->add_order_note($note);
        $order->update_meta_data(self::PAID_BY, $reference);
        $order->set_transaction_id($reference);
        if (!$order->update_status('on-hold')) {
            throw new \RuntimeException("{$reference} is paid, and WooCommerce could not hold its order");
        }
    }

    private function settle_unpaid(\WC_Order $order, string $reference, array $said): void
    {
        $this->told($order, "{$said['paymentStatus']} {$reference}");
        // translators: 1: a reference, 2: failed, abandoned, void or reversed, 3: the acquirer's words
        $note = trim(sprintf(__('Payment %1$s: %2$s. %3$s', 'mod-payments'), $reference, $said['paymentStatus'],
            $said['gatewayResponseMessage'] ?? ''));
        $references = $this->references($order);
        if ($reference === end($references) && $order->get_meta(self::PAID_BY) === '' && $order->has_status(['pending', 'on-hold'])) {
            $order->update_status('failed', $note);
        } else {
            $order->add_order_note($note);
            $order->save();
        }
    }

    // ---- refunds

    public function process_refund($order_id, $amount = null, $reason = '')
    {
        try {
            return $this->alone((int) $order_id, function (\WC_Order $order) use ($amount, $reason) {
                return $this->refund($order, $amount === null ? null : self::text(self::thousandths($amount)), (string) $reason);
            });
        } catch (\Throwable $failure) {
            $this->log("refund of order {$order_id}", $failure);
            return new \WP_Error(self::ID, $failure->getMessage());
        }
    }

    // A refund whose answer was lost keeps its idempotency key: asked for again, it is made once.
    private function refund(\WC_Order $order, ?string $amount, string $reason)
    {
        $reference = (string) $order->get_meta(self::PAID_BY);
        if ($reference === '') {
            throw new ForPayer(__('The order was not paid here.', 'mod-payments'));
        }
        $open = $order->get_meta(self::REFUND);
        $again = is_array($open);
        if ($again && $open['amount'] !== $amount) {
            throw new ForPayer(sprintf(
                // translators: %s is an amount
                __('A refund of %s had no answer, and may have been made. Repeat that one first: it is not made twice.', 'mod-payments'),
                $open['amount'] ?? __('all that is left', 'mod-payments')));
        }
        if (!$again) {
            $note = trim(preg_replace(['/[\s\p{C}]+/u', '/^(.{500}).*$/us'], [' ', '$1'], $reason) ?? '');
            $open = ['key' => sprintf('wc-%d-%s', $order->get_id(), bin2hex(random_bytes(16))), 'amount' => $amount, 'note' => $note];
            $order->update_meta_data(self::REFUND, $open);
            $order->save();
        }
        try {
            $record = $this->server()->refund($reference, $amount, $open['key'],
                $open['note'] === '' ? [] : ['merchant_note' => $open['note']]);
            if (($record['transactionReference'] ?? '') !== $reference) {
                throw new PaymentException(0, [], 'this is not an answer of the API');
            }
        } catch (PaymentException $refusal) {
            $words = $refusal->getMessage();
            foreach ($refusal->errors as $error) {
                $words .= ' ' . ($error['field'] ?? '') . ' ' . ($error['reason'] ?? '');
            }
            if (!self::made_nothing($refusal, $again)) {
                throw new ForPayer($words . ' ' . __('It is not known whether the refund was made. Repeat it with the same amount: it '
                    . 'is not made twice.', 'mod-payments'));
            }
            $order->delete_meta_data(self::REFUND);
            $order->save();
            throw new ForPayer($words);
        }
        $order->delete_meta_data(self::REFUND);
        $this->note_refund($order, $record);
        if ($record['status'] === 'failed') {
            throw new ForPayer(__('The refund was refused. Nothing was refunded.', 'mod-payments'));
        }
        return true;
    }

    // Whether the refusal says that no earlier call with its key made the refund either.
    private static function made_nothing(PaymentException $refusal, bool $again): bool
    {
        $status = $refusal->getCode();
        if ($status === 400 || ($status === 409 && strncmp($refusal->responseCode, 'R', 1) === 0)) {
            return true; // judged with the key's answer in hand
        }
        return !$again && $status >= 400 && $status < 500 && $refusal->responseCode !== 'D2';
    }

    // By a webhook: the refund as it is now.
    private function tell_refund(\WC_Order $order, string $reference, string $refund): void
    {
        $record = $this->server()->call('GET', '/api/v1/refund/' . rawurlencode($refund));
        if (($record['transactionReference'] ?? '') !== $reference) {
            throw new \UnexpectedValueException("{$refund}: the answer is about another transaction");
        }
        $this->note_refund($order, $record);
    }

    private function note_refund(\WC_Order $order, array $record): void
    {
        $what = "refund {$record['refundReference']} {$record['status']}";
        if (!$this->was_told($order, $what)) {
            $this->told($order, $what);
            // translators: 1: an amount, 2: a currency, 3: a reference, 4: pending, processed or failed
            $note = sprintf(__('Refund of %1$s %2$s, %3$s: %4$s.', 'mod-payments'), $record['amount'], $record['currency'],
                $record['refundReference'], $record['status']);
            if ($record['status'] === 'failed') {
                $note .= ' ' . __('The payer has not received this money, even if the order lists the refund.', 'mod-payments');
            }
            $order->add_order_note($note);
        }
        $order->save();
    }

    // ---- orders

    // What $work returns, called with the order while no other request works on it. The order is read with the lock held:
    // what was read before may be old.
    private function alone(int $id, callable $work)
    {
        global $wpdb;
        $name = 'mod_payments_' . md5(DB_NAME . " {$wpdb->prefix} {$id}");
        if ($wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $name, self::LOCK_S)) === '0') {
            throw new \RuntimeException("another request is at work on order {$id}");
        }
        try {
            $order = wc_get_order($id);
            if (!$order instanceof \WC_Order) {
                throw new ForPayer(__('This order is unknown.', 'mod-payments'));
            }
            $order->read_meta_data(true);
            return $work($order);
        } finally {
            $wpdb->query($wpdb->prepare('SELECT RELEASE_LOCK(%s)', $name));
        }
    }

    private static function values(\WC_Order $order, string $key): array
    {
        return array_values(array_map(function ($meta) {
            return (string) $meta->value;
        }, $order->get_meta($key, false)));
    }

    private function references(\WC_Order $order): array
    {
        return self::values($order, self::REFERENCE);
    }

    private function was_told(\WC_Order $order, string $what): bool
    {
        return in_array($what, self::values($order, self::TOLD), true);
    }

    private function told(\WC_Order $order, string $what): void
    {
        $order->add_meta_data(self::TOLD, $what);
    }

    // Of an amount exactly. A float is what PHP makes of a JSON number: with three decimals and twelve digits before them it has
    // the digits that were written.
    private static function thousandths($amount): int
    {
        $text = is_string($amount) ? $amount : sprintf('%.3F', $amount);
        if (!preg_match('/^(\d{1,12})(?:\.(\d{1,3})0*)?$/D', $text, $part)) {
            throw new \RangeException('no amount, or one with too many decimals');
        }
        return (int) $part[1] * 1000 + (int) str_pad($part[2] ?? '', 3, '0');
    }

    private static function text(int $thousandths): string
    {
        return preg_replace('/\.?0+$/', '', sprintf('%d.%03d', intdiv($thousandths, 1000), $thousandths % 1000));
    }

    // No message of the client library or of the server holds a key.
    private function log(string $what, \Throwable $failure): void
    {
        $request = $failure instanceof PaymentException ? " (HTTP {$failure->getCode()}, request {$failure->requestId})" : '';
        wc_get_logger()->warning("{$what}: {$failure->getMessage()}{$request}", ['source' => 'mod-payments']);
    }
}

// Its message is for whoever asked, in their language.
class ForPayer extends \Exception
{
}
