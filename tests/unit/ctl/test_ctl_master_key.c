/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "base/crypto/keyring.h"
#include "ctl/audit.h"
#include "lmdb_fixture.h"
#include "model/delivery.h"
#include "output.h"
#include "service/account/endpoints.h"
#include "store_script.h"

#include <string.h>
#include <unistd.h>

/*
 * store rotate-master-key goes through all sealed values, a batch at a time, and removes the old
 * key from the file only when nothing is under it any more. Batches are of one row here.
 */

#define WEBHOOKS 4 /* two accounts in both modes */

static int fails_at; /* the batch of webhooks at which the store fails; 0: none */
static int batches;

static apr_status_t endpoint_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_endpoint_t *after, int limit, apr_pool_t *p)
{
    (void)limit;
    if (++batches == fails_at) {
        return PAY_STORE_EDOWN;
    }
    return STORE_REAL(endpoint_list)(out, store, after, 1, p);
}

static pay_keyring_t *ring_at(const char *path, int create)
{
    const char *reason = "";
    pay_keyring_t *ring;
    int made;

    ck_assert_msg(pay_keyring_load(&ring, &made, &reason, path, create, geteuid(), unit_pool)
                      == APR_SUCCESS,
                  "%s", reason);
    return ring;
}

static void webhooks_make(pay_store_t *store, const pay_keyring_t *ring)
{
    const pay_service_t service = {.store = store, .keyring = ring};
    pay_endpoint_t *endpoint;
    pay_scope_t scope;
    const char *secret;
    int i;

    for (i = 0; i < WEBHOOKS; i++) {
        scope = (pay_scope_t){(apr_uint32_t)(i / 2) + 1, i % 2 ? PAY_LIVE : PAY_TEST};
        ck_assert_ptr_null(pay_webhook_set(&endpoint, &secret, &service, &scope,
                                           "https://shop.example/", unit_pool));
    }
}

static void login_make(pay_store_t *store, const pay_keyring_t *ring)
{
    pay_delivery_t delivery = {0, "", "", "smtp://mail.example:25", "", "a@b.example", ""};

    ck_assert_int_eq(pay_keyring_seal(&delivery.mail_login, ring, PAY_DELIVERY_LOGIN_CONTEXT,
                                      "user\npassword", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_delivery_put(store, &delivery, unit_pool), APR_SUCCESS);
}

/* How many of them that key opens. */
static int opened_by(pay_store_t *store, const pay_keyring_t *ring)
{
    apr_array_header_t *endpoints;
    const pay_endpoint_t *endpoint;
    pay_delivery_t *delivery;
    const char *text;
    int i, opened;

    ck_assert_int_eq(STORE_REAL(endpoint_list)(&endpoints, store, NULL, 100, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(endpoints->nelts, WEBHOOKS);
    ck_assert_int_eq(pay_store_delivery_get(&delivery, store, unit_pool), APR_SUCCESS);
    opened =
        pay_keyring_open(&text, ring, PAY_DELIVERY_LOGIN_CONTEXT, delivery->mail_login, unit_pool)
        == APR_SUCCESS;
    for (i = 0; i < endpoints->nelts; i++) {
        endpoint = APR_ARRAY_IDX(endpoints, i, const pay_endpoint_t *);
        opened +=
            pay_keyring_open(&text, ring, pay_endpoint_secret_context(&endpoint->scope, unit_pool),
                             endpoint->secret, unit_pool)
            == APR_SUCCESS;
    }
    return opened;
}

static const struct {
    int fails_at;
    ctl_exit_t want;
    const char *prints;
    int old, fresh; /* secrets that the previous key opens afterwards, and the file */
} rows[] = {
    {0, CTL_OK, "5 sealed anew\n", 0, WEBHOOKS + 1},
    {3, CTL_EXIT_ACCESS, "", WEBHOOKS + 1, WEBHOOKS + 1}, /* before there is a new key */
    {8, CTL_EXIT_ACCESS, "", WEBHOOKS - 1, WEBHOOKS + 1}, /* after two of them */
};

START_TEST(test_rotation)
{
    static const ctl_command_t command = {.name = "store rotate-master-key"};
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/master.key", NULL);
    const pay_keyring_t *before = ring_at(path, 1);
    pay_store_t *store = fixture_shop(unit_dir());
    ctl_t ctl = {.command = &command,
                 .service = {.store = store},
                 .pool = unit_pool,
                 .keyring = before,
                 .keyring_path = path,
                 .store_owner = geteuid()};
    const char *output;
    ctl_exit_t got;
    int out;

    webhooks_make(store, before);
    login_make(store, before);
    ctl_audit_begin(&ctl);
    store_script.endpoint_list = endpoint_list;
    fails_at = rows[_i].fails_at;
    batches = 0;
    output = output_open(&out);
    got = ctl_store_rotate_master_key(&ctl);
    output = output_read(output, out);
    store_script.endpoint_list = NULL;
    ck_assert_msg(got == rows[_i].want, "%d: exit status %d", _i, (int)got);
    ck_assert_str_eq(output, rows[_i].prints);
    ck_assert_int_eq(opened_by(ctl.service.store, before), rows[_i].old);
    ck_assert_int_eq(opened_by(ctl.service.store, ring_at(path, 0)), rows[_i].fresh);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_rotation, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
