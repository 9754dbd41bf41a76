/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/options.h"

#include "base/text/timezone.h"
#include "ctl/message.h"
#include "model/checkout.h"
#include "model/email.h"
#include "model/outcome.h"
#include "model/shop.h"
#include "model/text.h"
#include "service/account/keys.h"

#include <apr_getopt.h>
#include <apr_strings.h>
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GETOPT_MESSAGE_SIZE 200
#define GETOPT_CODE_FIRST 256 /* above every letter */
#define LIST_LEN_MAX 8192     /* bytes of all values of a repeatable option */

/* clang-format off */
const ctl_option_t ctl_options[CTL_OPTION_COUNT] = {
    [CTL_OPTION_STORE] = { "store", 's', "lmdb:DIR",
        "the store; default: the environment's PAYMENTS_STORE", 0, 0 },
    [CTL_OPTION_MASTER_KEY] = { "master-key", 0, "FILE",
        "the master key (default: DIR.key, beside the store)", 0, 0 },
    [CTL_OPTION_JSON] = { "json", 0, NULL, "print JSON", 0, 0 },
    [CTL_OPTION_HELP] = { "help", 'h', NULL, "print this help", 0, 0 },
    [CTL_OPTION_MODE] = { "mode", 0, "test|live", "Test Mode or Live Mode", 0, 0 },
    [CTL_OPTION_KIND] = { "kind", 0, "secret|public", "kind of key", 0, 0 },
    [CTL_OPTION_OVERLAP] = { "overlap", 0, "DURATION",
        "how long the old one keeps working: 90s, 30m, 24h, 7d; 0: not at all", 0, 0 },
    [CTL_OPTION_KEY_PREFIX] = { "key-prefix", 0, "TEXT",
        "prefix of new keys", PAY_KEY_PREFIX_MAX, 0 },
    [CTL_OPTION_CURRENCY] = { "currency", 0, "CODE",
        "ISO 4217 currency; of an account: for charges without one", 0, 0 },
    [CTL_OPTION_TIMEZONE] = { "timezone", 0, "ZONE",
        "IANA time zone of bare dates, such as Africa/Lagos", PAY_TIMEZONE_NAME_MAX, 0 },
    [CTL_OPTION_CARD] = { "card", 0, "NUMBER", "a card of Test Mode", 0, 0 },
    [CTL_OPTION_EMAIL] = { "email", 0, "ADDRESS",
        "the payer's e-mail address", PAY_EMAIL_MAX, 0 },
    [CTL_OPTION_TOKEN] = { "token", 0, "TEXT",
        "the token's text (default: a random one)", PAY_TOKEN_TEXT_MAX, 0 },
    [CTL_OPTION_REFERENCE] = { "reference", 0, "TEXT",
        "reference of the charge, or of the new link", PAY_REFERENCE_MAX, 0 },
    [CTL_OPTION_AMOUNT] = { "amount", 0, "NUMBER",
        "in major units, such as 12.50; a refund without it: all", PAY_MONEY_LITERAL_MAX, 0 },
    [CTL_OPTION_CUSTOMER_NOTE] = { "customer-note", 0, "TEXT",
        "a note that the payer may see", PAY_NOTE_MAX, 0 },
    [CTL_OPTION_MERCHANT_NOTE] = { "merchant-note", 0, "TEXT",
        "a note for the merchant", PAY_NOTE_MAX, 0 },
    [CTL_OPTION_FROM] = { "from", 0, "DATE",
        "created on or after this yyyy-MM-dd; in lists also an RFC 3339 time", 0, 0 },
    [CTL_OPTION_TO] = { "to", 0, "DATE",
        "created on or before this yyyy-MM-dd; in lists also an RFC 3339 time", 0, 0 },
    [CTL_OPTION_LIMIT] = { "limit", 0, "N", "at most the first N rows (default: all)", 0, 0 },
    [CTL_OPTION_BY] = { "by", 0, "day|month", "a row for each day or month", 0, 0 },
    [CTL_OPTION_FORMAT] = { "format", 0, "csv|json",
        "print CSV, or JSON like --json, instead of a table", 0, 0 },
    [CTL_OPTION_DRY_RUN] = { "dry-run", 0, NULL, "print what would be done, and do nothing", 0, 0 },
    [CTL_OPTION_PARKED] = { "parked", 0, NULL, "only parked ones", 0, 0 },
    [CTL_OPTION_ALL] = { "all", 0, NULL, "all that are parked, instead of one ID", 0, 0 },
    [CTL_OPTION_ONCE] = { "once", 0, NULL,
        "end once nothing is due; for a link: one payer pays it, once", 0, 0 },
    [CTL_OPTION_MERCHANT_ADDRESS] = { "merchant-address", 0, "ADDRESS|off",
        "who gets notices of payments and refunds", PAY_EMAIL_MAX, 0 },
    [CTL_OPTION_RECEIPTS] = { "receipts", 0, "on|off", "whether payers get receipts", 0, 0 },
    [CTL_OPTION_TEST_RECIPIENT] = { "test-recipient", 0, "ADDRESS|@DOMAIN",
        "a payer who gets receipts of Test Mode; given again: another (\"\": none)",
        PAY_EMAIL_MAX, 1 },
    [CTL_OPTION_OUTCOME] = { "outcome", 0, "WORD",
        "successful or failed; of a refund processed or failed", 0, 0 },
    [CTL_OPTION_REASON] = { "reason", 0, "TEXT",
        "the reason, which is kept in the record", PAY_RESOLUTION_MAX, 0 },
    [CTL_OPTION_NO_WAIT] = { "no-wait", 0, NULL, "request it, and do not wait for the end", 0, 0 },
    [CTL_OPTION_HOST] = { "host", 0, "NAME",
        "the virtual host of the dashboard", 0, 0 },
    [CTL_OPTION_ROLE] = { "role", 0, "owner|operator|viewer",
        "what the user may do there", 0, 0 },
    [CTL_OPTION_SHOP_NAME] = { "shop-name", 0, "TEXT",
        "what payers see on payment pages (\"\": NAME)", PAY_SHOP_NAME_MAX, 0 },
    [CTL_OPTION_SHOP_LOGO] = { "shop-logo", 0, "PATH",
        "a picture on the payment pages' own host, such as /logo.png (\"\": none)",
        PAY_SHOP_LOGO_MAX, 0 },
    [CTL_OPTION_SHOP_TEXT] = { "shop-text", 0, "TEXT",
        "plain text below the amount on payment pages (\"\": none)", PAY_SHOP_TEXT_MAX, 0 },
    [CTL_OPTION_RETURN_HOST] = { "return-host", 0, "HOST",
        "redirectUrl of public keys may name it; given again: another (\"\": any)", 0, 1 },
    [CTL_OPTION_FEE] = { "fee", 0, "RULE",
        "the acquirer's fee, such as \"NGN 1.5% + 100.00\"; again: another (\"\": none)", 0, 1 },
    [CTL_OPTION_STATE] = { "state", 0, "WORD",
        "only those that are " PAY_CHARGE_WORDS, 0, 0 },
    [CTL_OPTION_YES] = { "yes", 0, NULL, "do it without asking", 0, 0 },
    [CTL_OPTION_UNSYNCED] = { "unsynced", 0, NULL,
        "even if an acquirer's refunds were not fetched since", 0, 0 },
    [CTL_OPTION_XML] = { "xml", 0, NULL, "in the form 4096!<RSAKeyValue>...", 0, 0 },
    [CTL_OPTION_BASE64] = { "base64", 0, NULL, "with --xml: the base64 of it", 0, 0 },
    [CTL_OPTION_TITLE] = { "title", 0, "TEXT",
        "the heading of the link's page", PAY_CHECKOUT_TEXT_MAX, 0 },
    [CTL_OPTION_DESCRIPTION] = { "description", 0, "TEXT",
        "the description below the title", PAY_CHECKOUT_TEXT_MAX, 0 },
    [CTL_OPTION_EXPIRES] = { "expires", 0, "WHEN",
        "last yyyy-MM-dd, or RFC 3339 time, of it (default: never)", 0, 0 },
    [CTL_OPTION_REDIRECT] = { "redirect", 0, "URL",
        "where payers return to", PAY_CHECKOUT_URL_MAX, 0 },
    [CTL_OPTION_SITE] = { "site", 0, "URL",
        "the server's address, such as https://shop.example, to print whole links", 0, 0 },
};
/* clang-format on */

