# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The packages that a machine needs, and how to install them.

# A user's PATH may lack the directory of servers on Debian and Alpine.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# need_SET: probe, then the package on Debian, Fedora and Alpine. apache2-bin, never apache2, which starts a server
# on port 80.
need_run() {
    cat <<'TABLE'
httpd           apache2-bin      httpd             apache2
tool:apxs       apache2-dev      httpd-devel       apache2-dev
module:http2    apache2-bin      mod_http2         apache2-http2
tool:gcc        gcc              gcc               gcc
file:stdio.h    libc6-dev        glibc-devel       musl-dev
tool:make       make             make              make
tool:autoconf   autoconf         autoconf          autoconf
tool:automake   automake         automake          automake
tool:libtoolize libtool          libtool           libtool
tool:pkg-config pkg-config       pkgconf-pkg-config pkgconf
file:lmdb.h     liblmdb-dev      lmdb-devel        lmdb-dev
pc:jansson      libjansson-dev   jansson-devel     jansson-dev
pc:libcrypto    libssl-dev       openssl-devel     openssl-dev
pc:libcurl      libcurl4-openssl-dev libcurl-devel curl-dev
pc:check        check            check-devel       check-dev
tool:python3    python3          python3           python3
tool:curl       curl             curl              curl
tool:setpriv    util-linux       util-linux        setpriv
zone            tzdata           tzdata            tzdata
charts          libjs-chart.js   -                 -
tool:htpasswd   apache2-utils    httpd-tools       apache2-utils
faketime        faketime         libfaketime       libfaketime
TABLE
}

need_test() {
    need_run
    cat <<'TABLE'
py:pytest       python3-pytest   python3-pytest    py3-pytest
py:xdist        python3-pytest-xdist python3-pytest-xdist py3-pytest-xdist
py:jsonschema   python3-jsonschema python3-jsonschema py3-jsonschema
py:aiosmtpd     python3-aiosmtpd python3-aiosmtpd py3-aiosmtpd
tool:valgrind   valgrind         valgrind          valgrind
module:lua      apache2-bin      mod_lua           apache2-lua
suexec          apache2-suexec-pristine httpd      apache2
tool:unshare    util-linux       util-linux        util-linux-misc
tool:strace     strace           strace            strace
module:auth_openidc libapache2-mod-auth-openidc mod_auth_openidc apache-mod-auth-openidc
module:xsendfile libapache2-mod-xsendfile mod_xsendfile -
tool:nghttp     nghttp2-client   nghttp2           nghttp2
tool:pgrep      procps           procps-ng         procps
tool:php        php-cli          php-cli           php83
tool:node       nodejs           nodejs            nodejs
tool:npm        npm              nodejs-npm        npm
tool:openssl    openssl          openssl           openssl
tool:ip         iproute2         iproute           iproute2
tool:clang      clang            clang             clang
tool:clang-format clang-format   clang-tools-extra clang-extra-tools
tool:cppcheck   cppcheck         cppcheck          cppcheck
tool:shellcheck shellcheck       ShellCheck        shellcheck
tool:git        git              git               git
asan            gcc              libasan           gcc
ubsan           gcc              libubsan          gcc
tsan            gcc              libtsan           gcc
TABLE
}

need_bench() {
    need_run
    cat <<'TABLE'
tool:wrk        wrk              wrk               wrk
py:matplotlib   python3-matplotlib python3-matplotlib py3-matplotlib
TABLE
}

# The peer of tests/bench/php_sqlite.py.
need_bench_php() {
    need_bench
    cat <<'TABLE'
mod_php         libapache2-mod-php php               php83-apache2
php:pdo_sqlite  php-sqlite3      php-pdo           php83-pdo_sqlite
TABLE
}

need_bench_costs() {
    need_bench
    echo 'tool:strace     strace           strace            strace'
}

# The tools with which ./dev test bare creates machines.
need_bare() {
    cat <<'TABLE'
tool:debootstrap debootstrap        debootstrap       debootstrap
debian-keys     debian-archive-keyring debian-keyring debian-archive-keyring
tool:git        git                git               git
tool:unshare    util-linux         util-linux        util-linux-misc
tool:setpriv    util-linux         util-linux        setpriv
TABLE
}

# The second is part of clang on systems that do not package it separately.
need_fuzz() {
    need_run
    cat <<'TABLE'
tool:clang      clang            clang             clang
libfuzzer       libclang-rt-dev  compiler-rt       compiler-rt
TABLE
}

