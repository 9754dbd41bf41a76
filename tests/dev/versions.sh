# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The versions that a run used: without them its result is of little use to others.

NUMBER='([0-9]+(\.[0-9]+)+[^ ,;)]*)'

# version_of WORDS COMMAND...: the first number after WORDS in the output of the command; "-" without one.
version_of() {
    local pattern=$1$NUMBER said
    shift
    said=$("$@" 2>&1) || true
    if [[ $said =~ $pattern ]]; then
        echo "${BASH_REMATCH[1]}"
    else
        echo -
    fi
}

system_name() {
    (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null || uname -s
}

# versions: a name and a version per line, of everything that is installed.
versions() {
    local httpd name version
    httpd=$(httpd_binary) || httpd=httpd
    while read -r name version; do
        printf '  %-9s %s\n' "$name" "$version"
    done <<LIST
system $(system_name), Linux $(uname -r), $(uname -m), $JOBS processors
httpd $(version_of Apache/ "$httpd" -v)
APR $(version_of "loaded:  APR " "$httpd" -V), APR-util $(version_of "APR-UTIL " "$httpd" -V)
LMDB $(version_of "" pkg-config --modversion lmdb)
jansson $(version_of "" pkg-config --modversion jansson)
OpenSSL $(version_of "" pkg-config --modversion libcrypto)
libcurl $(version_of "" pkg-config --modversion libcurl)
gcc $(version_of "" gcc -dumpfullversion)
python $(version_of "" /usr/bin/python3 --version), pytest $(version_of "" /usr/bin/python3 -m pytest --version)
node $(version_of "" node --version), npm $(version_of "" npm --version)
LIST
}
