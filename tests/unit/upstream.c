/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

#include "base/text/time.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT apr_time_from_sec(120)

#define MAKE_CERTIFICATE                                                                           \
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout peer.key "       \
    "-out peer.pem -subj /CN=peer -days 30 -addext subjectAltName=IP:127.0.0.1"

const payments_charge_t upstream_charge = {
    .struct_size = sizeof(payments_charge_t),
    .reference = UPSTREAM_REFERENCE,
    .token = "tok_of_the_upstream",
    .amount_minor = 1050,
    .currency = "NGN",
    .amount = "10.50",
    .email = "payer@shop.example",
    .first_name = "Ada",
    .last_name = "",
    .card_first6 = "",
    .card_last4 = "",
    .opened_at = UPSTREAM_NOW,
    .live = 1,
};

const payments_refund_t upstream_refund = {
    .struct_size = sizeof(payments_refund_t),
    .reference = "re_ours",
    .tag = UPSTREAM_TAG,
    .acquirer_reference = "",
    .amount_minor = 250,
    .currency = "NGN",
    .amount = "2.50",
    .merchant_note = "late",
    .customer_note = "sorry",
    .opened_at = UPSTREAM_NOW,
};

static struct {
    const char *dir;
    int port;
    FILE *said;
    FILE *told;
    pid_t pid;
} peer;

const char *upstream_date = UPSTREAM_DATE;

static apr_time_t clock_read(void)
{
    return UPSTREAM_NOW;
}

static apr_status_t peer_stop(void *baton)
{
    (void)baton;
    fclose(peer.told);
    fclose(peer.said);
    waitpid(peer.pid, NULL, 0);
    return APR_SUCCESS;
}

static void certificate_make(void)
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (chdir(peer.dir) == 0 && freopen("openssl.log", "w", stderr)) {
            execl("/bin/sh", "sh", "-c", MAKE_CERTIFICATE, (char *)NULL);
        }
        _exit(126);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "see %s/openssl.log", peer.dir);
}

void upstream_start(void)
{
    int in[2];
    int out[2];

    pay_time_set_source(clock_read);
    upstream_date = UPSTREAM_DATE;
    peer.dir = unit_dir();
    certificate_make();
    ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    peer.pid = fork();
    ck_assert_int_ge(peer.pid, 0);
    if (peer.pid == 0) {
        const char *pem = apr_psprintf(unit_pool, "%s/peer.pem", peer.dir);
        const char *key = apr_psprintf(unit_pool, "%s/peer.key", peer.dir);

        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        execlp("python3", "python3", UNIT_SOURCE "/relay_peer.py", pem, key, (char *)NULL);
        _exit(126);
    }
    close(in[0]);
    close(out[1]);
    peer.told = fdopen(in[1], "w");
    peer.said = fdopen(out[0], "r");
    apr_pool_cleanup_register(unit_pool, NULL, peer_stop, apr_pool_cleanup_null);
    ck_assert_int_eq(fscanf(peer.said, "port %d", &peer.port), 1);
    ck_assert_int_eq(fgetc(peer.said), '\n');
}

payments_settings_t *upstream_settings(void)
{
    payments_settings_t *settings = apr_pcalloc(unit_pool, sizeof(*settings));
    apr_table_t *given = apr_table_make(unit_pool, 2);

    apr_table_setn(given, "key", UPSTREAM_KEY);
    apr_table_setn(given, "ca", apr_psprintf(unit_pool, "%s/peer.pem", peer.dir));
    settings->struct_size = sizeof(*settings);
    settings->url = apr_psprintf(unit_pool, "https://127.0.0.1:%d/base/", peer.port);
    settings->given = given;
    settings->account = "demo";
    settings->live = 1;
    settings->timeout = TIMEOUT;
    return settings;
}

void *upstream_open(void)
{
    const char *fault = NULL;
    void *context;
    apr_status_t rv;

    rv = pay_acquirer_relay.open(&context, &fault, upstream_settings(), unit_pool);
    ck_assert_msg(rv == APR_SUCCESS, "%s", fault ? fault : "no fault");
    return context;
}

/* An order, and the number of its answer. */
static int order(const char *line, const char *bytes)
{
    int number = -1;

    (void)fprintf(peer.told, "%s\n%s", line, bytes);
    ck_assert_int_eq(fflush(peer.told), 0);
    ck_assert_int_eq(fscanf(peer.said, "%d", &number), 1);
    ck_assert_int_eq(fgetc(peer.said), '\n');
    return number;
}

void upstream_say(const char *prefix, const char *then, const char *answer)
{
    (void)order(apr_psprintf(unit_pool, "answer %s /base%s %d", then, prefix, (int)strlen(answer)),
                answer);
}

void upstream_answer_at(const char *prefix, int status, const char *body)
{
    upstream_say(prefix, "keep",
                 apr_psprintf(unit_pool,
                              "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%s"
                              "Content-Length: %d\r\n\r\n%s",
                              status, upstream_date, (int)strlen(body), body));
}

void upstream_answer(int status, const char *body)
{
    upstream_answer_at("/", status, body);
}

void upstream_clear(void)
{
    (void)order("clear", "");
}

void upstream_release(void)
{
    (void)order("release", "");
}

int upstream_requests(void)
{
    return order("count", "");
}

int upstream_connections(void)
{
    return order("connections", "");
}

int upstream_ends(void)
{
    return order("ends", "");
}

const char *upstream_request(int number)
{
    int len = order(apr_psprintf(unit_pool, "request %d", number), "");
    char *text = apr_pcalloc(unit_pool, (apr_size_t)len + 1);

    ck_assert_int_eq((int)fread(text, 1, (size_t)len, peer.said), len);
    return text;
}

payments_answer_t upstream_empty(void)
{
    payments_answer_t answer = {.struct_size = sizeof(answer)};

    return answer;
}

const char *upstream_said(apr_status_t rv, const payments_answer_t *answer)
{
    static const char *const verdicts[] = {"unknown", "approved", "declined",
                                           "pending", "absent",   "different"};
    static const char *const troubles[] = {"", " credentials", " busy"};
    const char *status = rv == APR_SUCCESS          ? ""
                         : rv == PAYMENTS_NOT_SENT  ? " not sent"
                         : APR_STATUS_IS_TIMEUP(rv) ? " time-out"
                                                    : " error";

    return apr_pstrcat(unit_pool, verdicts[answer->verdict], troubles[answer->trouble],
                       answer->spent ? " spent" : "", status, NULL);
}