httpd_binary() {
    local sbin name
    sbin=$(apxs -q SBINDIR 2>/dev/null) || return 1
    name=$(apxs -q progname 2>/dev/null) || return 1
    [ -x "$sbin/$name" ] && echo "$sbin/$name"
}

module_there() {
    local httpd
    httpd=$(httpd_binary) || return 1
    [ -e "$(apxs -q LIBEXECDIR)/mod_$1.so" ] || "$httpd" -l | grep "mod_$1.c" >/dev/null
}

# The program that httpd starts as another user, as configured in its build.
suexec_there() {
    local httpd program
    httpd=$(httpd_binary) || return 1
    program=$("$httpd" -V 2>/dev/null | sed -n 's/.*SUEXEC_BIN="\(.*\)".*/\1/p')
    [ -n "$program" ] && [ -x "$program" ]
}

probe() {
    case $1 in
        httpd) command -v apache2 httpd >/dev/null || httpd_binary >/dev/null ;;
        tool:*) command -v "${1#tool:}" >/dev/null ;;
        pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
        file:*) echo "#include <${1#file:}>" | gcc -E -x c - >/dev/null 2>&1 ;;
        py:*) /usr/bin/python3 -c "import ${1#py:}" 2>/dev/null ;;
        module:*) module_there "${1#module:}" ;;
        suexec) suexec_there ;;
        debian-keys) [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
        zone) [ -e /usr/share/zoneinfo/Africa/Lagos ] ;;
        # Packaged only by Debian; elsewhere the dashboard's tables show the same data.
        charts) [ -e /usr/share/javascript/chart.js/chart.min.js ] || ! command -v apt-get >/dev/null ;;
        faketime) compgen -G "/usr/lib*/*/faketime/libfaketimeMT.so.1" >/dev/null \
            || compgen -G "/usr/lib*/faketime/libfaketimeMT.so.1" >/dev/null ;;
        mod_php) compgen -G "$(apxs -q LIBEXECDIR 2>/dev/null)/*php*.so" >/dev/null ;;
        php:*) php -m 2>/dev/null | grep -qx "${1#php:}" ;;
        libfuzzer) echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' \
            | clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null ;;
        asan | ubsan | tsan) [ -e "$(gcc "-print-file-name=lib$1.so" 2>/dev/null)" ] ;;
    esac
}

# missing SET COLUMN: the packages of COLUMN (2 Debian, 3 Fedora, 4 Alpine) whose probe fails; "-": no package.
missing() {
    local what debian fedora alpine
    "need_$1" | while read -r what debian fedora alpine; do
        probe "$what" || case $2 in
            2) echo "$debian" ;;
            3) echo "$fedora" ;;
            4) echo "$alpine" ;;
        esac
    done | sort -u | sed '/^-$/d' | paste -sd ' '
}

# Prints the way to root's rights: none needed, sudo without a password, or sudo on a terminal.
root_prefix() {
    if [ "$(id -u)" -eq 0 ]; then
        echo env
    elif sudo -n true 2>/dev/null; then
        echo "sudo -n env"
    elif command -v sudo >/dev/null && [ -t 0 ]; then
        echo "sudo env"
    else
        return 1
    fi
}

install_lines() {
    say "Missing here. As root, one of these lines installs it:" >&2
    say "  Debian  apt-get update && apt-get install -y --no-install-recommends $(missing "$1" 2)" >&2
    say "  Fedora  dnf install -y $(missing "$1" 3)" >&2
    say "  Alpine  apk add $(missing "$1" 4)" >&2
    die "install these packages, then run this command again"
}

apt_install() {
    local prefix=$1
    shift
    # shellcheck disable=SC2086 # the prefix is words
    $prefix DEBIAN_FRONTEND=noninteractive apt-get update \
        && $prefix DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# packages SET: returns once all of need_SET is installed.
packages() {
    local want prefix
    want=$(missing "$1" 2)
    [ -n "$want" ] || return 0
    command -v apt-get >/dev/null || install_lines "$1"
    prefix=$(root_prefix) || install_lines "$1"
    say "installing: $want"
    # shellcheck disable=SC2086 # package names are words
    quiet install.log "installation" apt_install "$prefix" $want || exit 1
    want=$(missing "$1" 2)
    [ -z "$want" ] || install_lines "$1"
}
