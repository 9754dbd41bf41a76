/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/options.h"

#include "ctl/commands.h"
#include "ctl/message.h"

#include "unit.h"

#include <string.h>

#define WORDS_MAX 20

/* "a b" as an argument vector after the program's name; "''" is an empty word. */
static int words_of(const char *out[WORDS_MAX], const char *line)
{
    char *rest = apr_pstrdup(unit_pool, line);
    char *word;
    int count = 0;

    out[count++] = "paymentsctl";
    for (word = apr_strtok(rest, " ", &rest); word; word = apr_strtok(NULL, " ", &rest)) {
        ck_assert_int_lt(count, WORDS_MAX);
        out[count++] = strcmp(word, "''") != 0 ? word : "";
    }
    return count;
}

static ctl_t ctl_with(int id, const char *value)
{
    ctl_t ctl = {.pool = unit_pool};

    ctl.option[id] = value;
    return ctl;
}

/* ---- which options there are, and how often */

static ctl_exit_t run_nothing(ctl_t *ctl)
{
    (void)ctl;
    return CTL_OK;
}

static const ctl_command_t command = {
    .name = "thing make",
    .args_min = 1,
    .args_max = 2,
    .required = CTL_O(MODE),
    .optional =
        CTL_O(LIMIT) | CTL_O(RETURN_HOST) | CTL_O(YES) | CTL_O(CUSTOMER_NOTE) | CTL_O(KEY_PREFIX),
    .run = run_nothing,
};

static const struct {
    const char *name, *line;
    ctl_exit_t want;
    const char *first, *second; /* arguments */
} command_rows[] = {
    {"the least", "--mode test a", CTL_OK, "a", NULL},
    {"two arguments", "--mode test a b", CTL_OK, "a", "b"},
    {"options behind them", "a --mode test b --yes", CTL_OK, "a", "b"},
    {"an equals sign", "a --mode=test", CTL_OK, "a", NULL},
    {"those of all commands", "a --mode test -s lmdb:/x --json", CTL_OK, "a", NULL},
    {"behind two dashes", "--mode test -- a --yes", CTL_OK, "a", "--yes"},
    {"no argument", "--mode test", CTL_EXIT_USAGE, NULL, NULL},
    {"three of them", "--mode test a b c", CTL_EXIT_USAGE, NULL, NULL},
    {"what it wants is missing", "a", CTL_EXIT_USAGE, NULL, NULL},
    {"but help needs nothing", "--help", CTL_OK, NULL, NULL},
    {"an option of others", "--mode test a --once", CTL_EXIT_USAGE, NULL, NULL},
    {"one that does not exist", "--mode test a --never", CTL_EXIT_USAGE, NULL, NULL},
    {"no value", "a --mode", CTL_EXIT_USAGE, NULL, NULL},
    {"a value for a flag", "--mode test a --yes=1", CTL_EXIT_USAGE, NULL, NULL},
    {"twice", "--mode test --mode test a", CTL_EXIT_USAGE, NULL, NULL},
    {"a flag twice", "--mode test --yes --yes a", CTL_EXIT_USAGE, NULL, NULL},
    {"one that is a list, twice", "--mode test --return-host a --return-host b a", CTL_OK, "a",
     NULL},
    {"16 bytes", "--mode test a --key-prefix abcdefghijklmnop", CTL_OK, "a", NULL},
    {"17 bytes", "--mode test a --key-prefix abcdefghijklmnopq", CTL_EXIT_TOO_LONG, NULL, NULL},
};

START_TEST(test_commands)
{
    const char *words[WORDS_MAX];
    ctl_t ctl = {.pool = unit_pool, .command = &command};
    const int count = words_of(words, command_rows[_i].line);

    ck_assert_msg(ctl_options_command(&ctl, count, words) == command_rows[_i].want, "%s",
                  command_rows[_i].name);
    if (command_rows[_i].want == CTL_OK) {
        ck_assert_pstr_eq(ctl.arg[0], command_rows[_i].first);
        ck_assert_pstr_eq(ctl.arg[1], command_rows[_i].second);
    }
}
END_TEST

START_TEST(test_values)
{
    const char *words[WORDS_MAX];
    ctl_t ctl = {.pool = unit_pool, .command = &command};
    int count = words_of(words, "--mode live --return-host a --return-host b --yes x");

    ck_assert_int_eq(ctl_options_command(&ctl, count, words), CTL_OK);
    ck_assert_str_eq(ctl.option[CTL_OPTION_MODE], "live");
    ck_assert_str_eq(ctl.option[CTL_OPTION_RETURN_HOST], "a b");
    ck_assert_str_eq(ctl.option[CTL_OPTION_YES], "");
    ck_assert_ptr_null(ctl.option[CTL_OPTION_LIMIT]);
}
END_TEST

