/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connector to copy from (docs/live-mode.md): a module of httpd that passes charges and refunds
 * to an acquirer. It uses nothing of mod_payments except mod_payments.h, which is among httpd's
 * headers. apxs -c -i example-connector.c LoadModule example_module modules/example-connector.so
 *   PaymentsAcquirer live example 192.0.2.7:9100 key=file:/etc/apache2/payments/example.key
 * The acquirer is fictitious: a request and an answer of one line each on a connection of its own.
 * NAME is the charge's reference or the refund's tag. A real acquirer is called over TLS.
 *   KEY charge|charge?|refund|refund? NAME AMOUNT CURRENCY [TOKEN|REFERENCE OF THE CHARGE]
 *   approved|declined|pending NAME AMOUNT CURRENCY CODE TEXT  absent NAME  refused  busy SECONDS
 */
#include <httpd.h>

#include <mod_payments.h>

#include <ap_provider.h>
#include <apr_atomic.h>
#include <apr_network_io.h>
#include <apr_strings.h>
#include <http_config.h>

#define ANSWER_MAX 512
#define SLICE apr_time_from_msec(500) /* how soon a waiting call sees that the process ends */

typedef struct example_t {
    apr_sockaddr_t *address;
    const char *key;
    apr_uint32_t stopping; /* read and written by apr_atomic */
} example_t;

/*
 * APR_SUCCESS: `answer` is a whole line. PAYMENTS_NOT_SENT is only for failures before the first
 * byte is sent. After that nothing is sent again, whatever happens: the acquirer may have acted,
 * and mod_payments queries the outcome later. No wait is longer than a slice, and there are no more
 * of them than fit into the time-out.
 */
static apr_status_t talk(char *answer, example_t *example, const char *line,
                         apr_interval_time_t timeout, apr_pool_t *p)
{
    apr_int64_t slices = timeout / SLICE - 1; /* the connection has used one */
    apr_size_t len = strlen(line), got = 0;
    apr_socket_t *sock;
    apr_status_t rv;

    rv = apr_socket_create(&sock, example->address->family, SOCK_STREAM, APR_PROTO_TCP, p);
    if (rv != APR_SUCCESS) {
        return PAYMENTS_NOT_SENT;
    }
    apr_socket_timeout_set(sock, SLICE);
    if (apr_socket_connect(sock, example->address) != APR_SUCCESS) {
        apr_socket_close(sock);
        return PAYMENTS_NOT_SENT;
    }
    rv = apr_socket_send(sock, line, &len);
    if (rv == APR_SUCCESS && len < strlen(line)) {
        rv = APR_INCOMPLETE;
    }
    while (rv == APR_SUCCESS && (got == 0 || answer[got - 1] != '\n')) {
        if (slices-- <= 0 || apr_atomic_read32(&example->stopping)) {
            rv = APR_TIMEUP;
            break;
        }
        len = ANSWER_MAX - got; /* 0 reads as the end: the answer is too long */
        rv = apr_socket_recv(sock, answer + got, &len);
        rv = APR_STATUS_IS_TIMEUP(rv) ? APR_SUCCESS : rv;
        got += len;
    }
    apr_socket_close(sock);
    answer[rv == APR_SUCCESS ? got - 1 : 0] = '\0';
    return rv;
}

/* `what`: name, amount and currency. Only an answer that contains them decides anything. */
static apr_status_t ask(payments_answer_t *out, void *context, const char *verb, const char *what,
                        const char *more, apr_interval_time_t timeout, apr_pool_t *p)
{
    const apr_size_t name_len = strcspn(what, " "), what_len = strlen(what);
    example_t *example = context;
    char text[ANSWER_MAX];
    const char *rest = text, *word;
    apr_status_t rv;

    rv =
        talk(text, example,
             apr_pstrcat(p, example->key, " ", verb, " ", what, " ", more, "\n", NULL), timeout, p);
    if (rv != APR_SUCCESS) {
        return rv; /* *out stays as it was: unknown */
    }
    word = ap_getword(p, &rest, ' ');
    if (!strcmp(word, "refused")) { /* our key: decides nothing about the charge */
        out->trouble = PAYMENTS_CREDENTIALS;
    } else if (!strcmp(word, "busy")) {
        out->trouble = PAYMENTS_BUSY;
        out->retry_after = apr_time_from_sec(apr_atoi64(rest));
    } else if (strcspn(rest, " ") != name_len || strncmp(rest, what, name_len) != 0) {
        return APR_EGENERAL; /* the answer to another request */
    } else if (!strcmp(word, "absent")) {
        out->verdict = PAYMENTS_ABSENT; /* the acquirer's own report, with our name */
    } else if (strncmp(rest, what, what_len) != 0 || rest[what_len] != ' ') {
        out->verdict = PAYMENTS_DIFFERENT; /* another amount under our name */
    } else {
        rest += what_len + 1;
        out->code = ap_getword(p, &rest, ' ');
        out->message = apr_pstrdup(p, rest); /* a copy, because `text` ends with this function */
        out->verdict = !strcmp(word, "approved")   ? PAYMENTS_APPROVED
                       : !strcmp(word, "declined") ? PAYMENTS_DECLINED
                       : !strcmp(word, "pending")  ? PAYMENTS_PENDING
                                                   : PAYMENTS_UNKNOWN;
    }
    return APR_SUCCESS;
}

