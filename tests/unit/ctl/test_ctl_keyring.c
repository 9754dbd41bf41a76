/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/keyring.h"

#include "ctl/message.h"
#include "output.h"
#include "store_script.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

/* The commands that need the master key, and their messages without one. */

/* ---- what in the store is sealed */

/* One endpoint a batch; an empty batch is the last. */
static const struct sealed_t {
    const char *name;
    int keys;          /* encryption keys */
    const char *login; /* of the mail relay; NULL: no server has stored how it delivers */
    const char *secrets[3];
    apr_status_t keys_rv, delivery_rv, endpoints_rv;
    ctl_exit_t want;
    int batches; /* that are read */
} rows[] = {
    {"nothing", 0, NULL, {NULL}, 0, 0, 0, CTL_OK, 1},
    {"a relay without a login", 0, "", {NULL}, 0, 0, 0, CTL_OK, 1},
    {"webhooks without a secret", 0, "", {"", "", NULL}, 0, 0, 0, CTL_OK, 3},
    {"an encryption key", 1, NULL, {NULL}, 0, 0, 0, CTL_EXIT_ACCESS, 0},
    {"a login", 0, "sealed", {NULL}, 0, 0, 0, CTL_EXIT_ACCESS, 0},
    {"a secret", 0, NULL, {"sealed", NULL}, 0, 0, 0, CTL_EXIT_ACCESS, 1},
    {"the second one", 0, "", {"", "sealed", NULL}, 0, 0, 0, CTL_EXIT_ACCESS, 2},
    {"a login before a webhook without one", 0, "sealed", {"", NULL}, 0, 0, 0, CTL_EXIT_ACCESS, 0},
    {"keys that cannot be read", 0, "", {NULL}, PAY_STORE_EDOWN, 0, 0, CTL_EXIT_ACCESS, 0},
    {"a row that is damaged", 0, "", {NULL}, 0, PAY_STORE_ECORRUPT, 0, CTL_EXIT_NOT_VALID, 0},
    {"webhooks that are", 0, "", {NULL}, 0, 0, PAY_STORE_ECORRUPT, CTL_EXIT_NOT_VALID, 1},
};

static const struct sealed_t *row;
static int batches;

static apr_status_t encryption_key_list(apr_array_header_t **out, pay_store_t *store,
                                        const pay_scope_t *after, int limit, apr_pool_t *p)
{
    (void)store, (void)after, (void)limit;
    *out = apr_array_make(p, 1, sizeof(void *));
    (*out)->nelts = row->keys;
    return row->keys_rv;
}

static apr_status_t delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->mail_login = row->login;
    return row->delivery_rv ? row->delivery_rv : row->login ? APR_SUCCESS : APR_NOTFOUND;
}

static apr_status_t endpoint_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_endpoint_t *after, int limit, apr_pool_t *p)
{
    pay_endpoint_t *endpoint;

    (void)store, (void)limit;
    ck_assert((after != NULL) == (batches > 0));
    *out = apr_array_make(p, 1, sizeof(void *));
    if (row->secrets[batches]) {
        endpoint = apr_pcalloc(p, sizeof(*endpoint));
        endpoint->secret = row->secrets[batches];
        APR_ARRAY_PUSH(*out, pay_endpoint_t *) = endpoint;
    }
    batches++;
    return row->endpoints_rv;
}

static const store_script_t ops = {.encryption_key_list = encryption_key_list,
                                   .delivery_get = delivery_get,
                                   .endpoint_list = endpoint_list};

static ctl_t without_key(pay_store_t *store)
{
    return (ctl_t){.service.store = store,
                   .pool = unit_pool,
                   .keyring_status = APR_FROM_OS_ERROR(ENOENT),
                   .keyring_path = "/nowhere/master.key"};
}

START_TEST(test_who_needs_it)
{
    ctl_t ctl = without_key(STORE_NONE);
    ctl_exit_t got;

    store_script = ops;
    row = &rows[_i];
    batches = 0;
    got = ctl_keyring_need_if_sealed(&ctl);
    ck_assert_msg(got == row->want, "%s: exit status %d", row->name, (int)got);
    ck_assert_msg(batches == row->batches, "%s: %d", row->name, batches);
}
END_TEST

