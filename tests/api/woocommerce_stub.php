<?php
// SPDX-License-Identifier: Apache-2.0
// As much of WooCommerce as a payment plugin meets, and of WordPress, if that is not there: for test_woocommerce.py, by PHP's
// own server. Orders are files in the folder WOO_STATE, one folder for each shop: the first part of a path names it. In a real
// WordPress (tests/faults/wordpress.py) this is a plugin, orders are rows of wp_options, and paths have no first part.
//
//   POST /shop/do {"call": name, ...}   what the test wants done; the answer is JSON
//   /shop/?wc-api=NAME                  a request of a browser or of the payment server
//
// What a real WooCommerce does beside (mails, stock) is left out. Any warning of PHP's is written to the file `errors`.

namespace Automattic\WooCommerce\Utilities {
    class FeaturesUtil
    {
        public static $declared = [];

        public static function declare_compatibility($feature, $file, $compatible = true)
        {
            self::$declared[$feature] = $compatible;
            return true;
        }
    }
}

namespace {
    // ---- WordPress

    if (!defined('ABSPATH')) {
        define('ABSPATH', __DIR__ . '/');
        define('DB_NAME', 'wordpress');
        $GLOBALS['stub_hooks'] = [];

        function stub_file(string $name): string
        {
            return getenv('WOO_STATE') . '/' . $GLOBALS['stub_shop'] . '/' . $name;
        }

        function stub_load($name, $default = [])
        {
            $text = @file_get_contents(stub_file("option-{$name}"));
            return $text === false ? $default : json_decode($text, true);
        }

        function get_option($name, $default = false)
        {
            return stub_load($name, $default);
        }

        function update_option($name, $value)
        {
            return stub_store($name, $value);
        }

        function stub_store($name, $value)
        {
            $new = stub_file("option-{$name}." . getmypid());
            file_put_contents($new, json_encode($value));
            return rename($new, stub_file("option-{$name}"));
        }

        function delete_option($name)
        {
            return @unlink(stub_file("option-{$name}"));
        }

        function add_filter($hook, $call, $priority = 10, $arguments = 1)
        {
            $GLOBALS['stub_hooks'][$hook][] = $call;
            return true;
        }

        function add_action($hook, $call, $priority = 10, $arguments = 1)
        {
            return add_filter($hook, $call);
        }

        function has_action($hook)
        {
            return !empty($GLOBALS['stub_hooks'][$hook]);
        }

        function apply_filters($hook, $value)
        {
            foreach ($GLOBALS['stub_hooks'][$hook] ?? [] as $call) {
                $value = $call($value);
            }
            return $value;
        }

        function do_action($hook, ...$arguments)
        {
            foreach ($GLOBALS['stub_hooks'][$hook] ?? [] as $call) {
                $call(...$arguments);
            }
        }

        function __($text, $domain = 'default')
        {
            return $text;
        }

        function esc_html($text)
        {
            return htmlspecialchars($text, ENT_QUOTES);
        }

        function esc_html__($text, $domain = 'default')
        {
            return esc_html($text);
        }

        function esc_url_raw($url, $schemes = ['https', 'http', 'ftp', 'mailto'])
        {
            return in_array(strtolower((string) parse_url($url, PHP_URL_SCHEME)), $schemes, true) ? $url : '';
        }

        function untrailingslashit($text)
        {
            return rtrim($text, '/\\');
        }

        function wp_parse_url($url, $part = -1)
        {
            return parse_url($url, $part);
        }

        function wp_unslash($value)
        {
            return is_array($value) ? array_map('wp_unslash', $value) : stripslashes((string) $value);
        }

        function sanitize_text_field($text)
        {
            return trim(preg_replace('/[\r\n\t ]+/', ' ', strip_tags((string) $text)));
        }

        function absint($value)
        {
            return abs((int) $value);
        }

        function home_url($path = '')
        {
            return "http://{$_SERVER['HTTP_HOST']}/{$GLOBALS['stub_shop']}{$path}";
        }

        function add_query_arg($arguments, $url)
        {
            return $url . (strpos($url, '?') === false ? '?' : '&') . http_build_query($arguments);
        }

        function status_header($status)
        {
            http_response_code($status);
        }

        function nocache_headers()
        {
            header('Cache-Control: no-cache, must-revalidate, max-age=0');
        }

        function wp_safe_redirect($url, $status = 302)
        {
            header("Location: {$url}", true, $status);
            return true;
        }

        class WP_Error
        {
            private $code;
            private $message;

            public function __construct($code = '', $message = '')
            {
                $this->code = $code;
                $this->message = $message;
            }

            public function get_error_message()
            {
                return $this->message;
            }
        }

        function is_wp_error($value)
        {
            return $value instanceof WP_Error;
        }

        // Locks alone, by files.
        class StubDatabase
        {
            public $prefix = 'wp_';
            private $held = [];

            public function prepare($query, ...$values)
            {
                return vsprintf(str_replace('%s', "'%s'", $query), $values);
            }

            public function get_var($query)
            {
                preg_match("/^SELECT GET_LOCK\\('([^']+)', (\\d+)\\)$/", $query, $found) || trigger_error("not known: {$query}");
                $file = fopen(stub_file('lock-' . $found[1]), 'c');
                for ($end = microtime(true) + $found[2]; !flock($file, LOCK_EX | LOCK_NB); usleep(2000)) {
                    if (microtime(true) > $end) {
                        return '0';
                    }
                }
                $this->held[$found[1]] = $file;
                return '1';
            }

            public function query($query)
            {
                preg_match("/^SELECT RELEASE_LOCK\\('([^']+)'\\)$/", $query, $found) || trigger_error("not known: {$query}");
                unset($this->held[$found[1]]);
                return 1;
            }
        }
        $GLOBALS['wpdb'] = new StubDatabase();
        define('STUB_WORDPRESS', true);
    } else {
        // As orders are: not read before they are asked for.
        function stub_load($name, $default = [])
        {
            global $wpdb;
            $text = $wpdb->get_var($wpdb->prepare("SELECT option_value FROM {$wpdb->options} WHERE option_name = %s", $name));
            return $text === null ? $default : json_decode($text, true);
        }

        function stub_store($name, $value)
        {
            global $wpdb;
            return (bool) $wpdb->query($wpdb->prepare("REPLACE INTO {$wpdb->options} (option_name, option_value, autoload) "
                . "VALUES (%s, %s, 'no')", $name, json_encode($value)));
        }
    }

