/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/prepare_delivery.h"

#include "base/crypto/crypto.h"
#include "base/crypto/rsa.h"
#include "base/crypto/secret_file.h"
#include "base/crypto/secret_memory.h"
#include "base/log.h"
#include "base/pager.h"
#include "base/text/time.h"
#include "httpd/call/httpd_log.h"
#include "httpd/conf/conf.h"
#include "service/account/upkeep.h"
#include "service/outbox/mail.h"

#include <apr_strings.h>
#include <http_log.h>
#include <unixd.h>

APLOG_USE_MODULE(payments);

#define LOGIN_WHAT "login of PaymentsMailRelay"
#define LOGIN_PART_MAX 255                        /* bytes of user or password */
#define LOGIN_SIZE (2 * (LOGIN_PART_MAX + 1) + 1) /* of the file and a NUL */

static server_rec *host_of(const pay_store_host_t *store_host)
{
    return APR_ARRAY_IDX(store_host->hosts, 0, server_rec *);
}

/* ---- the master key */

void pay_prepare_keyrings(const apr_array_header_t *store_hosts, apr_pool_t *pconf)
{
    pay_store_host_t *store_host;
    pay_keyring_t *ring;
    const char *reason;
    apr_status_t rv;
    int made, i;

    for (i = 0; i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *);
        store_host->key_path = pay_conf_master_key(pay_conf_get(host_of(store_host)), pconf);
        rv = pay_keyring_load(&ring, &made, &reason, store_host->key_path, 1,
                              ap_unixd_config.user_id, pconf);
        store_host->keyring = ring;
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
                         PAYLOGNO(00350) "PaymentsStore %s: %s; webhooks and the mail relay's "
                                         "login wait until this is fixed and the server restarted",
                         store_host->url, reason);
        } else if (made) {
            ap_log_error(
                APLOG_MARK, APLOG_NOTICE, 0, host_of(store_host),
                PAYLOGNO(00351) "PaymentsStore %s: created its master key, %s. No backup of the "
                                "store contains it: keep a copy elsewhere. To keep it from other "
                                "tenants, move it to a directory that only root can read, and name "
                                "it there: PaymentsMasterKey file:/etc/apache2/payments/master.key",
                store_host->url, store_host->key_path);
        }
    }
}

/* ---- stored secrets that it does not open */

typedef struct sealed_count_t {
    const pay_store_host_t *store_host;
    pay_store_t *store;
    apr_time_t now;
    int unknown; /* secrets sealed under another key */
    int changed; /* secrets that are not what was sealed, or another endpoint's */
    int closed;  /* encryption keys that cannot be opened */
    void *text;  /* for one of these while it is tried */
} sealed_count_t;

static void count_secret(sealed_count_t *count, const char *context, const char *sealed,
                         apr_pool_t *p)
{
    const char *text;
    apr_status_t rv;

    if (!*sealed) {
        return;
    }
    rv = pay_keyring_open(&text, count->store_host->keyring, context, sealed, p);
    count->unknown += rv == APR_NOTFOUND;
    count->changed += rv != APR_SUCCESS && rv != APR_NOTFOUND;
}

static apr_status_t endpoints_list(apr_array_header_t **rows, void *baton, const void *after,
                                   apr_pool_t *p)
{
    const sealed_count_t *count = baton;

    return pay_store_endpoint_list(rows, count->store, after, PAY_STORE_ROWS_MAX, p);
}

static apr_status_t endpoint_count(void *baton, const void *row, apr_pool_t *p)
{
    sealed_count_t *count = baton;
    const pay_endpoint_t *endpoint = row;
    const char *context = pay_endpoint_secret_context(&endpoint->scope, p);

    count_secret(count, context, endpoint->secret, p);
    if (endpoint->old_secret_until > count->now) {
        count_secret(count, context, endpoint->old_secret, p);
    }
    return APR_SUCCESS;
}

static apr_status_t encryption_keys_list(apr_array_header_t **rows, void *baton, const void *after,
                                         apr_pool_t *p)
{
    const sealed_count_t *count = baton;
    const pay_encryption_key_t *last = after;

    return pay_store_encryption_key_list(rows, count->store, last ? &last->scope : NULL,
                                         PAY_STORE_ROWS_MAX, p);
}

