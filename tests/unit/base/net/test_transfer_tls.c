/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Certificates of an authority of the test, in unit_dir(). */
#define MAKE_CERTIFICATES                                                                          \
    "set -e\n"                                                                                     \
    "key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout'\n"                           \
    "openssl req -x509 $key ca.key -out ca.pem -subj /CN=authority -days 30\n"                     \
    "leaf() {\n"                                                                                   \
    "    openssl req $key $1.key -out $1.csr -subj /CN=peer\n"                                     \
    "    echo \"subjectAltName=$2\" > $1.ext\n"                                                    \
    "    openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days $3 \\\n"      \
    "        -extfile $1.ext -out $1.pem\n"                                                        \
    "}\n"                                                                                          \
    "leaf good IP:127.0.0.1 30\n"                                                                  \
    "leaf other DNS:shop.example,IP:127.0.0.2 30\n"                                                \
    "leaf expired IP:127.0.0.1 -1\n"                                                               \
    "openssl req -x509 $key self.key -out self.pem -subj /CN=peer -days 30 \\\n"                   \
    "    -addext subjectAltName=IP:127.0.0.1\n"

static const char *make_certificates(void)
{
    const char *dir = unit_dir();
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (chdir(dir) == 0 && freopen("openssl.log", "w", stderr)) {
            (void)dup2(2, 1);
            execl("/bin/sh", "sh", "-c", MAKE_CERTIFICATES, (char *)NULL);
        }
        _exit(126);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "see %s/openssl.log", dir);
    return dir;
}

/* A server process; it ends with the test, which holds the other end of its input. */
typedef struct tls_peer_t {
    const char *dir;
    int port;
    FILE *said;
    int in;
    pid_t pid;
} tls_peer_t;

static apr_status_t tls_peer_stop(void *baton)
{
    tls_peer_t *peer = baton;

    close(peer->in);
    fclose(peer->said);
    waitpid(peer->pid, NULL, 0);
    return APR_SUCCESS;
}

static tls_peer_t *tls_peer(const char *mode, const char *certificate, const char *versions)
{
    tls_peer_t *peer = apr_pcalloc(unit_pool, sizeof(*peer));
    const char *pem;
    const char *key;
    int in[2];
    int out[2];

    peer->dir = make_certificates();
    pem = apr_psprintf(unit_pool, "%s/%s.pem", peer->dir, certificate);
    key = apr_psprintf(unit_pool, "%s/%s.key", peer->dir, certificate);
    ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    peer->pid = fork();
    ck_assert_int_ge(peer->pid, 0);
    if (peer->pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        execlp("python3", "python3", UNIT_SOURCE "/tls_peer.py", mode, pem, key, versions,
               (char *)NULL);
        _exit(126);
    }
    close(in[0]);
    close(out[1]);
    peer->in = in[1];
    peer->said = fdopen(out[0], "r");
    apr_pool_cleanup_register(unit_pool, peer, tls_peer_stop, apr_pool_cleanup_null);
    ck_assert_int_eq(fscanf(peer->said, "port %d", &peer->port), 1);
    ck_assert_int_eq(fgetc(peer->said), '\n');
    return peer;
}

static void ck_said(tls_peer_t *peer, const char *want)
{
    char line[200] = "";

    ck_assert_ptr_nonnull(fgets(line, sizeof(line), peer->said));
    line[strcspn(line, "\n")] = '\0';
    ck_assert_str_eq(line, want);
}

/* A reused connection was neither made nor encrypted again. */
static void ck_times(const pay_transfer_t *transfer, int kept)
{
    if (kept) {
        ck_assert_int_eq(transfer->connect_time, 0);
        ck_assert_int_eq(transfer->tls_time, 0);
    } else {
        ck_assert_int_gt(transfer->connect_time, 0);
        ck_assert_int_gt(transfer->tls_time, transfer->connect_time);
    }
    ck_assert_int_gt(transfer->first_byte_time, transfer->tls_time);
    ck_assert_int_ge(transfer->time, transfer->first_byte_time);
}

/* A machine whose administrator allows every version to all programs; the configuration that
 * libcrypto read before in this process stays. */
#define OPENSSL_OF_OLD                                                                             \
    "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = old\n"                     \
    "[old]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n"

static void allow_old_versions(void)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/openssl.cnf", NULL);
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(OPENSSL_OF_OLD, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(setenv("OPENSSL_CONF", path, 1), 0);
}