/* Notes are counted in characters, as the API counts them. */
START_TEST(test_notes)
{
    const int max = ctl_options[CTL_OPTION_CUSTOMER_NOTE].length_max;
    char *note = apr_pcalloc(unit_pool, 2 * ((apr_size_t)max + 1) + 1);
    const char *words[] = {"paymentsctl", "--mode", "test", "a", "--customer-note", note};
    ctl_t ctl = {.pool = unit_pool, .command = &command};
    int i;

    for (i = 0; i < max; i++) {
        memcpy(note + 2 * i, "\xc3\xbc", 2);
    }
    ck_assert_int_eq(ctl_options_command(&ctl, 6, words), CTL_OK);
    memcpy(note + 2 * i, "\xc3\xbc", 2);
    ctl.option[CTL_OPTION_CUSTOMER_NOTE] = ctl.option[CTL_OPTION_MODE] = NULL;
    ck_assert_int_eq(ctl_options_command(&ctl, 6, words), CTL_EXIT_TOO_LONG);
}
END_TEST

/* A list has an end, wherever the options come from. */
START_TEST(test_an_option_is_not_given_for_ever)
{
    char *value = apr_pcalloc(unit_pool, 4001);
    const char *words[] = {"paymentsctl",   "--mode", "test",          "a",
                           "--return-host", value,    "--return-host", value,
                           "--return-host", value,    "--return-host", value};
    ctl_t ctl = {.pool = unit_pool, .command = &command};

    memset(value, 'a', 4000);
    ck_assert_int_eq(ctl_options_command(&ctl, 10, words), CTL_OK);
    memset(ctl.option, 0, sizeof(ctl.option));
    ck_assert_int_eq(ctl_options_command(&ctl, 12, words), CTL_EXIT_TOO_LONG);
}
END_TEST

static const struct {
    const char *line;
    ctl_exit_t want;
    int next;
} global_rows[] = {
    {"", CTL_OK, 1},
    {"account list", CTL_OK, 1},
    {"-s lmdb:/x account --mode test", CTL_OK, 3},
    {"--json account", CTL_OK, 2},
    {"--help", CTL_OK, 2},
    {"--mode test account", CTL_EXIT_USAGE, 0},
    {"-s", CTL_EXIT_USAGE, 0},
};

START_TEST(test_before_the_noun)
{
    const char *words[WORDS_MAX];
    ctl_t ctl = {.pool = unit_pool};
    int count = words_of(words, global_rows[_i].line);
    int next;

    ck_assert_msg(ctl_options_global(&next, &ctl, count, words) == global_rows[_i].want, "%s",
                  global_rows[_i].line);
    ck_assert(global_rows[_i].want != CTL_OK || next == global_rows[_i].next);
}
END_TEST

/* ---- their values */

static const struct {
    const char *text; /* NULL: not given */
    ctl_exit_t want;
    apr_uint64_t limit;
} limit_rows[] = {
    {NULL, CTL_OK, 0},
    {"1", CTL_OK, 1},
    {"0001", CTL_OK, 1},
    {"1000000000", CTL_OK, 1000000000},
    {"1000000001", CTL_EXIT_ILLEGAL, 0},
    {"99999999999999999999999", CTL_EXIT_ILLEGAL, 0},
    {"0", CTL_EXIT_ILLEGAL, 0},
    {"", CTL_EXIT_ILLEGAL, 0},
    {"-1", CTL_EXIT_ILLEGAL, 0},
    {"1 ", CTL_EXIT_ILLEGAL, 0},
    {"1k", CTL_EXIT_ILLEGAL, 0},
};

START_TEST(test_limit)
{
    const ctl_t ctl = ctl_with(CTL_OPTION_LIMIT, limit_rows[_i].text);
    apr_uint64_t limit;

    ck_assert_msg(ctl_option_limit(&limit, &ctl) == limit_rows[_i].want, "%s", limit_rows[_i].text);
    ck_assert_uint_eq(limit, limit_rows[_i].limit);
}
END_TEST

#define MISSING 77

