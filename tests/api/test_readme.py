# SPDX-License-Identifier: Apache-2.0
"""README.md: the commands of "Try it" and "Install it" are run as printed, from a first call to a first key."""

import json
import pathlib
import re
import subprocess
import time

from harness import MODULE, PAYMENTSCTL, TOP, WAIT_S, free_port, httpd_binary, wait_for

README = (TOP / "README.md").read_text()
# What Debian's own tools do, as far as README.md wants it of them.
ENABLE = 'ln -s "../{kind}s-available/$1.{ending}" "$(dirname "$0")/../etc/{kind}s-enabled/$1.{ending}"'
TOOLS = {"a2enmod": ENABLE.format(kind="mod", ending="load"), "a2ensite": ENABLE.format(kind="site", ending="conf"),
         "apachectl": '[ "$*" = configtest ] && LD_PRELOAD="{preload}" exec {httpd} -t -d {root} -f {root}/httpd.conf',
         "systemctl": '[ "$*" = "restart apache2" ] && echo yes >{root}/restarted'}


def section(name):
    [text] = re.findall(rf"^## {name}\n(.*?)^## ", README, re.S | re.M)
    return text


def blocks(text):
    """The indented ones, without their indent; an empty line divides two."""
    return [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n)+", text, re.M)]


def shell(command, folder, path="/usr/bin:/bin", status=0, **env):
    done = subprocess.run(["bash", "-c", f"set -e\n{command}"], cwd=folder, capture_output=True, text=True, timeout=60,
                          env={**env, "HOME": str(folder), "PATH": path}, check=False)
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_try_it(server, tmp_path):
    httpd = server()
    shop = httpd.shop()
    keys = tmp_path / "build/run/keys"
    keys.mkdir(parents=True)
    (keys / "demo-test-secret").write_text(shop.secret + "\n")
    text = section("Try it").replace("http://127.0.0.1:8080/", f"http://127.0.0.1:{httpd.port}/")
    start, [key, charge, refund, verify, refunds] = text.index("While it runs"), blocks(text)[1:]
    assert "./dev run" in blocks(text[:start])[0]

    def call(command):
        return shell(key + command, tmp_path)

    first = call(charge)
    assert json.loads(first)["data"]["paymentStatus"] == "successful"
    assert call(charge) == first, "the same call again"
    wait_for(lambda: time.time() % 86400 < 86400 - WAIT_S, "the last seconds of the day, which the list names, to be over")
    refunded = json.loads(call(refund))
    assert (refunded["transactionReference"], refunded["amount"]) == ("order-1001", "500.50")
    assert json.loads(call(verify))["data"]["refunds"] == [refunded["refundReference"]]
    assert json.loads(call(refunds)) == [refunded]
    outcomes = []
    for number, token in enumerate(re.findall(r"`(tok_test_\w+)`", text)):
        answer = json.loads(call(charge.replace("tok_test_success", token).replace("order-1001", f"other-{number}")))
        outcomes.append(f"{answer['data']['paymentStatus']} {answer['message']}")
    assert outcomes == ["failed Do not honor", "failed Insufficient funds", "failed Expired card", "pending Charge pending",
                        "pending Charge pending"]


def installed(httpd, port):
    """Where README.md's paths are in a test: the server's own directory."""
    root = httpd.root
    for folder in ("bin", "home", *(f"etc/{kind}s-{state}" for kind in ("mod", "site") for state in ("available", "enabled"))):
        (root / folder).mkdir(parents=True)
    for name, text in TOOLS.items():
        text = text.format(root=root, httpd=httpd_binary(), preload=httpd.environment().get("LD_PRELOAD", ""))
        (root / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (root / "bin" / name).chmod(0o755)
    (root / "bin/paymentsctl").symlink_to(pathlib.Path(PAYMENTSCTL).resolve())

    def put(text):
        for there, here in (("/etc/apache2/", f"{root}/etc/"), ("/var/lib/apache2/", f"{root}/lib/"),
                            ("/usr/lib/apache2/modules/mod_payments.so", str(MODULE)), ("127.0.0.1:8081", f"127.0.0.1:{port}")):
            assert there in text, f"README.md does not name {there}"
            text = text.replace(there, here)
        return text

    return put


def test_install_it(server):
    httpd = server(start=False, without=["payments"], engine=False)
    root, port = httpd.root, free_port()
    httpd.extra = f"IncludeOptional {root}/etc/mods-enabled/*.load\nIncludeOptional {root}/etc/sites-enabled/*.conf"
    text = installed(httpd, port)(section("Install it"))
    packages, build, load, host, enable, account, call = blocks(text)
    assert packages.startswith("apt-get install ") and build.startswith("./bootstrap\n")
    [site] = re.findall(r"A virtual host of five lines, for example in `(.*)`", text)
    assert host.count("\n") == 5

    env = {name: value for name, value in httpd.environment().items() if name != "LD_PRELOAD"}  # httpd's alone

    def run(command):
        return shell(command, root / "home", path=f"{root}/bin:/usr/sbin:/usr/bin:/bin", **env)

    run(load)
    pathlib.Path(site).write_text(host)
    httpd.port = free_port()
    httpd.write_config()
    run(enable)
    assert (root / "restarted").exists()
    httpd.start()
    run(account)
    key = root / "home/shop-test-secret"
    assert re.fullmatch(r"pay_testsk_\w+\n", key.read_text())
    assert key.stat().st_mode & 0o777 == 0o600, "only you can read it"
    first = json.loads(run(call))
    assert (first["data"]["paymentStatus"], first["data"]["amount"]) == ("successful", 10)
    charges = httpd.root / "lib/payments/store"
    assert charges.is_dir() and "first-1" in run(f"paymentsctl -s lmdb:{charges} charge list shop --mode test")


def test_load_line_of_other_systems(server):
    """A path from ServerRoot, and the same virtual host."""
    httpd = server(start=False, without=["payments"], engine=False)
    [line] = re.findall(r"On other systems: `(LoadModule .*?)` in httpd\.conf, the same virtual\s+host", README)
    (httpd.root / "modules").mkdir()
    (httpd.root / "modules/mod_payments.so").symlink_to(MODULE)
    host = installed(httpd, free_port())(section("Install it"))
    httpd.extra = line + "\n" + blocks(host)[3]
    (httpd.root / "lib/payments").mkdir(parents=True)
    done = httpd.configtest()
    assert done.returncode == 0 and "Syntax OK" in done.stderr, done.stderr
