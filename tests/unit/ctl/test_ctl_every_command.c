/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "ctl/options.h"
#include "lmdb_fixture.h"
#include "output.h"
#include "unit.h"

#include "model/endpoint.h"
#include "model/event.h"
#include "model/grant.h"
#include "model/refund.h"
#include "model/token.h"

#include <string.h>

/*
 * Every command of paymentsctl that opens a store and takes an account, or one of the options
 * below: an invalid value is refused, with the proper exit status, before anything is written.
 */

/* The values of required options if no row has another one. */
static const char *const usual[CTL_OPTION_COUNT] = {
    [CTL_OPTION_MODE] = "test",        [CTL_OPTION_KIND] = "secret",
    [CTL_OPTION_BY] = "day",           [CTL_OPTION_CARD] = "5555555555554444",
    [CTL_OPTION_FROM] = "2026-01-01",  [CTL_OPTION_TO] = "2026-01-02",
    [CTL_OPTION_OUTCOME] = "failed",   [CTL_OPTION_REASON] = "no",
    [CTL_OPTION_HOST] = "pay.example", [CTL_OPTION_ROLE] = "owner",
    [CTL_OPTION_REFERENCE] = "r-1",    [CTL_OPTION_EMAIL] = "ada@example.com",
};

static const struct {
    const char *command;
    const char *second;    /* argument */
    ctl_option_id_t other; /* an option without which there is nothing to do */
    const char *value;
} places[] = {
    {"account mode", "live", CTL_OPTION_COUNT, NULL},
    {"account set", NULL, CTL_OPTION_CURRENCY, "EUR"},
    {"account grant", "ada", CTL_OPTION_COUNT, NULL},
    {"account revoke", "ada", CTL_OPTION_COUNT, NULL},
    {"token revoke", "tok_1", CTL_OPTION_COUNT, NULL},
    {"charge show", "r-1", CTL_OPTION_COUNT, NULL},
    {"charge resolve", "r-1", CTL_OPTION_COUNT, NULL},
    {"refund show", "r-1", CTL_OPTION_COUNT, NULL},
    {"refund resolve", "r-1", CTL_OPTION_COUNT, NULL},
    {"refund import", "/dev/null", CTL_OPTION_COUNT, NULL},
    {"link show", "r-1", CTL_OPTION_COUNT, NULL},
    {"link disable", "r-1", CTL_OPTION_COUNT, NULL},
    {"webhook set", "https://shop.example/", CTL_OPTION_COUNT, NULL},
    {"event show", "evt_010000000000000000000000000000000000000000", CTL_OPTION_COUNT, NULL},
    {"event retry", NULL, CTL_OPTION_ALL, ""},
    {"event drop", NULL, CTL_OPTION_ALL, ""},
    {"mail set", NULL, CTL_OPTION_RECEIPTS, "on"},
};

/* Those whose first argument is not an account. */
static const char *const others[] = {"account create", "account list", "key revoke",
                                     "key rotate",     "store backup", "event deliver"};