static const struct {
    const char *text;
    apr_int64_t seconds; /* -1: refused */
} overlap_rows[] = {
    {"0", 0},
    {"90s", 90},
    {"30m", 1800},
    {"24h", 86400},
    {"7d", 604800},
    {"366d", 31622400},
    {"31622400s", 31622400},
    {"8784h", 31622400},
    {"0s", 0},
    {"367d", -1},
    {"31622401s", -1},
    {"8785h", -1},
    {"527041m", -1},
    {"1", -1},
    {"s", -1},
    {"", -1},
    {"-1s", -1},
    {"1w", -1},
    {"1sec", -1},
    {"1.5h", -1},
    {"00", -1},
    {"1S", -1},
    {"9999999999999d", -1},
};

START_TEST(test_overlap)
{
    const ctl_t ctl = ctl_with(CTL_OPTION_OVERLAP, overlap_rows[_i].text);
    const ctl_t without = ctl_with(CTL_OPTION_OVERLAP, NULL);
    const apr_int64_t want = overlap_rows[_i].seconds;
    apr_interval_time_t overlap;

    ck_assert_msg(ctl_option_overlap(&overlap, &ctl, MISSING)
                      == (want < 0 ? CTL_EXIT_ILLEGAL : CTL_OK),
                  "%s", overlap_rows[_i].text);
    ck_assert_msg(overlap == (want < 0 ? 0 : apr_time_from_sec(want)), "%s: %lld",
                  overlap_rows[_i].text, (long long)overlap);
    ck_assert_int_eq(ctl_option_overlap(&overlap, &without, MISSING), CTL_OK);
    ck_assert_int_eq(overlap, MISSING);
}
END_TEST

START_TEST(test_words)
{
    static const struct {
        const char *text;
        int mode, kind, receipts; /* -2: refused */
    } rows[] = {
        {"test", PAY_TEST, -2, -2},
        {"live", PAY_LIVE, -2, -2},
        {"secret", -2, PAY_KEY_SECRET, -2},
        {"public", -2, PAY_KEY_PUBLIC, -2},
        {"on", -2, -2, 1},
        {"off", -2, -2, 0},
        {"Test", -2, -2, -2},
        {"ON", -2, -2, -2},
        {"", -2, -2, -2},
        {"lives", -2, -2, -2},
    };
    pay_key_kind_t kind;
    pay_mode_t mode;
    int i, receipts;
    ctl_t ctl;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        ctl = ctl_with(CTL_OPTION_MODE, rows[i].text);
        ck_assert_msg(ctl_option_mode(&mode, &ctl)
                          == (rows[i].mode < 0 ? CTL_EXIT_ILLEGAL : CTL_OK),
                      "--mode %s", rows[i].text);
        ck_assert(rows[i].mode < 0 || (int)mode == rows[i].mode);
        ctl = ctl_with(CTL_OPTION_KIND, rows[i].text);
        ck_assert_msg(ctl_option_kind(&kind, &ctl)
                          == (rows[i].kind < 0 ? CTL_EXIT_ILLEGAL : CTL_OK),
                      "--kind %s", rows[i].text);
        ck_assert(rows[i].kind < 0 || (int)kind == rows[i].kind);
        ctl = ctl_with(CTL_OPTION_RECEIPTS, rows[i].text);
        ck_assert_msg(ctl_option_receipts(&receipts, &ctl)
                          == (rows[i].receipts < 0 ? CTL_EXIT_ILLEGAL : CTL_OK),
                      "--receipts %s", rows[i].text);
        ck_assert(rows[i].receipts < 0 || receipts == rows[i].receipts);
    }
    ctl = ctl_with(CTL_OPTION_RECEIPTS, NULL);
    ck_assert_int_eq(ctl_option_receipts(&receipts, &ctl), CTL_OK);
    ck_assert_int_eq(receipts, -1);
}
END_TEST

START_TEST(test_format)
{
    static const struct {
        const char *text;
        int json; /* --json is given too */
        ctl_exit_t want;
        int as_json, as_csv;
    } rows[] = {
        {NULL, 0, CTL_OK, 0, 0},
        {NULL, 1, CTL_OK, 1, 0},
        {"csv", 0, CTL_OK, 0, 1},
        {"csv", 1, CTL_EXIT_USAGE, 0, 0},
        {"json", 0, CTL_OK, 1, 0},
        {"json", 1, CTL_OK, 1, 0},
        {"CSV", 0, CTL_EXIT_ILLEGAL, 0, 0},
        {"", 0, CTL_EXIT_ILLEGAL, 0, 0},
    };
    ctl_t ctl;
    int i;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        ctl = ctl_with(CTL_OPTION_FORMAT, rows[i].text);
        ctl.json = rows[i].json;
        ck_assert_msg(ctl_option_format(&ctl) == rows[i].want, "%s %d", rows[i].text, rows[i].json);
        if (rows[i].want == CTL_OK) {
            ck_assert_int_eq(ctl.json, rows[i].as_json);
            ck_assert_int_eq(ctl.csv, rows[i].as_csv);
        }
    }
}
END_TEST