_Static_assert(CTL_OPTION_COUNT <= 8 * sizeof(apr_uint64_t), "CTL_O() is a bit of 64");

/* Where to read more: "paymentsctl key create --help", or the general help before a command. */
static const char *help_hint(const ctl_t *ctl)
{
    if (!ctl->command) {
        return "paymentsctl --help";
    }
    return apr_pstrcat(ctl->pool, "paymentsctl ", ctl->command->name, " --help", NULL);
}

/* apr_getopt writes "program: what: which\n"; stored to become part of our own sentence. */
static void getopt_message(void *baton, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void getopt_message(void *baton, const char *format, ...)
{
    char *message = baton;
    va_list args;

    va_start(args, format);
    apr_vsnprintf(message, GETOPT_MESSAGE_SIZE, format, args);
    va_end(args);
    message[strcspn(message, "\n")] = '\0';
}

/* Text for people is counted in characters, as in the API; everything else in bytes. */
static int is_text(int id)
{
    static const int texts[] = {CTL_OPTION_CUSTOMER_NOTE, CTL_OPTION_MERCHANT_NOTE,
                                CTL_OPTION_SHOP_NAME,     CTL_OPTION_SHOP_TEXT,
                                CTL_OPTION_TITLE,         CTL_OPTION_DESCRIPTION};
    apr_size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* Appends a value of a repeatable option. */
static ctl_exit_t option_add(ctl_t *ctl, int id, const char *value)
{
    if (strlen(ctl->option[id]) > LIST_LEN_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "--%s is given too often", ctl_options[id].name);
    }
    ctl->option[id] = apr_pstrcat(ctl->pool, ctl->option[id], " ", value, NULL);
    return CTL_OK;
}

static ctl_exit_t option_take(ctl_t *ctl, int id, const char *value)
{
    const ctl_option_t *option = &ctl_options[id];
    apr_size_t length = 0;

    if (ctl->option[id] && !option->is_list) {
        return ctl_fail(CTL_EXIT_USAGE, "--%s is given twice; see '%s'", option->name,
                        help_hint(ctl));
    }
    if (value) {
        length = is_text(id) ? pay_text_length(value) : strlen(value);
    }
    if (option->length_max && length > (apr_size_t)option->length_max) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "--%s: want at most %d %s, got %" APR_SIZE_T_FMT,
                        option->name, option->length_max, is_text(id) ? "characters" : "bytes",
                        length);
    }
    if (ctl->option[id] && value) {
        return option_add(ctl, id, value);
    }
    ctl->option[id] = value ? value : "";
    return CTL_OK;
}

