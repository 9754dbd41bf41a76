<?php
// SPDX-License-Identifier: Apache-2.0
// WordPress runs this when the plugin is deleted: the settings hold keys. References stay with their orders.

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('woocommerce_mod_payments_settings');
