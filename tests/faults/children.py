# SPDX-License-Identifier: Apache-2.0
"""Which child of a server answers: a connection to each of them."""

from harness import reference, wait_for

WHO = 'LogFormat "%{pid}P %U" who\nCustomLog who.log who\n'  # configuration that these functions need
BURST = 4  # connections for each child: at one moment they spread best


def child_of(httpd, connection):
    """The pid of the child that took a connection, from the access log."""
    mark = f"/nobody-{reference()}"
    assert httpd.request("GET", mark, connection=connection).status == 404
    log = httpd.root / "who.log"
    return wait_for(lambda: [int(one.split()[0]) for one in log.read_text().splitlines() if one.endswith(mark)],
                    "the access log")[0]


def connections_to_all(httpd):
    """A connection to each of the children, by pid. httpd closes it with the first 503, and the next is another's."""
    found = {}

    def connected():
        connection = httpd.connect()
        connection.connect()
        return connection

    def more():
        pids = set(httpd.pids())
        burst = [connected() for _ in range(BURST * len(pids))]
        found.update({child_of(httpd, connection): connection for connection in burst})
        return set(found) == pids == set(httpd.pids())

    wait_for(more, "connections to all children")
    return found