/* Reads the options of `allowed`; the rest begins at (*os)->ind of (*os)->argv. */
static ctl_exit_t options_read(apr_getopt_t **os, ctl_t *ctl, apr_uint64_t allowed, int interleave,
                               int argc, const char *const *argv)
{
    apr_getopt_option_t table[CTL_OPTION_COUNT + 1] = {{0}};
    char message[GETOPT_MESSAGE_SIZE] = "";
    const char *value = NULL;
    ctl_exit_t failed;
    apr_status_t rv;
    int count = 0;
    int ch = 0;
    int id;

    for (id = 0; id < CTL_OPTION_COUNT; id++) {
        const ctl_option_t *option = &ctl_options[id];

        if (allowed & (APR_UINT64_C(1) << id)) {
            table[count].name = option->name;
            table[count].optch = option->letter ? option->letter : GETOPT_CODE_FIRST + id;
            table[count].has_arg = option->value != NULL;
            count++;
        }
    }
    apr_getopt_init(os, ctl->pool, argc, argv);
    (*os)->interleave = interleave;
    (*os)->errfn = getopt_message;
    (*os)->errarg = message;

    rv = apr_getopt_long(*os, table, &ch, &value);
    while (rv == APR_SUCCESS) {
        for (id = 0; id < CTL_OPTION_COUNT; id++) {
            if (ch == ctl_options[id].letter || ch == GETOPT_CODE_FIRST + id) {
                break;
            }
        }
        assert(id < CTL_OPTION_COUNT);
        failed = option_take(ctl, id, ctl_options[id].value ? value : NULL);
        if (failed) {
            return failed;
        }
        rv = apr_getopt_long(*os, table, &ch, &value);
    }
    if (rv != APR_EOF) {
        const char *colon = strchr(message, ':');

        return ctl_fail(CTL_EXIT_USAGE, "%s; see '%s'", colon ? colon + 2 : "invalid option",
                        help_hint(ctl));
    }
    return CTL_OK;
}

ctl_exit_t ctl_options_global(int *next, ctl_t *ctl, int argc, const char *const *argv)
{
    apr_getopt_t *os;
    ctl_exit_t failed;

    *next = argc;
    failed = options_read(&os, ctl, CTL_OPTIONS_COMMON, 0, argc, argv);
    if (failed) {
        return failed;
    }
    *next = os->ind;
    return CTL_OK;
}

