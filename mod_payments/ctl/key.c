/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include "service/account/keys.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_ID_MAX 64

static void end_get(ctl_value_t *value, const void *row)
{
    value->number = pay_api_key_end(row);
}

#define AT(member) CTL_FIELD(pay_api_key_t, member)

static const ctl_column_t columns[] = {
    {CTL_TABLE, "id", NULL, CTL_TEXT, AT(id)},
    {CTL_TABLE, "account", NULL, CTL_TEXT, CTL_BEHIND(pay_api_key_t, account, pay_account_t, name)},
    {CTL_TABLE, "mode", NULL, CTL_ENUM, AT(scope.mode), .word = pay_mode_name},
    {CTL_TABLE, "kind", NULL, CTL_ENUM, AT(kind), .word = pay_key_kind_name},
    {CTL_TABLE, "created", NULL, CTL_TIME, AT(created_at)},
    {CTL_TABLE, "last used", NULL, CTL_TIME, AT(last_used_at)},
    {CTL_TABLE, "revoked", NULL, CTL_TIME, .get = end_get},
    {0},
};

static void key_json(pay_writer_t *w, const void *row)
{
    pay_api_key_to_json(w, NULL, row);
}

static const ctl_view_t key_view = {.columns = columns, .json = key_json};

/*
 * The only place where a key is ever shown. Its text stands alone on standard output, so that a
 * script can take it; in JSON it is the first member of the key's object.
 */
static ctl_exit_t key_reveal(const ctl_t *ctl, const pay_api_key_t *key, const char *text)
{
    pay_writer_t *record, *w;

    if (ctl->json) {
        record = pay_writer_make(512, ctl->pool);
        key_json(record, key);
        w = pay_writer_make(PAY_KEY_TEXT_MAX, ctl->pool);
        pay_writer_string(w, NULL, text);
        printf("{\"key\":%s,%s\n", w->text, record->text + 1);
    } else {
        puts(text);
    }
    if (ctl_output_flush()) {
        return ctl_fail(CTL_EXIT_ACCESS,
                        "the new key %s could not be written out; revoke it and create another",
                        key->id);
    }
    if (!ctl->json) {
        ctl_note("This is the %s %s key %s of account %s. Keep it now: it is not shown again.",
                 pay_mode_name(key->scope.mode), pay_key_kind_name(key->kind), key->id,
                 key->account->name);
    }
    return CTL_OK;
}

ctl_exit_t ctl_key_create(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_api_key_t *key;
    pay_key_kind_t kind;
    pay_scope_t scope;
    const char *text;
    ctl_exit_t failed;

    failed = ctl_option_kind(&kind, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    problem = pay_key_issue(&key, &text, &ctl->service, account, scope.mode, kind, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot create the key", ctl->pool);
    }
    return key_reveal(ctl, key, text);
}

static ctl_exit_t key_too_long(void)
{
    return ctl_fail(CTL_EXIT_TOO_LONG, "the key: want at most %d characters", PAY_KEY_TEXT_MAX);
}

/* One line of standard input into `buffer`, its end dropped. From a terminal it is not echoed. */
static ctl_exit_t key_read(char *buffer, apr_size_t size)
{
    apr_size_t len = size;
    apr_status_t rv;

    memset(buffer, 0, size);
    if (isatty(STDIN_FILENO)) {
        rv = apr_password_get("Key: ", buffer, &len);
        if (rv == APR_ENAMETOOLONG) {
            return key_too_long();
        }
        if (rv != APR_SUCCESS) {
            return ctl_fail_status(rv, "cannot read the key");
        }
        len = strlen(buffer);
    } else {
        setvbuf(stdin, NULL, _IONBF, 0); /* no copy of the key in a buffer of libc's */
        len = fread(buffer, 1, size - 1, stdin);
        if (ferror(stdin)) {
            return ctl_fail(CTL_EXIT_ACCESS, "cannot read the key from standard input");
        }
    }
    if (len > 0 && buffer[len - 1] == '\n') {
        buffer[--len] = '\0';
    }
    if (len > 0 && buffer[len - 1] == '\r') {
        buffer[--len] = '\0';
    }
    if (len > PAY_KEY_TEXT_MAX) {
        return key_too_long();
    }
    if (strlen(buffer) != len) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "the key on standard input holds a NUL byte");
    }
    return CTL_OK;
}

