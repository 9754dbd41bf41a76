<?php
// SPDX-License-Identifier: Apache-2.0
// A client of mod_payments in one file, for PHP 7.4 and later, without other packages (docs/clients.md).
//
//   require 'Payments.php';
//   $shop = new Payments('https://shop.example', 'pay_testsk_...');
//   $charge = $shop->charge('tok_...', '1500.50', 'ada@example.com', 'order-1001-7f3a');
//   if (Payments::isPaid($charge)) ...
//
// Amounts are strings or whole numbers: 0.1 + 0.2 is not an amount. A call without an answer may be repeated unchanged: a
// charge is made once for its reference, a refund once for its idempotency key.

declare(strict_types=1);

// A refusal by the server: getCode() is HTTP's status, or 0 if there was no answer.
class PaymentException extends \RuntimeException
{
    /** @var string the API's responseCode */
    public $responseCode;
    /** @var array the fields at fault */
    public $errors;
    /** @var string */
    public $requestId;

    public function __construct(int $status, array $body, string $message = '')
    {
        $data = is_array($body['data'] ?? null) ? $body['data'] : [];
        $this->responseCode = (string) ($data['responseCode'] ?? '');
        $this->errors = $data['errors'] ?? [];
        $this->requestId = (string) ($data['requestId'] ?? '');
        parent::__construct((string) ($body['message'] ?? $message), $status);
    }
}

class Payments
{
    private $baseUrl;
    private $key;
    private $timeout;

    public function __construct(string $baseUrl, string $key, float $timeout = 60.0)
    {
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->key = $key;
        $this->timeout = $timeout;
    }

    // Returns whether the shop has the money: only one word means that, whatever words are added later.
    public static function isPaid(array $transaction): bool
    {
        return ($transaction['paymentStatus'] ?? '') === 'successful';
    }

    // Returns the answer's JSON; throws PaymentException. The key is sent to the given address only: no redirection is
    // followed.
    public function call(string $method, string $path, ?array $body = null, ?string $idempotencyKey = null): array
    {
        $headers = ["Authorization: Bearer {$this->key}", 'Accept: application/json', 'Connection: close'];
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
        }
        if ($idempotencyKey !== null) {
            $headers[] = "Idempotency-Key: {$idempotencyKey}";
        }
        $context = stream_context_create(['http' => [
            'method' => $method, 'header' => $headers, 'ignore_errors' => true, 'follow_location' => 0,
            'protocol_version' => 1.1, 'timeout' => $this->timeout,
            'content' => $body === null ? '' : json_encode((object) $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES),
        ]]);
        $text = @file_get_contents($this->baseUrl . $path, false, $context);
        if ($text === false || !preg_match('#^HTTP/\S+ (\d{3})#', $http_response_header[0] ?? '', $found)) {
            throw new PaymentException(0, [], 'there was no answer');
        }
        $answer = json_decode($text, true);
        if ($found[1] < 200 || $found[1] > 299 || !is_array($answer)) {
            throw new PaymentException((int) $found[1], is_array($answer) ? $answer : [], "HTTP {$found[1]}");
        }
        return $answer;
    }

    // Returns the transaction, approved or declined: see isPaid. $more: currency, firstName, lastName.
    public function charge(string $token, $amount, string $email, string $reference, array $more = []): array
    {
        $body = ['token' => $token, 'amount' => self::amount($amount), 'email' => $email, 'reference' => $reference] + $more;
        return $this->data('POST', '/api/v1/tokenized-card-charge', $body);
    }

    public function verify(string $reference): array
    {
        return $this->data('GET', '/api/v1/checkout/' . rawurlencode($reference) . '/verify');
    }

    // Returns the refund record: of $amount, or of the whole remainder. $more: customer_note, merchant_note.
    public function refund(string $reference, $amount = null, ?string $idempotencyKey = null, array $more = []): array
    {
        $body = ['reference' => $reference] + $more;
        if ($amount !== null) {
            $body['amount'] = self::amount($amount);
        }
        return $this->call('POST', $amount === null ? '/api/v1/refund' : '/api/v1/partial-refund', $body, $idempotencyKey);
    }

    // Returns the refund records of a range of days (yyyy-MM-dd) or times (RFC 3339), both ends inclusive.
    public function refunds(string $start, string $end): array
    {
        return $this->call('GET', '/api/v1/refund/' . rawurlencode($start) . '/' . rawurlencode($end));
    }

    // Yields each transaction that matches the query (email, status, currency, from, to), newest first.
    public function transactions(array $query = []): \Generator
    {
        do {
            $page = $this->data('GET', '/api/v1/transaction?' . http_build_query($query));
            yield from $page['transactions'];
            $query['cursor'] = $page['cursor'];
        } while ($page['cursor'] !== null);
    }

    // Send the payer to paymentRedirectUrl. $more: currency, redirectUrl, metaData, checkoutCustomizationData.
    public function checkout(string $reference, $amount, string $email, string $firstName, string $lastName, array $more = []): array
    {
        $body = ['transactionReference' => $reference, 'amount' => self::amount($amount),
            'checkoutCustomerData' => ['email' => $email, 'firstName' => $firstName, 'lastName' => $lastName]] + $more;
        return $this->data('POST', '/api/v1/initiate', $body);
    }

    // Returns the event of a webhook; throws UnexpectedValueException if it must not be trusted. $headers have
    // lower-case names; $body is the text as received (php://input).
    public static function verifyWebhook(string $secret, array $headers, string $body, int $tolerance = 300, ?int $now = null): array
    {
        $stamp = $headers['webhook-timestamp'] ?? '';
        if (!ctype_digit($stamp) || abs(($now ?? time()) - (int) $stamp) > $tolerance) {
            throw new \UnexpectedValueException('the webhook is too old, or of the future');
        }
        $key = base64_decode((string) preg_replace('/^whsec_/', '', $secret));
        $wanted = 'v1,' . base64_encode(hash_hmac('sha256', ($headers['webhook-id'] ?? '') . ".{$stamp}.{$body}", $key, true));
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $one) {
            if (hash_equals($wanted, $one)) {
                return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
            }
        }
        throw new \UnexpectedValueException('no signature of the webhook is right');
    }

    private function data(string $method, string $path, ?array $body = null): array
    {
        $data = $this->call($method, $path, $body)['data'] ?? null;
        if (!is_array($data)) {
            throw new PaymentException(0, [], 'this is not an answer of the API');
        }
        return $data;
    }

    private static function amount($value): string
    {
        if (is_string($value) || is_int($value)) {
            return (string) $value;
        }
        throw new \InvalidArgumentException('an amount is a string or a whole number');
    }
}
