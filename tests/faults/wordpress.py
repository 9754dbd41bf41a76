# SPDX-License-Identifier: Apache-2.0
"""The tests of the WooCommerce plugin in a real WordPress with WP_DEBUG, on a real MariaDB; WooCommerce itself is a stub.

PAYMENTS_WORDPRESS names the folder where ./dev faults wordpress has unpacked Debian's packages.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import any_name, free_port, wait_for
from test_woocommerce import *  # noqa: F401,F403 pylint: disable=wildcard-import,unused-wildcard-import
from test_woocommerce import PLUGIN, STUB, WORKERS, Woo, Wordpress, copy_plugin

UNPACKED = Path(os.environ.get("PAYMENTS_WORDPRESS", "/nonexistent"))
CONFIG = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{root}/db.sock');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('WP_DEBUG_LOG', '{root}/debug.log');
define('SCRIPT_DEBUG', true);
define('WP_HOME', 'http://127.0.0.1:{port}');
define('WP_SITEURL', 'http://127.0.0.1:{port}');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {{
    define("{{$name}}_KEY", "key of {{$name}}");
    define("{{$name}}_SALT", "salt of {{$name}}");
}}
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
REQUEST = "$_SERVER['HTTP_HOST'] = '127.0.0.1'; $_SERVER['REQUEST_URI'] = '/'; $_SERVER['REQUEST_METHOD'] = 'GET'; " \
    "$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1'; "
INSTALL = "define('WP_INSTALLING', true); require 'wp-load.php'; require ABSPATH . 'wp-admin/includes/upgrade.php'; " \
    "add_filter('pre_wp_mail', '__return_true'); " \
    "wp_install('Shop', 'admin', 'admin@shop.example', false, '', 'a password');"
ACTIVATE = "require 'wp-load.php'; require ABSPATH . 'wp-admin/includes/plugin.php'; " \
    "foreach (['mod-payments/mod-payments.php', 'woocommerce/woocommerce.php'] as $one) { " \
    "$said = activate_plugin($one); echo is_wp_error($said) ? $said->get_error_message() : ''; }"


class RealWordpress(Wordpress):
    """The same interface; a shop after the other has it."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.root = Path(tempfile.mkdtemp(prefix="mod_payments-wordpress-"))
        self.site, self.log = self.root / "site", self.root / "debug.log"
        self.start_database()
        shutil.copytree(UNPACKED / "usr/share/wordpress", self.site, ignore_dangling_symlinks=True)
        plugins = self.site / "wp-content/plugins"
        copy_plugin(plugins / "mod-payments")
        (plugins / "woocommerce").mkdir()
        (plugins / "woocommerce/woocommerce.php").write_text(
            f"<?php\n/* Plugin Name: A stub of WooCommerce */\nrequire '{STUB}';\n")
        self.port = free_port()
        (self.site / "wp-config.php").write_text(CONFIG.format(root=self.root, port=self.port))
        assert self.php(INSTALL) == ""
        assert self.php(ACTIVATE) == "", "a plugin that says something while it is activated"
        self.log.unlink(missing_ok=True)  # what WordPress says of itself while it is installed
        self.process = subprocess.Popen(
            [*self.command(), "-S", f"127.0.0.1:{self.port}", "-t", str(self.site)], stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "PHP_CLI_SERVER_WORKERS": str(WORKERS)},
            stdout=subprocess.DEVNULL, stderr=open(self.root / "php.log", "wb"), start_new_session=True)
        wait_for(self.answers, "WordPress to answer")

    def answers(self):
        try:
            return self.request("GET", "/?wc-api=none")[0] == 400
        except OSError:
            return False

    def start_database(self):
        usr, data = UNPACKED / "usr", self.root / "data"
        libraries = next(iter(usr.glob("lib/*-linux-gnu*")))
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(libraries)}
        user = ["--user=root"] if os.geteuid() == 0 else []
        subprocess.run([usr / "bin/mariadb-install-db", "--no-defaults", f"--basedir={usr}", f"--datadir={data}",
                        "--auth-root-authentication-method=normal", "--skip-test-db", *user], env=env, check=True,
                       capture_output=True)
        begin = self.root / "begin.sql"
        begin.write_text("CREATE DATABASE wordpress;\n")
        self.database = subprocess.Popen(
            [usr / "sbin/mariadbd", "--no-defaults", f"--basedir={usr}", f"--datadir={data}", "--skip-networking",
             f"--socket={self.root}/db.sock", f"--pid-file={self.root}/db.pid", f"--init-file={begin}",
             "--innodb-buffer-pool-size=32M", *user], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.root / "db.log", "wb"))
        wait_for(lambda: "ready for connections" in (self.root / "db.log").read_text(), "MariaDB")

    @staticmethod
    def command():
        folder = next(iter((UNPACKED / "usr/lib/php").glob("*/")))
        return ["php", "-d", f"extension={folder}/mysqlnd.so", "-d", f"extension={folder}/mysqli.so"]

    def php(self, code):
        done = subprocess.run([*self.command(), "-d", "display_errors=0", "-r", REQUEST + code], cwd=self.site, text=True,
                              capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def make_shop(self):
        """Nothing is left of the last one."""
        self.php("require 'wp-load.php'; $wpdb->query(\"DELETE FROM {$wpdb->options} WHERE option_name LIKE 'stub_%'\"); "
                 "delete_option('woocommerce_mod_payments_settings');")
        return ""

    def said(self):
        return self.log.read_text() if self.log.exists() else ""

    def close(self):
        os.killpg(self.process.pid, 15)
        self.process.wait(60)
        self.database.terminate()
        self.database.wait(60)
        said = self.said()
        shutil.rmtree(self.root)
        assert not said, f"with WP_DEBUG it says\n{said}"


@pytest.fixture(scope="module")
def wordpress():
    made = RealWordpress()
    yield made
    made.close()


def test_plugin_header(wordpress):
    said = json.loads(wordpress.php("require 'wp-load.php'; require ABSPATH . 'wp-admin/includes/plugin.php'; echo json_encode("
                                    "get_plugin_data(WP_PLUGIN_DIR . '/mod-payments/mod-payments.php'));"))
    assert (said["Name"], said["RequiresPHP"], said["TextDomain"]) == ("mod_payments for WooCommerce", "7.4", "mod-payments")
    assert set(re.findall(r"'([a-z-]+)'\)", (PLUGIN / "Gateway.php").read_text())) >= {said["TextDomain"]}


def test_uninstalled(wordpress, counter):
    """The keys are gone with it."""
    woo = Woo(wordpress, counter)
    assert wordpress.php("require 'wp-load.php'; echo get_option('woocommerce_mod_payments_settings')['secret_key'];") \
        == woo.shop.secret
    wordpress.php("require 'wp-load.php'; define('WP_UNINSTALL_PLUGIN', true); "
                  "require WP_PLUGIN_DIR . '/mod-payments/uninstall.php';")
    assert wordpress.php("require 'wp-load.php'; echo json_encode(get_option('woocommerce_mod_payments_settings'));") == "false"


def test_without_woocommerce_or_client(wordpress):
    """Neither is an error of the site."""
    page = "require 'wp-load.php'; do_action('admin_notices');"
    client = wordpress.site / "wp-content/plugins/mod-payments/Payments.php"
    stub = wordpress.site / "wp-content/plugins/woocommerce"
    away = wordpress.root / any_name("away-")
    client.rename(away)
    assert "lacks its client library" in wordpress.php(page)
    away.rename(client)
    stub.rename(away)
    assert "mod_payments" not in wordpress.php(page)
    away.rename(stub)