    // ---- WooCommerce

    function WC()
    {
        return new class {
            public function api_request_url($name)
            {
                return add_query_arg(['wc-api' => $name], home_url('/'));
            }
        };
    }

    function wc_add_notice($text, $kind = 'success')
    {
        stub_store('stub_notices', array_merge(stub_load('stub_notices'), [[$kind, $text]]));
    }

    function wc_get_is_paid_statuses()
    {
        return ['processing', 'completed'];
    }

    function wc_get_logger()
    {
        return new class {
            public function warning($text, $context = [])
            {
                stub_store('stub_log', array_merge(stub_load('stub_log'), [$text]));
            }
        };
    }

    function wc_get_order($id)
    {
        $data = stub_load("stub_order_{$id}");
        return $data ? new WC_Order($data) : false;
    }

    class WC_Admin_Settings
    {
        public static function add_error($text)
        {
            wc_add_notice($text, 'admin');
        }
    }

    class WC_Order
    {
        private $data;
        private $changes = [];

        public function __construct(array $data)
        {
            $this->data = $data;
        }

        public function __call($name, $arguments)
        {
            if (strncmp($name, 'get_', 4) !== 0 || !array_key_exists(substr($name, 4), $this->data)) {
                trigger_error("WC_Order has no {$name}");
            }
            return $this->data[substr($name, 4)];
        }