static ctl_exit_t key_take_over(pay_api_key_t **out, ctl_t *ctl, const pay_account_t *account,
                                pay_mode_t mode, pay_key_kind_t kind)
{
    char text[PAY_KEY_TEXT_MAX + 4]; /* one too many shows, behind it CR, LF and NUL have room */
    const pay_problem_t *problem;
    ctl_exit_t failed;

    failed = key_read(text, sizeof(text));
    if (failed) {
        explicit_bzero(text, sizeof(text));
        return failed;
    }
    problem = pay_key_import(out, &ctl->service, account, mode, kind, text, ctl->pool);
    explicit_bzero(text, sizeof(text));
    if (problem && problem->error == PAY_ERR_REFERENCE_REUSED) {
        return ctl_fail(CTL_EXIT_REFUSED, "the store has this key already; see 'paymentsctl key "
                                          "list'");
    }
    return problem ? ctl_fail_service(problem, "cannot import the key", ctl->pool) : CTL_OK;
}

ctl_exit_t ctl_key_import(ctl_t *ctl)
{
    pay_account_t *account;
    pay_api_key_t *key;
    pay_key_kind_t kind;
    pay_scope_t scope;
    ctl_exit_t failed;

    failed = ctl_option_kind(&kind, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = key_take_over(&key, ctl, account, scope.mode, kind);
    if (failed) {
        return failed;
    }
    if (ctl->json) {
        ctl_row_print(ctl, &key_view, key);
    } else {
        puts(key->id);
    }
    return CTL_OK;
}

ctl_exit_t ctl_key_list(ctl_t *ctl)
{
    apr_array_header_t *keys;
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    if (ctl->arg[0]) {
        failed = ctl_account_find(&account, ctl, ctl->arg[0]);
        if (failed) {
            return failed;
        }
    }
    rv = pay_store_key_list(&keys, ctl->service.store, ctl->arg[0], ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the keys");
    }
    ctl_list_print(ctl, &key_view, keys, limit);
    return CTL_OK;
}

/* A key given where its id belongs must not be repeated in an error. */
static ctl_exit_t id_check(const char *id)
{
    pay_key_kind_t kind;
    pay_mode_t mode;

    if (pay_api_key_parse(&mode, &kind, id) == APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "this is a key; want its id, which 'paymentsctl key "
                                          "list' shows");
    }
    if (strlen(id) > KEY_ID_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "key id: want at most %d characters", KEY_ID_MAX);
    }
    return CTL_OK;
}

static ctl_exit_t key_fail(const ctl_t *ctl, const pay_problem_t *problem, const char *failure)
{
    if (problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "there is no key %s; 'paymentsctl key list' lists the keys", ctl->arg[0]);
    }
    return ctl_fail_service(problem, failure, ctl->pool);
}

ctl_exit_t ctl_key_revoke(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_api_key_t *key;
    ctl_exit_t failed;

    failed = id_check(ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_key_revoke(&key, &ctl->service, NULL, ctl->arg[0], ctl->pool);
    if (problem) {
        return key_fail(ctl, problem, "cannot revoke the key");
    }
    ctl_row_print(ctl, &key_view, key);
    return CTL_OK;
}

ctl_exit_t ctl_key_rotate(ctl_t *ctl)
{
    const pay_problem_t *problem;
    apr_interval_time_t overlap;
    pay_api_key_t *key, *old;
    const char *text;
    ctl_exit_t failed;

    failed = ctl_option_overlap(&overlap, ctl, 0);
    if (failed) {
        return failed;
    }
    failed = id_check(ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem =
        pay_key_rotate(&key, &old, &text, &ctl->service, NULL, ctl->arg[0], overlap, ctl->pool);
    if (problem) {
        return key_fail(ctl, problem, "cannot rotate the key");
    }
    return key_reveal(ctl, key, text);
}