static const struct {
    const char *name;
    const char *certificate;
    const char *versions;
    const char *ca; /* NULL: the system's */
    const char *end;
    const char *error;
} https_rows[] = {
    {"of a trusted authority", "good", "new", "ca", "answered", ""},
    {"trusted itself", "self", "new", "self", "answered", ""},
    {"of an authority that only we know", "good", "new", NULL, "not sent",
     "The certificate was not issued by a trusted authority."},
    {"signed by itself", "self", "new", "ca", "not sent",
     "The certificate was not issued by a trusted authority."},
    {"of another host", "other", "new", "ca", "not sent", "The certificate is for another host."},
    {"expired", "expired", "new", "ca", "not sent", "The certificate has expired."},
    {"a file of certificates that is missing", "good", "new", "missing", "not sent",
     "The file of trusted certificates cannot be read."},
    {"TLS 1.1", "good", "old", "ca", "not sent", "No TLS connection could be made."},
};

START_TEST(test_https)
{
    tls_peer_t *peer = tls_peer("https", https_rows[_i].certificate, https_rows[_i].versions);
    pay_transfers_t *set;
    pay_transfer_t *transfer;
    int i;

    if (strcmp(https_rows[_i].versions, "old") == 0) {
        allow_old_versions();
    }
    set = fixture_set(LONG_MS, LONG_MS);
    /* The second one on the reused connection, or without success again. */
    for (i = 0; i < 2; i++) {
        transfer = fixture_post(apr_psprintf(unit_pool, "https://127.0.0.1:%d/", peer->port));
        if (https_rows[_i].ca) {
            transfer->ca_file = apr_psprintf(unit_pool, "%s/%s.pem", peer->dir, https_rows[_i].ca);
        }
        fixture_run(set, transfer);
        ck_assert_msg(strcmp(fixture_end(transfer), https_rows[_i].end) == 0, "%s: %s (%s)",
                      https_rows[_i].name, fixture_end(transfer), transfer->error);
        ck_assert_str_eq(transfer->error, https_rows[_i].error);
        if (transfer->end == PAY_TRANSFER_ANSWERED) {
            ck_assert_int_eq(transfer->status, 204);
            ck_said(peer, "request");
            ck_times(transfer, i > 0);
        } else {
            ck_assert_int_eq(transfer->tls_time, 0);
            ck_assert_int_eq(transfer->first_byte_time, 0);
        }
    }
    /* An earlier trust does not extend to a transfer without it. */
    transfer = fixture_post(apr_psprintf(unit_pool, "https://127.0.0.1:%d/", peer->port));
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    (void)unsetenv("OPENSSL_CONF");
}
END_TEST

#define CUT_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}" /* of tls_peer.py */

/* A cut answer does not count, whether TLS ends correctly or not; and no request is sent again. */
START_TEST(test_https_cut)
{
    const char *mode = _i == 0 ? "cut" : "cut-noticed";
    tls_peer_t *peer = tls_peer(mode, "good", "new");
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    const int len = (int)strlen(CUT_ANSWER);
    pay_transfer_t *transfer;
    int k;

    for (k = 0; k <= len; k++) {
        transfer = fixture_post(apr_psprintf(unit_pool, "https://127.0.0.1:%d/", peer->port));
        transfer->ca_file = apr_psprintf(unit_pool, "%s/ca.pem", peer->dir);
        transfer->content_max = 7;
        transfer->pool = unit_pool;
        fixture_run(set, transfer);
        ck_assert_msg(strcmp(fixture_end(transfer), k < len ? "broken" : "answered") == 0,
                      "%s, %d: %s (%s)", mode, k, fixture_end(transfer), transfer->error);
        if (transfer->end == PAY_TRANSFER_ANSWERED) {
            ck_assert_str_eq(transfer->content, "{\"a\":1}");
        } else {
            ck_assert_ptr_null(transfer->content);
        }
    }
    for (k = 0; k <= len; k++) {
        ck_said(peer, "request");
    }
}
END_TEST