        public function read_meta_data($force = false)
        {
        }

        public function get_meta($key, $single = true)
        {
            $found = [];
            foreach ($this->data['meta'] as [$name, $value]) {
                if ($name === $key) {
                    $found[] = (object) ['key' => $name, 'value' => $value];
                }
            }
            return $single ? ($found ? $found[0]->value : '') : $found;
        }

        public function add_meta_data($key, $value, $unique = false)
        {
            $this->data['meta'][] = [$key, $value];
            $this->changes['meta'] = true;
        }

        public function delete_meta_data($key)
        {
            $this->data['meta'] = array_values(array_filter($this->data['meta'], function ($row) use ($key) {
                return $row[0] !== $key;
            }));
            $this->changes['meta'] = true;
        }

        public function update_meta_data($key, $value)
        {
            $this->delete_meta_data($key);
            $this->add_meta_data($key, $value);
        }

        public function set(string $name, $value)
        {
            $this->data[$name] = $value;
            $this->changes[$name] = true;
        }

        public function set_transaction_id($value)
        {
            $this->set('transaction_id', $value);
        }

        // Only what this object has changed, as WooCommerce does.
        public function save()
        {
            $stored = stub_load("stub_order_{$this->data['id']}") ?: [];
            stub_store("stub_order_{$this->data['id']}", array_merge($stored, array_intersect_key($this->data, $this->changes)));
            $this->changes = [];
            return $this->data['id'];
        }

        // Notes are comments of their own there: no save is needed.
        public function add_order_note($note)
        {
            $stored = stub_load("stub_order_{$this->data['id']}");
            $stored['notes'][] = $note;
            stub_store("stub_order_{$this->data['id']}", $stored);
        }

        public function has_status($status)
        {
            return in_array($this->data['status'], (array) $status, true);
        }

        public function is_paid()
        {
            return $this->has_status(wc_get_is_paid_statuses());
        }

        public function update_status($status, $note = '')
        {
            $changed = $status !== $this->data['status'];
            $this->set('status', $status);
            $this->save();
            if ($changed) { // otherwise there is no note, in WooCommerce either
                $this->add_order_note(trim("{$note} Status: {$status}."));
            }
            return true;
        }

        public function payment_complete($transaction_id = '')
        {
            if ($this->data['fails'] ?? false) {
                return false;
            }
            if ($this->has_status(['on-hold', 'pending', 'failed', 'cancelled'])) {
                $this->set('completions', stub_load("stub_order_{$this->data['id']}")['completions'] + 1);
                $this->set('transaction_id', $transaction_id);
                $this->set('date_paid', gmdate('c'));
                $this->set('status', 'processing');
                $this->save();
            }
            return true;
        }

        public function get_checkout_payment_url()
        {
            return home_url("/pay/{$this->data['id']}");
        }
    }

    abstract class WC_Payment_Gateway
    {
        public $id;
        public $title;
        public $description;
        public $method_title;
        public $method_description;
        public $has_fields;
        public $supports = ['products'];
        public $form_fields = [];
        public $settings = [];

        public function init_settings()
        {
            $this->settings = get_option("woocommerce_{$this->id}_settings", []);
        }

        public function get_option($key)
        {
            return $this->settings[$key] ?? $this->form_fields[$key]['default'];
        }

        public function process_admin_options()
        {
            foreach ($this->form_fields as $key => $field) {
                $value = $_POST["woocommerce_{$this->id}_{$key}"] ?? '';
                $this->settings[$key] = method_exists($this, "validate_{$key}_field") ? $this->{"validate_{$key}_field"}($key, $value)
                    : ($field['type'] === 'checkbox' ? ($value ? 'yes' : 'no') : $value);
            }
            return update_option("woocommerce_{$this->id}_settings", $this->settings);
        }

        public function supports($feature)
        {
            return in_array($feature, $this->supports, true);
        }

        public function is_available()
        {
            return $this->get_option('enabled') === 'yes';
        }