ctl_exit_t ctl_options_command(ctl_t *ctl, int argc, const char *const *argv)
{
    const ctl_command_t *command = ctl->command;
    apr_getopt_t *os;
    ctl_exit_t failed;
    int count, i;

    assert(command->args_max <= CTL_ARGS_MAX);
    failed = options_read(&os, ctl, command->required | command->optional | CTL_OPTIONS_COMMON, 1,
                          argc, argv);
    if (failed || ctl->option[CTL_OPTION_HELP]) {
        return failed;
    }
    count = argc - os->ind;
    if (count < command->args_min || count > command->args_max) {
        return ctl_fail(CTL_EXIT_USAGE, "%s argument; see '%s'",
                        count < command->args_min ? "missing" : "unexpected", help_hint(ctl));
    }
    for (i = 0; i < count; i++) {
        ctl->arg[i] = os->argv[os->ind + i];
    }
    for (i = 0; i < CTL_OPTION_COUNT; i++) {
        if ((command->required & (APR_UINT64_C(1) << i)) && !ctl->option[i]) {
            return ctl_fail(CTL_EXIT_USAGE, "--%s is missing; see '%s'", ctl_options[i].name,
                            help_hint(ctl));
        }
    }
    return CTL_OK;
}

ctl_exit_t ctl_option_mode(pay_mode_t *out, const ctl_t *ctl)
{
    apr_status_t rv;

    *out = PAY_TEST;
    rv = pay_mode_parse(out, ctl->option[CTL_OPTION_MODE]);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--mode: want test or live");
    }
    return CTL_OK;
}

ctl_exit_t ctl_option_kind(pay_key_kind_t *out, const ctl_t *ctl)
{
    apr_status_t rv;

    *out = PAY_KEY_SECRET;
    rv = pay_key_kind_parse(out, ctl->option[CTL_OPTION_KIND]);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--kind: want secret or public");
    }
    return CTL_OK;
}

/* Reads digits only, 0 to `max`; sets *end to the text after them. Returns 0 without a digit or if
 * the number exceeds `max`. */
static int digits_read(apr_int64_t *out, const char **end, const char *text, apr_int64_t max)
{
    apr_int64_t value = 0;

    for (*end = text; **end >= '0' && **end <= '9'; (*end)++) {
        value = value * 10 + (**end - '0');
        if (value > max) {
            return 0;
        }
    }
    *out = value;
    return *end > text;
}

ctl_exit_t ctl_option_limit(apr_uint64_t *out, const ctl_t *ctl)
{
    const char *text = ctl->option[CTL_OPTION_LIMIT];
    const char *end;
    apr_int64_t number;

    *out = 0;
    if (!text) {
        return CTL_OK;
    }
    if (!digits_read(&number, &end, text, CTL_LIMIT_MAX) || *end || number == 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--limit: want a whole number from 1 to %d",
                        CTL_LIMIT_MAX);
    }
    *out = (apr_uint64_t)number;
    return CTL_OK;
}

ctl_exit_t ctl_option_overlap(apr_interval_time_t *out, const ctl_t *ctl,
                              apr_interval_time_t missing)
{
    const char *text = ctl->option[CTL_OPTION_OVERLAP];

    *out = text ? 0 : missing;
    if (!text || strcmp(text, "0") == 0 || pay_overlap_parse(out, text) == APR_SUCCESS) {
        return CTL_OK;
    }
    return ctl_fail(CTL_EXIT_ILLEGAL, "--overlap: " PAY_OVERLAP_FAULT);
}

ctl_exit_t ctl_option_receipts(int *out, const ctl_t *ctl)
{
    const char *text = ctl->option[CTL_OPTION_RECEIPTS];

    *out = -1;
    if (!text) {
        return CTL_OK;
    }
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--receipts: want on or off");
    }
    *out = strcmp(text, "on") == 0;
    return CTL_OK;
}

ctl_exit_t ctl_option_format(ctl_t *ctl)
{
    const char *text = ctl->option[CTL_OPTION_FORMAT];

    if (!text) {
        return CTL_OK;
    }
    ctl->csv = strcmp(text, "csv") == 0;
    if (!ctl->csv && strcmp(text, "json") != 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--format: want csv or json");
    }
    if (ctl->csv && ctl->json) {
        return ctl_fail(CTL_EXIT_USAGE, "--format csv and --json exclude each other; see '%s'",
                        help_hint(ctl));
    }
    ctl->json = !ctl->csv;
    return CTL_OK;
}