static apr_status_t encryption_key_count(void *baton, const void *row, apr_pool_t *p)
{
    sealed_count_t *count = baton;
    const pay_encryption_key_t *key = row;
    apr_status_t rv;

    rv = pay_keyring_open_into(count->text, PAY_RSA_PRIVATE_SIZE, count->store_host->keyring,
                               pay_encryption_key_context(&key->scope, p), key->sealed, p);
    count->closed += rv != APR_SUCCESS;
    return APR_SUCCESS;
}

static apr_status_t count_encryption_keys(sealed_count_t *count, apr_pool_t *p)
{
    static const pay_pager_t pager = {.list = encryption_keys_list, .each = encryption_key_count};
    apr_status_t rv;

    /* All that is inherited by the children is wiped before there are any. */
    rv = pay_secret_memory_make(&count->text, PAY_RSA_PRIVATE_SIZE, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_pager_walk(&pager, count, p);
    pay_secret_memory_free(count->text, p);
    return rv;
}

static void check_encryption_keys(const pay_store_host_t *store_host, pay_store_t *store,
                                  apr_pool_t *p)
{
    sealed_count_t count = {.store_host = store_host, .store = store};
    const char *cause;
    apr_status_t rv;

    rv = count_encryption_keys(&count, p);
    if (rv != APR_SUCCESS) {
        cause = pay_httpd_log_cause(&rv, "unknown");
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, host_of(store_host),
                     PAYLOGNO(00504) "PaymentsStore %s: the stored encryption keys could not be "
                                     "tested against its master key: %s",
                     store_host->url, cause);
    }
    if (count.closed > 0) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
                     PAYLOGNO(00505) "PaymentsStore %s: the master key %s does not open %d of the "
                                     "encryption keys: encrypted orders of their accounts are "
                                     "answered 503. Put back the file under which they were "
                                     "sealed and restart; or, if it is lost, create new keys "
                                     "(paymentsctl encryption-key renew ACCOUNT --mode MODE)",
                     store_host->url, store_host->key_path, count.closed);
    }
}

static void check_secrets(const pay_store_host_t *store_host, pay_store_t *store, apr_pool_t *p)
{
    static const pay_pager_t pager = {.list = endpoints_list, .each = endpoint_count};
    sealed_count_t count = {.store_host = store_host, .store = store, .now = pay_time_now()};
    const char *cause;
    apr_status_t rv;

    rv = pay_pager_walk(&pager, &count, p);
    if (rv != APR_SUCCESS) {
        cause = pay_httpd_log_cause(&rv, "unknown");
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, host_of(store_host),
                     PAYLOGNO(00352) "PaymentsStore %s: the stored secrets could not be tested "
                                     "against its master key: %s",
                     store_host->url, cause);
    }
    if (count.unknown) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
            PAYLOGNO(00353) "PaymentsStore %s: the master key %s lacks the key under which %d "
                            "webhook secret%s %s sealed: their events are not sent. Put back the "
                            "file with that key and restart; or, if it is lost, set new secrets "
                            "(paymentsctl webhook secret rotate ACCOUNT --mode MODE --overlap 0)",
            store_host->url, store_host->key_path, count.unknown, count.unknown == 1 ? "" : "s",
            count.unknown == 1 ? "is" : "are");
    }
    if (count.changed) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
            PAYLOGNO(00354) "PaymentsStore %s: %d webhook secret%s %s damaged: set new ones "
                            "(paymentsctl webhook secret rotate ACCOUNT --mode MODE --overlap 0)",
            store_host->url, count.changed, count.changed == 1 ? "" : "s",
            count.changed == 1 ? "is" : "are");
    }
}

/* ---- delivery settings */

/*
 * Parses two lines, user and password: `text` becomes "user\npassword". Returns 0 for another form.
 */
static int login_parse(char *text, apr_size_t len)
{
    char *line = memchr(text, '\n', len);
    apr_size_t i;

    if (len > 0 && text[len - 1] == '\n') {
        text[--len] = '\0';
    }
    for (i = 0; i < len; i++) {
        if (((unsigned char)text[i] < ' ' && text + i != line) || text[i] == 0x7f) {
            return 0;
        }
    }
    return line && line > text && line < text + len - 1 && line - text <= LOGIN_PART_MAX
           && text + len - line - 1 <= LOGIN_PART_MAX;
}

struct pay_mail_login_t {
    const char *fault;     /* a sentence; NULL: the text is a login */
    char text[LOGIN_SIZE]; /* "user\npassword" */
};