        public function get_return_url($order)
        {
            return home_url("/received/{$order->get_id()}");
        }
    }

    // As WooCommerce's: the refund is listed by the order if the gateway says that it was made.
    function wc_create_refund(array $args)
    {
        $made = stub_gateway()->process_refund($args['order_id'], $args['amount'], $args['reason']);
        if (is_wp_error($made) || !$made) {
            return $made;
        }
        $order = wc_get_order($args['order_id']);
        $order->set('refunds', array_merge($order->get_refunds(), [$args['amount']]));
        $order->save();
        return $made;
    }

    function stub_gateway()
    {
        $classes = apply_filters('woocommerce_payment_gateways', []);
        return new $classes[0]();
    }

    // ---- what the test asks for

    function stub_do(array $asked)
    {
        $id = $asked['id'] ?? 0;
        switch ($asked['call']) {
            case 'load':
                return stub_load($asked['name']);
            case 'store':
                return stub_store($asked['name'], $asked['value']);
            case 'order':
                return stub_store("stub_order_{$id}", $asked['order']);
            case 'change':
                $order = wc_get_order($id);
                foreach ($asked['fields'] as $name => $value) {
                    $order->set($name, $value);
                }
                return $order->save();
            case 'pay':
                return stub_gateway()->process_payment($id);
            case 'refund':
                $made = wc_create_refund(['order_id' => $id, 'amount' => $asked['amount'], 'reason' => $asked['reason'] ?? '']);
                return is_wp_error($made) ? ['error' => $made->get_error_message()] : $made;
            case 'settings':
                foreach ($asked['fields'] as $key => $value) {
                    $_POST["woocommerce_mod_payments_{$key}"] = addslashes($value);
                }
                $gateway = stub_gateway();
                $gateway->process_admin_options();
                return $gateway->settings;
            case 'about':
                $gateway = stub_gateway();
                return ['available' => $gateway->is_available(), 'refunds' => $gateway->supports('refunds'),
                    'fields' => $gateway->form_fields, 'declared' => \Automattic\WooCommerce\Utilities\FeaturesUtil::$declared];
        }
        trigger_error("not known: {$asked['call']}");
    }

    function stub_answer()
    {
        header('Content-Type: application/json');
        echo json_encode(stub_do(json_decode(file_get_contents('php://input'), true)));
        exit;
    }

    // As WC_API does.
    function stub_api(string $name)
    {
        ob_start();
        status_header(has_action("woocommerce_api_{$name}") ? 200 : 400);
        do_action("woocommerce_api_{$name}");
        ob_end_clean();
        die('-1');
    }

    if (!defined('STUB_WORDPRESS')) {
        add_action('plugins_loaded', function () {
            do_action('before_woocommerce_init');
        }, -1);
        add_action('parse_request', function () {
            if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/do') {
                stub_answer();
            } elseif (isset($_GET['wc-api'])) {
                stub_api(sanitize_key($_GET['wc-api']));
            }
        }, 0);
    } else {
        set_error_handler(function ($level, $text, $file, $line) {
            if (error_reporting() & $level) { // not silenced by @
                file_put_contents(getenv('WOO_STATE') . '/errors', "{$text} in {$file}:{$line}\n", FILE_APPEND);
            }
            return false;
        });
        error_reporting(E_ALL);
        $parts = explode('/', parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
        $GLOBALS['stub_shop'] = $parts[1];
        foreach (['_GET', '_SERVER'] as $name) { // as WordPress does
            $GLOBALS[$name] = array_map(function ($value) {
                return is_string($value) ? addslashes($value) : $value;
            }, $GLOBALS[$name]);
        }
        require getenv('WOO_PLUGIN') . '/mod-payments.php';
        do_action('before_woocommerce_init');
        do_action('plugins_loaded');
        if ($parts[2] === 'do') {
            stub_answer();
        } elseif (isset($_GET['wc-api'])) {
            stub_api($_GET['wc-api']);
        }
    }
}