/* A TLS client at a server without TLS, and at one that never answers. */
START_TEST(test_no_tls)
{
    static const peer_http_t scripts[] = {{"HTTP/1.1 400 X\r\n\r\n", PEER_CLOSE, 0},
                                          {"", PEER_HANG, 0}};
    static const char *const errors[] = {"No TLS connection could be made.",
                                         "No connection was made in time."};
    peer_t *peer = peer_http(&scripts[_i]);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "https"));
    pay_transfers_t *set = fixture_set(_i == 0 ? LONG_MS : SHORT_MS, LONG_MS);

    if (_i == 0) {
        /* It takes something for a request, and answers. */
        const peer_smtp_t smtp = {.greeting = "220 peer"};

        transfer->url = peer_url(peer_smtp(&smtp), "https");
    }
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    ck_assert_str_eq(transfer->error, errors[_i]);
    ck_assert_int_eq(peer_requests(peer), 0);
}
END_TEST

static const struct {
    const char *name;
    const char *mode;
    const char *certificate;
    const char *ca;
    const char *password; /* NULL: no login */
    const char *end;
    int status;
    const char *error;
    const char *said[2];
} mail_rows[] = {
    {"STARTTLS and a login",
     "starttls",
     "good",
     "ca",
     "secret",
     "answered",
     250,
     "",
     {"login shop secret", "mail tls"}},
    {"TLS at once and a login",
     "smtps",
     "good",
     "ca",
     "secret",
     "answered",
     250,
     "",
     {"login shop secret", "mail tls"}},
    {"STARTTLS as it is offered",
     "starttls",
     "good",
     "ca",
     NULL,
     "answered",
     250,
     "",
     {"mail tls", NULL}},
    {"TLS at once", "smtps", "good", "ca", NULL, "answered", 250, "", {"mail tls", NULL}},
    {"the own machine's relay, as installed",
     "starttls",
     "self",
     NULL,
     NULL,
     "answered",
     250,
     "",
     {"mail tls", NULL}},
    {"a wrong login",
     "starttls",
     "good",
     "ca",
     "wrong",
     "not sent",
     535,
     "The mail server refused the login.",
     {"login shop wrong", NULL}},
    {"a login at an untrusted one",
     "starttls",
     "good",
     NULL,
     "secret",
     "not sent",
     0,
     "The certificate was not issued by a trusted authority.",
     {NULL, NULL}},
    {"a login at another host",
     "starttls",
     "other",
     "ca",
     "secret",
     "not sent",
     0,
     "The certificate is for another host.",
     {NULL, NULL}},
    {"TLS at once at an untrusted one",
     "smtps",
     "good",
     NULL,
     NULL,
     "not sent",
     0,
     "The certificate was not issued by a trusted authority.",
     {NULL, NULL}},
};

START_TEST(test_mail)
{
    static const pay_transfer_part_t part = {"text/plain", "text"};
    tls_peer_t *peer = tls_peer(mail_rows[_i].mode, mail_rows[_i].certificate, "new");
    pay_transfer_t *transfer = apr_pcalloc(unit_pool, sizeof(*transfer));
    int i;

    transfer->url =
        apr_psprintf(unit_pool, "%s://127.0.0.1:%d",
                     strcmp(mail_rows[_i].mode, "smtps") == 0 ? "smtps" : "smtp", peer->port);
    transfer->mail_from = "shop@example.com";
    transfer->mail_to = "ada@example.com";
    transfer->parts = &part;
    transfer->parts_count = 1;
    if (mail_rows[_i].ca) {
        transfer->ca_file = apr_psprintf(unit_pool, "%s/%s.pem", peer->dir, mail_rows[_i].ca);
    }
    if (mail_rows[_i].password) {
        transfer->user = "shop";
        transfer->password = mail_rows[_i].password;
    }
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), mail_rows[_i].end) == 0, "%s: %s (%d, %s)",
                  mail_rows[_i].name, fixture_end(transfer), transfer->status, transfer->error);
    ck_assert_int_eq(transfer->status, mail_rows[_i].status);
    ck_assert_str_eq(transfer->error, mail_rows[_i].error);
    for (i = 0; i < 2 && mail_rows[_i].said[i]; i++) {
        ck_said(peer, mail_rows[_i].said[i]);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_https, 0, UNIT_ROWS(https_rows));
    tcase_add_loop_test(tcase, test_https_cut, 0, 2);
    tcase_add_loop_test(tcase, test_no_tls, 0, 2);
    tcase_add_loop_test(tcase, test_mail, 0, UNIT_ROWS(mail_rows));
}

UNIT_PROGRAM(add)