static const struct {
    const char *name;
    ctl_option_id_t option; /* CTL_OPTION_COUNT: the account */
    const char *value;
    ctl_exit_t want;
} wrongs[] = {
    {"no such account", CTL_OPTION_COUNT, "none", CTL_EXIT_REFUSED},
    {"an account of wrong form", CTL_OPTION_COUNT, "No", CTL_EXIT_ILLEGAL},
    {"an account too long", CTL_OPTION_COUNT,
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", CTL_EXIT_TOO_LONG},
    {"the longest account", CTL_OPTION_COUNT,
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", CTL_EXIT_REFUSED},
    {"--mode", CTL_OPTION_MODE, "prod", CTL_EXIT_ILLEGAL},
    {"--kind", CTL_OPTION_KIND, "master", CTL_EXIT_ILLEGAL},
    {"--limit", CTL_OPTION_LIMIT, "0", CTL_EXIT_ILLEGAL},
    {"--from", CTL_OPTION_FROM, "2026-02-30", CTL_EXIT_ILLEGAL},
    {"--to", CTL_OPTION_TO, "soon", CTL_EXIT_ILLEGAL},
    {"--by", CTL_OPTION_BY, "week", CTL_EXIT_ILLEGAL},
    {"--email", CTL_OPTION_EMAIL, "nobody", CTL_EXIT_ILLEGAL},
    {"--state", CTL_OPTION_STATE, "paid", CTL_EXIT_ILLEGAL},
    {"--card", CTL_OPTION_CARD, "1", CTL_EXIT_ILLEGAL},
    {"--token", CTL_OPTION_TOKEN, "a b", CTL_EXIT_ILLEGAL},
    {"--outcome", CTL_OPTION_OUTCOME, "perhaps", CTL_EXIT_ILLEGAL},
    {"--reason", CTL_OPTION_REASON, "", CTL_EXIT_ILLEGAL},
    {"--host", CTL_OPTION_HOST, "a b", CTL_EXIT_ILLEGAL},
    {"--role", CTL_OPTION_ROLE, "king", CTL_EXIT_ILLEGAL},
    {"--receipts", CTL_OPTION_RECEIPTS, "yes", CTL_EXIT_ILLEGAL},
    {"--merchant-address", CTL_OPTION_MERCHANT_ADDRESS, "till", CTL_EXIT_ILLEGAL},
    {"--test-recipient", CTL_OPTION_TEST_RECIPIENT, "a@", CTL_EXIT_ILLEGAL},
    {"--overlap", CTL_OPTION_OVERLAP, "1w", CTL_EXIT_ILLEGAL},
    {"--site", CTL_OPTION_SITE, "shop.example", CTL_EXIT_ILLEGAL},
    {"--site with a query", CTL_OPTION_SITE, "https://shop.example/?a", CTL_EXIT_ILLEGAL},
    {"--expires", CTL_OPTION_EXPIRES, "soon", CTL_EXIT_ILLEGAL},
    {"--amount", CTL_OPTION_AMOUNT, "much", CTL_EXIT_ILLEGAL},
    {"--key-prefix", CTL_OPTION_KEY_PREFIX, "9a", CTL_EXIT_ILLEGAL},
    {"--currency", CTL_OPTION_CURRENCY, "ZZZ", CTL_EXIT_ILLEGAL},
    {"--timezone", CTL_OPTION_TIMEZONE, "Moon/Crater", CTL_EXIT_ILLEGAL},
    {"--shop-name", CTL_OPTION_SHOP_NAME, "a\nb", CTL_EXIT_ILLEGAL},
    {"--shop-logo", CTL_OPTION_SHOP_LOGO, "//elsewhere", CTL_EXIT_ILLEGAL},
    {"--shop-text", CTL_OPTION_SHOP_TEXT, "a\tb", CTL_EXIT_ILLEGAL},
    {"--return-host", CTL_OPTION_RETURN_HOST, "a/b", CTL_EXIT_ILLEGAL},
    {"--fee", CTL_OPTION_FEE, "much", CTL_EXIT_ILLEGAL},
};

static int is_other(const char *name)
{
    int i;

    for (i = 0; i < UNIT_ROWS(others); i++) {
        if (strcmp(name, others[i]) == 0) {
            return 1;
        }
    }
    return strncmp(name, "store ", 6) == 0;
}

static ctl_t line_of(const ctl_command_t *command, pay_store_t *store)
{
    ctl_t ctl = {
        .command = command, .service = {.store = store}, .pool = unit_pool, .arg = {"one", NULL}};
    int i;

    for (i = 0; i < CTL_OPTION_COUNT; i++) {
        if (command->required & APR_UINT64_C(1) << i) {
            ctl.option[i] = usual[i];
        }
    }
    for (i = 0; i < UNIT_ROWS(places); i++) {
        if (strcmp(places[i].command, command->name) == 0) {
            ctl.arg[1] = places[i].second;
            if (places[i].other != CTL_OPTION_COUNT) {
                ctl.option[places[i].other] = places[i].value;
            }
        }
    }
    return ctl;
}

static void refuses(const ctl_command_t *command, int wrong, pay_store_t *store)
{
    const ctl_option_id_t option = wrongs[wrong].option;
    ctl_t ctl = line_of(command, store);
    const char *output;
    ctl_exit_t got;
    int before;

    if (option == CTL_OPTION_COUNT) {
        if (is_other(command->name)) {
            return;
        }
        ctl.arg[0] = wrongs[wrong].value;
    } else {
        if (!((command->required | command->optional) & APR_UINT64_C(1) << option)) {
            return;
        }
        ctl.option[option] = wrongs[wrong].value;
    }
    output = output_open(&before);
    got = command->run(&ctl);
    output = output_read(output, before);
    ck_assert_msg(got == wrongs[wrong].want, "%s, %s: exit status %d", command->name,
                  wrongs[wrong].name, (int)got);
    ck_assert_msg(*output == '\0', "%s, %s: %s", command->name, wrongs[wrong].name, output);
}

START_TEST(test_wrong_values)
{
    const ctl_command_t *command = ctl_command_at(_i);
    pay_store_t *store;
    int wrong;

    if (command->open == CTL_OPEN_CREATE || command->open == CTL_OPEN_BY_ITSELF) {
        return; /* they open their store themselves, and have tests of their own */
    }
    store = fixture_shop(unit_dir());
    for (wrong = 0; wrong < UNIT_ROWS(wrongs); wrong++) {
        refuses(command, wrong, store);
    }
}
END_TEST

/* ---- the longest arguments */

static const struct {
    const char *command;
    int arg;
    const char *begin; /* of the argument; as many more letters as there is room for follow */
    int max;
    ctl_exit_t want; /* of the longest one; one letter more is CTL_EXIT_TOO_LONG */
} lengths[] = {
    {"token revoke", 1, "", PAY_TOKEN_TEXT_MAX, CTL_EXIT_REFUSED},
    {"charge show", 1, "", PAY_REFERENCE_MAX, CTL_EXIT_REFUSED},
    {"refund show", 1, "", PAY_REFUND_REFERENCE_MAX, CTL_EXIT_REFUSED},
    {"account revoke", 1, "", PAY_GRANT_USER_MAX, CTL_EXIT_REFUSED},
    {"key revoke", 0, "", 64, CTL_EXIT_REFUSED},
    {"key rotate", 0, "", 64, CTL_EXIT_REFUSED},
    {"event show", 1, "evt_", PAY_EVENT_ID_LEN, CTL_EXIT_ILLEGAL},
    {"webhook set", 1, "ftp://shop.example/", PAY_ENDPOINT_ADDRESS_MAX, CTL_EXIT_ILLEGAL},
};

static const ctl_command_t *command_named(const char *name)
{
    const ctl_command_t *command;
    int i;

    for (i = 0; (command = ctl_command_at(i)) != NULL; i++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    ck_abort_msg("no command %s", name);
}

START_TEST(test_longest_arguments)
{
    const ctl_command_t *command = command_named(lengths[_i].command);
    const size_t begin = strlen(lengths[_i].begin), max = (size_t)lengths[_i].max;
    char *text = apr_pcalloc(unit_pool, max + 2);
    ctl_t ctl = line_of(command, fixture_shop(unit_dir()));
    ctl_exit_t got;

    memcpy(text, lengths[_i].begin, begin);
    memset(text + begin, 'z', max - begin);
    ctl.arg[lengths[_i].arg] = text;
    got = command->run(&ctl);
    ck_assert_msg(got == lengths[_i].want, "%s: exit status %d", command->name, (int)got);
    text[max] = 'z';
    got = command->run(&ctl);
    ck_assert_msg(got == CTL_EXIT_TOO_LONG, "%s: exit status %d", command->name, (int)got);
}
END_TEST

static void add(TCase *tcase)
{
    int count = 0;

    while (ctl_command_at(count)) {
        count++;
    }
    tcase_add_loop_test(tcase, test_wrong_values, 0, count);
    tcase_add_loop_test(tcase, test_longest_arguments, 0, UNIT_ROWS(lengths));
}

UNIT_PROGRAM(add)