/* A second key beside the right one is not made: the faults are those of the rows above. */
START_TEST(test_none_is_made_beside_what_is_sealed)
{
    ctl_t ctl = without_key(STORE_NONE);

    store_script = ops;
    row = &rows[_i];
    batches = 0;
    if (row->want != CTL_OK) {
        ck_assert_int_eq(ctl_keyring_need(&ctl, 1), row->want);
        ck_assert_ptr_null(ctl.keyring);
    }
}
END_TEST

START_TEST(test_who_has_it_is_asked_nothing)
{
    int ring = 0;
    ctl_t ctl = {.keyring = (const struct pay_keyring_t *)&ring, .pool = unit_pool};

    ck_assert_int_eq(ctl_keyring_need(&ctl, 0), CTL_OK);
    ck_assert_int_eq(ctl_keyring_need(&ctl, 1), CTL_OK);
    ck_assert_int_eq(ctl_keyring_need_if_sealed(&ctl), CTL_OK);
}
END_TEST

/* ---- messages */

static const struct {
    const char *name;
    apr_status_t status;
    const char *reason; /* NULL: only the status shows it */
    int create;
    ctl_exit_t want;
    const char *says;
} fault_rows[] = {
    {"none", APR_FROM_OS_ERROR(ENOENT), NULL, 0, CTL_EXIT_ACCESS,
     "cannot read the master key /nowhere/master.key: No such file or directory"},
    {"one that is closed", APR_FROM_OS_ERROR(EACCES), NULL, 1, CTL_EXIT_ACCESS,
     "cannot read the master key /nowhere/master.key: Permission denied"},
    {"one of wrong form", APR_EINVAL, "it is no key", 1, CTL_EXIT_NOT_VALID, "it is no key"},
};

START_TEST(test_faults)
{
    ctl_t ctl = without_key(NULL);
    const char *said;
    ctl_exit_t got;
    int before;

    ctl.keyring_status = fault_rows[_i].status;
    ctl.keyring_fault = fault_rows[_i].reason;
    said = output_away(stderr, &before);
    got = ctl_keyring_need(&ctl, fault_rows[_i].create);
    said = output_back(stderr, said, before);
    ck_assert_msg(got == fault_rows[_i].want, "%s: exit status %d", fault_rows[_i].name, (int)got);
    ck_assert_str_eq(said,
                     apr_pstrcat(unit_pool, "paymentsctl: ", fault_rows[_i].says, "\n", NULL));
}
END_TEST

static const struct {
    apr_status_t status;
    ctl_exit_t want;
    const char *says;
} secret_rows[] = {
    {APR_NOTFOUND, CTL_EXIT_NOT_VALID,
     "it is sealed under a key that the master key file /nowhere/master.key does not hold; name "
     "the "
     "right one with --master-key"},
    {APR_EINVAL, CTL_EXIT_NOT_VALID, "it is damaged"},
    {APR_FROM_OS_ERROR(ENOMEM), CTL_EXIT_ACCESS, "it cannot be opened: Cannot allocate memory"},
};

START_TEST(test_secrets_that_do_not_open)
{
    const ctl_t ctl = without_key(NULL);
    const char *said;
    ctl_exit_t got;
    int before;

    said = output_away(stderr, &before);
    got = ctl_secret_fail(&ctl, secret_rows[_i].status, "it");
    said = output_back(stderr, said, before);
    ck_assert_int_eq(got, secret_rows[_i].want);
    ck_assert_str_eq(said,
                     apr_pstrcat(unit_pool, "paymentsctl: ", secret_rows[_i].says, "\n", NULL));
}
END_TEST

START_TEST(test_no_secret_is_an_empty_one)
{
    const pay_scope_t scope = {1, PAY_TEST};
    ctl_t ctl = without_key(NULL);
    const char *text = NULL;

    ck_assert_int_eq(ctl_secret_open(&text, &ctl, &scope, ""), CTL_OK);
    ck_assert_str_eq(text, "");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_who_needs_it, 0, UNIT_ROWS(rows));
    tcase_add_loop_test(tcase, test_none_is_made_beside_what_is_sealed, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_who_has_it_is_asked_nothing);
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_rows));
    tcase_add_loop_test(tcase, test_secrets_that_do_not_open, 0, UNIT_ROWS(secret_rows));
    tcase_add_test(tcase, test_no_secret_is_an_empty_one);
}

UNIT_PROGRAM(add)
