# SPDX-License-Identifier: Apache-2.0
"""Virtual hosts beside a server's first one, each with a store of its own."""

LIST = "/api/v1/refund/2026-01-01/2026-01-02"


def other_host(name, store, more=""):
    return f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName {name}.example
PaymentsEngine On
PaymentsStore lmdb:{store}
{more}
</VirtualHost>
"""


def ask_other(httpd, name, key, connection=None):
    """(status, headers, body) of a list that the host is asked for."""
    conn = connection or httpd.connect()
    conn.request("GET", LIST, headers={"Host": f"{name}.example", "Authorization": f"Bearer {key}"})
    answer = conn.getresponse()
    body = answer.read()
    if not connection:
        conn.close()
    return answer.status, dict(answer.getheaders()), body


def is_503(httpd, name, key, connection=None):
    """Asks the host, which must refuse with the envelope and say when to come again."""
    status, headers, body = ask_other(httpd, name, key, connection)
    assert (status, b'"responseCode":"E2"' in body) == (503, True), (name, status, body)
    assert int(headers["Retry-After"]) > 0
    return True