/* ---- commands */

static const struct {
    const char *words;
    const char *found; /* NULL: none */
    int known;
} find_rows[] = {
    {"account create", "account create", 1},
    {"account", NULL, 1},
    {"totals", "totals", 1},
    {"webhook secret show", "webhook secret show", 1},
    {"webhook secret", NULL, 1},
    {"webhook", NULL, 1},
    {"accounts", NULL, 0},
    {"acc", NULL, 0},
    {"account creat", NULL, 0},
    {"account created", NULL, 0},
    {"totals totals", NULL, 0},
};

START_TEST(test_find)
{
    const char *words[WORDS_MAX];
    int known, count = words_of(words, find_rows[_i].words);
    const ctl_command_t *found = ctl_command_find(&known, words + 1, count - 1);

    ck_assert_msg(find_rows[_i].found ? found && !strcmp(found->name, find_rows[_i].found) : !found,
                  "%s", find_rows[_i].words);
    ck_assert_msg(known == find_rows[_i].known, "%s", find_rows[_i].words);
}
END_TEST

/* Each is found by its name, requires no option twice, and takes no more words than there are. */
START_TEST(test_table)
{
    const char *words[WORDS_MAX];
    const ctl_command_t *one;
    int i, count, known;

    for (i = 0; (one = ctl_command_at(i)) != NULL; i++) {
        count = words_of(words, one->name) - 1;
        ck_assert_int_le(count, CTL_WORDS_MAX);
        ck_assert_ptr_eq(ctl_command_find(&known, words + 1, count), one);
        ck_assert_msg(!(one->required & one->optional), "%s", one->name);
        ck_assert_int_le(one->args_min, one->args_max);
        ck_assert_int_le(one->args_max, CTL_ARGS_MAX);
        /* Commands that move or remove money leave an entry with the person's name. */
        if (strstr(one->name, "resolve") || strstr(one->name, "revoke")
            || strstr(one->name, "erase")) {
            ck_assert_msg(ctl_open_is_audited(one->open), "%s", one->name);
        }
    }
    ck_assert_int_gt(i, 40);
}
END_TEST

START_TEST(test_exits)
{
    static const struct {
        apr_status_t status;
        ctl_exit_t want;
    } rows[] = {
        {APR_NOTFOUND, CTL_EXIT_REFUSED},
        {APR_EEXIST, CTL_EXIT_REFUSED},
        {PAY_STORE_EUNKNOWN, CTL_EXIT_UNKNOWN},
        {PAY_STORE_ESCHEMA, CTL_EXIT_NOT_VALID},
        {PAY_STORE_ECORRUPT, CTL_EXIT_NOT_VALID},
        {PAY_STORE_EDOWN, CTL_EXIT_ACCESS},
        {APR_EACCES, CTL_EXIT_ACCESS},
    };
    int i;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        ck_assert_int_eq(ctl_exit_of_status(rows[i].status), rows[i].want);
        ck_assert_int_eq(ctl_fail_status(rows[i].status, "test"), rows[i].want);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_commands, 0, UNIT_ROWS(command_rows));
    tcase_add_test(tcase, test_values);
    tcase_add_test(tcase, test_notes);
    tcase_add_test(tcase, test_an_option_is_not_given_for_ever);
    tcase_add_loop_test(tcase, test_before_the_noun, 0, UNIT_ROWS(global_rows));
    tcase_add_loop_test(tcase, test_limit, 0, UNIT_ROWS(limit_rows));
    tcase_add_loop_test(tcase, test_overlap, 0, UNIT_ROWS(overlap_rows));
    tcase_add_test(tcase, test_words);
    tcase_add_test(tcase, test_format);
    tcase_add_loop_test(tcase, test_find, 0, UNIT_ROWS(find_rows));
    tcase_add_test(tcase, test_table);
    tcase_add_test(tcase, test_exits);
}

UNIT_PROGRAM(add)