const pay_mail_login_t *pay_prepare_login(const pay_store_host_t *store_host, apr_pool_t *p)
{
    const char *path = pay_conf_get(host_of(store_host))->mail_login_file;
    pay_mail_login_t *login;
    apr_size_t len;
    apr_status_t rv;
    void *memory;

    if (!path || !store_host->keyring
        || pay_secret_memory_make(&memory, sizeof(*login), p) != APR_SUCCESS) {
        return NULL;
    }
    login = memory;
    rv = pay_secret_file_read(&len, &login->fault, login->text, sizeof(login->text), LOGIN_WHAT,
                              path, ap_unixd_config.user_id, p);
    if (rv == APR_SUCCESS && !login_parse(login->text, len)) {
        pay_wipe(login->text, sizeof(login->text));
        login->fault = apr_psprintf(p,
                                    "the " LOGIN_WHAT " %s: want two lines, user and password, "
                                    "each of 1 to %d bytes",
                                    path, LOGIN_PART_MAX);
    }
    return login;
}

/*
 * Seals the login. `was` is the stored one: it stays if it is the same login, so that not every
 * start writes. Else returns a sentence.
 */
static const char *login_seal(const char **sealed, const pay_store_host_t *store_host,
                              const pay_mail_login_t *login, const char *was, apr_pool_t *p)
{
    const char *opened;
    apr_status_t rv;

    *sealed = "";
    if (!login) {
        return "there is no master key to seal its login under";
    }
    if (login->fault) {
        return login->fault;
    }
    rv = pay_keyring_open(&opened, store_host->keyring, PAY_DELIVERY_LOGIN_CONTEXT, was, p);
    if (rv == APR_SUCCESS && !strcmp(opened, login->text)
        && pay_keyring_is_current(store_host->keyring, was)) {
        *sealed = was;
    } else {
        rv = pay_keyring_seal(sealed, store_host->keyring, PAY_DELIVERY_LOGIN_CONTEXT, login->text,
                              p);
    }
    return rv == APR_SUCCESS ? NULL : "its login could not be sealed";
}

static void put_delivery(const pay_store_host_t *store_host, const pay_mail_login_t *login,
                         pay_store_t *store, apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(host_of(store_host));
    pay_delivery_t delivery = conf->delivery;
    pay_delivery_t *was = NULL;
    const char *fault, *cause;
    apr_status_t rv;

    /* Whatever the result: a setting that cannot be read is written again. */
    rv = pay_store_delivery_get(&was, store, p);
    if (rv != APR_SUCCESS) {
        was = NULL;
    }
    if (conf->mail_login_file) {
        fault = login_seal(&delivery.mail_login, store_host, login, was ? was->mail_login : "", p);
        if (fault) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
                         PAYLOGNO(00355) "PaymentsStore %s: PaymentsMailRelay is not used until "
                                         "the server is restarted, and e-mails wait: %s",
                         store_host->url, fault);
            delivery.mail_relay = ""; /* without its login the relay would refuse mails for good */
            delivery.mail_login = "";
        }
    }
    rv = pay_server_delivery_put(store, was, &delivery, p);
    if (rv != APR_SUCCESS) {
        cause = pay_httpd_log_cause(&rv, "unknown");
        ap_log_error(
            APLOG_MARK, APLOG_ERR, rv, host_of(store_host),
            PAYLOGNO(00356) "PaymentsStore %s: the directives about notifications could not be "
                            "stored, and those of an earlier start stay in effect: %s",
            store_host->url, cause);
    }
}

/* Logged at once, not when the first payer waits for a receipt. */
static void check_templates(const pay_store_host_t *store_host, apr_pool_t *p)
{
    const char *directory = pay_conf_get(host_of(store_host))->delivery.mail_templates;
    const char *fault = *directory ? pay_mail_templates_fault(directory, p) : NULL;

    if (fault) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, host_of(store_host),
                     PAYLOGNO(00357) "PaymentsMailTemplates: e-mails that use this template wait "
                                     "until it is fixed: %s",
                     fault);
    }
}

void pay_prepare_delivery(const pay_store_host_t *store_host, const pay_mail_login_t *login,
                          pay_store_t *store, apr_pool_t *p)
{
    put_delivery(store_host, login, store, p);
    check_templates(store_host, p);
    if (store_host->keyring) {
        check_secrets(store_host, store, p);
        check_encryption_keys(store_host, store, p);
    }
}