static const char *of_charge(const payments_charge_t *charge, apr_pool_t *p)
{
    return apr_pstrcat(p, charge->reference, " ", charge->amount, " ", charge->currency, NULL);
}

/* The tag is the refund's only unique name: after a lost answer it finds the refund. */
static const char *of_refund(const payments_refund_t *refund, apr_pool_t *p)
{
    return apr_pstrcat(p, refund->tag, " ", refund->amount, " ", refund->currency, NULL);
}

/* Tokens contain no blanks. Never log tokens, the key or e-mail addresses. */
static apr_status_t charge(payments_answer_t *out, void *context, const payments_charge_t *charge,
                           apr_interval_time_t timeout, apr_pool_t *p)
{
    return ask(out, context, "charge", of_charge(charge, p), charge->token, timeout, p);
}

static apr_status_t charge_query(payments_answer_t *out, void *context,
                                 const payments_charge_t *charge, apr_interval_time_t timeout,
                                 apr_pool_t *p)
{
    return ask(out, context, "charge?", of_charge(charge, p), "", timeout, p);
}

static apr_status_t refund(payments_answer_t *out, void *context, const payments_refund_t *refund,
                           const payments_charge_t *charge, apr_interval_time_t timeout,
                           apr_pool_t *p)
{
    return ask(out, context, "refund", of_refund(refund, p), charge->reference, timeout, p);
}

static apr_status_t refund_query(payments_answer_t *out, void *context,
                                 const payments_refund_t *refund, const payments_charge_t *charge,
                                 apr_interval_time_t timeout, apr_pool_t *p)
{
    return ask(out, context, "refund?", of_refund(refund, p), charge->reference, timeout, p);
}

/* `httpd -t` calls it too, and the key is not read yet: no files, no network. */
static const char *check(const payments_settings_t *settings, apr_pool_t *p)
{
    char *host = NULL, *zone;
    apr_port_t port = 0;

    if (!apr_table_get(settings->given, "key") || apr_table_elts(settings->given)->nelts != 1) {
        return "want key=file:PATH or key=exec:PROGRAM, and no other parameter";
    }
    if (!settings->url || apr_parse_addr_port(&host, &zone, &port, settings->url, p) || !host
        || !port) {
        return "want HOST:PORT";
    }
    return NULL;
}

/* Names are looked up here, once in each process: a look-up could not be ended at a deadline. */
static apr_status_t open_child(void **context, const char **fault,
                               const payments_settings_t *settings, apr_pool_t *p)
{
    example_t *example = apr_pcalloc(p, sizeof(*example));
    char *host, *zone;
    apr_port_t port;
    apr_status_t rv;

    apr_parse_addr_port(&host, &zone, &port, settings->url, p);
    rv = apr_sockaddr_info_get(&example->address, host, APR_UNSPEC, port, 0, p);
    *fault = rv == APR_SUCCESS ? NULL : apr_psprintf(p, "the address of %s is not found", host);
    example->key = apr_pstrdup(p, apr_table_get(settings->given, "key"));
    *context = example;
    return rv;
}

static void stop(void *context)
{
    apr_atomic_set32(&((example_t *)context)->stopping, 1);
}

static const char *const secrets[] = {"key", NULL};

static const payments_acquirer_t connector = {
    .struct_size = sizeof(payments_acquirer_t),
    .abi = PAYMENTS_ACQUIRER_ABI,
    .name = "example",
    .flags = PAYMENTS_OWN_TOKENS, /* card tokens are the acquirer's, not those of the store */
    .secrets = secrets,
    .check = check,
    .open = open_child,
    .stop = stop,
    .charge = charge,
    .charge_query = charge_query,
    .refund = refund,
    .refund_query = refund_query,
};

static void register_hooks(apr_pool_t *p)
{
    ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, connector.name, PAYMENTS_ACQUIRER_VERSION,
                         &connector);
}

AP_DECLARE_MODULE(example) = {STANDARD20_MODULE_STUFF, .register_hooks = register_hooks};
