<?php
// SPDX-License-Identifier: Apache-2.0
/**
 * Plugin Name: mod_payments for WooCommerce
 * Description: Payers pay on the hosted page of your mod_payments server. Refunds from the order, signed webhooks.
 * Version: 0.1.0
 * Requires at least: 5.6
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 6.0
 * License: Apache-2.0
 * Text Domain: mod-payments
 */

namespace ModPayments;

defined('ABSPATH') || exit;

add_action('before_woocommerce_init', function () {
    if (class_exists('\Automattic\WooCommerce\Utilities\FeaturesUtil')) {
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('custom_order_tables', __FILE__, true);
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('cart_checkout_blocks', __FILE__, false);
    }
});

add_action('plugins_loaded', function () {
    if (!class_exists('WC_Payment_Gateway')) {
        return; // WooCommerce is not active
    }
    if (!is_readable(__DIR__ . '/Payments.php')) {
        add_action('admin_notices', function () {
            echo '<div class="notice notice-error"><p>' . esc_html__('mod_payments for WooCommerce lacks its client library. Copy '
                . 'the folder that make install puts into mod_payments/woocommerce.', 'mod-payments') . '</p></div>';
        });
        return;
    }
    require_once __DIR__ . '/Payments.php';
    require_once __DIR__ . '/Gateway.php';
    add_filter('woocommerce_payment_gateways', function ($gateways) {
        $gateways[] = Gateway::class;
        return $gateways;
    });
    add_action('woocommerce_api_' . Gateway::ID, function () {
        (new Gateway())->answer_return();
    });
    add_action('woocommerce_api_' . Gateway::ID . '_webhook', function () {
        (new Gateway())->answer_webhook();
    });
});
