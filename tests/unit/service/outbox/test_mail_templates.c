/* SPDX-License-Identifier: Apache-2.0 */
#include "mail_fixture.h"

#include <apr_file_io.h>

static void write_file(const char *dir, const char *name, const char *text)
{
    const char *path = apr_pstrcat(unit_pool, dir, "/", name, NULL);
    apr_file_t *file;

    ck_assert_int_eq(apr_file_open(&file, path,
                                   APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_TRUNCATE,
                                   APR_FPROT_OS_DEFAULT, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(apr_file_write_full(file, text, strlen(text), NULL), APR_SUCCESS);
    ck_assert_int_eq(apr_file_close(file), APR_SUCCESS);
}

/*
 * From now on the templates are in a directory of its own; missing ones are the installed
 * ones.
 */
static const char *own_templates(mail_fixture_t *mail)
{
    const char *dir = unit_dir();

    mail->delivery.mail_templates = dir;
    pay_mail_set_installed(TEMPLATES);
    return dir;
}

/* ---- what names stand for */

static const struct {
    const char *name;
    const char *receipt; /* NULL: not for receipts */
    const char *notice;  /* NULL: as in receipts */
} names[] = {
    {"account", "my-shop", NULL},
    {"amount", "1234.50", NULL},
    {"authorization_code", "L5K7O4", NULL},
    {"card", "Mastercard debit **** 4444", NULL},
    {"card_issuer", "Mastercard", NULL},
    {"card_last4", "4444", NULL},
    {"card_type", "debit", NULL},
    {"code", NULL, "00"},
    {"currency", "NGN", NULL},
    {"customer_email", NULL, "ada@example.com"},
    {"customer_name", "Ada Obi", NULL},
    {"customer_note", "We are sorry", NULL},
    {"date", "2026-11-21 14:30 (UTC+01:00)", NULL},
    {"endpoint_error", NULL, ""},
    {"endpoint_status", NULL, ""},
    {"endpoint_tries", NULL, ""},
    {"event_date", NULL, "2026-11-21 14:30 (UTC+01:00)"},
    {"event_id", "evt_02000000000000002a00000002", "evt_03000000000000002a00000002"},
    {"event_name", NULL, "refund processed"},
    {"merchant_note", NULL, "came broken"},
    {"message", "Approved by bank", NULL},
    {"mode", "test", NULL},
    {"mode_test", "TEST MODE", NULL},
    {"payment_date", "2026-11-21 13:30 (UTC+01:00)", NULL},
    {"reference", "order-1", NULL},
    {"refund_amount", "0.50", NULL},
    {"refund_reference", "rfd_1", NULL},
    {"status", "processed", NULL},
};

static void check_name(pay_endpoint_kind_t endpoint, const char *file, const char *name,
                       const char *want)
{
    mail_fixture_t *mail = mail_fixture_make(endpoint, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED);
    const char *got, *dir = own_templates(mail);
    const char *text = apr_psprintf(unit_pool, "Subject: s\n\n[{{%s}}]", name);

    write_file(dir, apr_pstrcat(unit_pool, file, ".txt", NULL), text);
    if (!want) {
        ck_assert_int_eq(make(mail), APR_EGENERAL);
        ck_assert_str_eq(mail->fault,
                         apr_psprintf(unit_pool, "%s/%s.txt: line 3: There is no {{%s}} here.", dir,
                                      file, name));
        ck_assert_str_eq(pay_mail_templates_fault(dir, unit_pool), mail->fault);
        return;
    }
    made(mail);
    got = text_of(mail);
    if (strcmp(name, "event_id") == 0) { /* a digest follows the place */
        ck_assert_uint_eq(strlen(got), PAY_EVENT_ID_LEN + 2);
        got = apr_pstrcat(unit_pool, apr_pstrndup(unit_pool, got, strlen(want) + 1), "]", NULL);
    }
    ck_assert_msg(!strcmp(got, apr_psprintf(unit_pool, "[%s]", want)), "%s: %s", name, got);
    ck_assert_ptr_null(pay_mail_templates_fault(dir, unit_pool));
}

START_TEST(test_names)
{
    check_name(PAY_ENDPOINT_RECEIPT, "receipt-refunded", names[_i].name, names[_i].receipt);
    check_name(PAY_ENDPOINT_NOTICE, "notice-refunded", names[_i].name,
               names[_i].notice ? names[_i].notice : names[_i].receipt);
}
END_TEST

static const struct {
    const char *currency;
    const char *amount;
} amount_rows[] = {
    {"NGN", "1234.50"},
    {"JPY", "123450"},
    {"KWD", "123.450"},
    {"CLF", "12.3450"},
};

START_TEST(test_amounts)
{
    mail_fixture_t *mail = receipt();

    memcpy(mail->charge.money.currency, amount_rows[_i].currency, 4);
    made(mail);
    ck_assert_str_eq(header(mail, "Subject"),
                     apr_pstrcat(unit_pool, "[TEST] Receipt from my-shop: ",
                                 amount_rows[_i].currency, " ", amount_rows[_i].amount, NULL));
}
END_TEST

static const struct {
    const char *zone;
    const char *date;
} zone_rows[] = {
    {"UTC", "[2026-11-21 13:30 (UTC)]"},
    {"Africa/Lagos", "[2026-11-21 14:30 (UTC+01:00)]"},
    {"America/St_Johns", "[2026-11-21 10:00 (UTC-03:30)]"},
    {"Asia/Kathmandu", "[2026-11-21 19:15 (UTC+05:45)]"},
    {"Pacific/Kiritimati", "[2026-11-22 03:30 (UTC+14:00)]"},
    {"Nowhere/Land", "[2026-11-21 13:30 (UTC)]"}, /* the zone's file is gone */
};

START_TEST(test_zones)
{
    mail_fixture_t *mail = receipt();

    write_file(own_templates(mail), "receipt-successful.txt", "Subject: s\n\n[{{date}}]");
    mail->account.settings.timezone = zone_rows[_i].zone;
    made(mail);
    ck_assert_str_eq(text_of(mail), zone_rows[_i].date);
}
END_TEST

/* ---- a shop's own */

/* Each file by itself: the shop's own files are used, for the rest the installed ones. */
START_TEST(test_own)
{
    mail_fixture_t *mail = receipt();
    const char *dir = own_templates(mail);

    made(mail);
    ck_assert_ptr_nonnull(strstr(text_of(mail), "Thank you"));
    write_file(dir, "receipt-successful.html", "<p title=\"{{customer_name}}\">\n");
    mail->charge.first_name = "<\"&'>";
    made(mail);
    ck_assert_str_eq(html_of(mail), "<p title=\"&lt;&quot;&amp;&#39;&gt; Obi\">\r\n");
    ck_assert_ptr_nonnull(strstr(text_of(mail), "Thank you"));
    write_file(dir, "receipt-successful.txt", "Subject: \xc3\x9c {{customer_name}}\r\n\r\nHi\r\n");
    made(mail);
    ck_assert_str_eq(text_of(mail), "Hi\r\n");
    ck_assert_str_eq(header(mail, "Subject"), "=?UTF-8?B?W1RFU1RdIMOcIDwiJic+IE9iaQ==?=");
    ck_assert_ptr_null(pay_mail_templates_fault(dir, unit_pool));
    /* It changes from one mail to the next. */
    write_file(dir, "receipt-successful.txt", "Subject: Other\n\n");
    made(mail);
    ck_assert_str_eq(text_of(mail), "");
    ck_assert_str_eq(header(mail, "Subject"), "[TEST] Other");
}
END_TEST

/* Parts are looked for as templates are: a shop's own in installed templates, and the reverse. */
START_TEST(test_own_parts)
{
    mail_fixture_t *mail = receipt();
    const char *installed, *dir = own_templates(mail);

    made(mail);
    installed = html_of(mail);
    write_file(dir, "foot.html", "[{{account}}]");
    made(mail);
    ck_assert_ptr_nonnull(strstr(html_of(mail), "[my-shop]"));
    ck_assert_int_eq(strncmp(html_of(mail), installed, 1000), 0);
    ck_assert_ptr_null(strstr(html_of(mail), "</html>"));
    ck_assert_ptr_null(pay_mail_templates_fault(dir, unit_pool));
    write_file(dir, "receipt-successful.html", "<p>\n{{>test_mode}}\n{{>foot}}");
    made(mail);
    ck_assert_int_eq(strncmp(html_of(mail), "<p>\r\n<tr>\r\n", 11), 0);
    ck_assert_ptr_nonnull(strstr(html_of(mail), "</tr>\r\n[my-shop]"));
    /* Those of a text end as it does. */
    write_file(dir, "foot.txt", "Bye\n");
    write_file(dir, "receipt-successful.txt", "Subject: s\n\n{{>foot}}\n");
    made(mail);
    ck_assert_str_eq(text_of(mail), "Bye\r\n");
    write_file(dir, "foot.html", "\n{{nobody}}");
    ck_assert_int_eq(make(mail), APR_EGENERAL);
    ck_assert_str_eq(mail->fault,
                     apr_psprintf(unit_pool,
                                  "%s/receipt-successful.html: line 3: %s/foot.html: line 2: "
                                  "There is no {{nobody}} here.",
                                  dir, dir));
    ck_assert_str_eq(pay_mail_templates_fault(dir, unit_pool), mail->fault);
}
END_TEST

/* Reported at the start, as a missing template is, with the place where it should be. */
START_TEST(test_missing_part)
{
    mail_fixture_t *mail = receipt();
    const char *dir = own_templates(mail);
    const char *want = apr_pstrcat(unit_pool, dir, "/receipt-successful.html: line 1: ", TEMPLATES,
                                   "/gone.html: ", NULL);

    write_file(dir, "receipt-successful.html", "{{>gone}}\n");
    ck_assert_int_eq(make(mail), APR_EGENERAL);
    ck_assert_msg(!strncmp(mail->fault, want, strlen(want)), "%s", mail->fault);
    ck_assert_str_eq(pay_mail_templates_fault(dir, unit_pool), mail->fault);
}
END_TEST

static const struct {
    const char *name;
    const char *file;
    const char *text;
    const char *fault;
} fault_rows[] = {
    {"no subject", "receipt-successful.txt", "Hello\n\nHello\n",
     "line 1: It must be \"Subject: \" and the subject, and line 2 empty."},
    {"empty", "receipt-successful.txt", "",
     "line 1: It must be \"Subject: \" and the subject, and line 2 empty."},
    {"line 2 is not empty", "receipt-successful.txt", "Subject: s\nHello\n\nHello\n",
     "line 1: It must be \"Subject: \" and the subject, and line 2 empty."},
    {"a subject alone", "receipt-successful.txt", "Subject: s\n",
     "line 1: It must be \"Subject: \" and the subject, and line 2 empty."},
    {"a name in the subject", "receipt-successful.txt", "Subject: {{x}}\n\n",
     "line 1: There is no {{x}} here."},
    {"a part in the subject", "receipt-successful.txt", "Subject: {{>head}}\n\n",
     "line 1: There is no {{>head}} here."},
    {"a section from subject to text", "receipt-successful.txt",
     "Subject: {{#amount}}\n\n{{/amount}}", "line 1: {{#amount}} has no end."},
    {"a name in the text", "receipt-successful.txt", "Subject: s\n\na\nb {{x}}\n",
     "line 4: There is no {{x}} here."},
    {"a name in HTML", "receipt-successful.html", "<p>\n{{x}}\n",
     "line 2: There is no {{x}} here."},
    {"not UTF-8", "receipt-successful.html", "\xff", "It has control characters, or is not UTF-8."},
};

START_TEST(test_faults)
{
    mail_fixture_t *mail = receipt();
    const char *dir = own_templates(mail);
    const char *want =
        apr_pstrcat(unit_pool, dir, "/", fault_rows[_i].file, ": ", fault_rows[_i].fault, NULL);

    write_file(dir, fault_rows[_i].file, fault_rows[_i].text);
    ck_assert_int_eq(make(mail), APR_EGENERAL);
    ck_assert_msg(!strcmp(mail->fault, want), "%s: %s", fault_rows[_i].name, mail->fault);
    ck_assert_ptr_null(mail->transfer.mail_to);
    ck_assert_str_eq(pay_mail_templates_fault(dir, unit_pool), want);
}
END_TEST

/* The templates of each mail are checked, its text and its HTML. */
START_TEST(test_all_are_checked)
{
    static const char *const files[] = {
        "receipt-successful", "receipt-refunded", "notice-successful", "notice-failed",
        "notice-refunded",    "notice-parked",    "confirmation",      "test"};
    const char *dir = unit_dir();
    const char *file = apr_pstrcat(unit_pool, files[_i / 2], _i % 2 ? ".html" : ".txt", NULL);

    pay_mail_set_installed(TEMPLATES);
    ck_assert_ptr_null(pay_mail_templates_fault(dir, unit_pool));
    write_file(dir, file, "Subject: s\n\n{{x}}");
    ck_assert_str_eq(
        pay_mail_templates_fault(dir, unit_pool),
        apr_pstrcat(unit_pool, dir, "/", file, ": line 3: There is no {{x}} here.", NULL));
}
END_TEST

START_TEST(test_missing)
{
    mail_fixture_t *mail = receipt();
    const char *dir = own_templates(mail);
    const char *none = apr_pstrcat(unit_pool, dir, "/none", NULL);
    const char *file = apr_pstrcat(unit_pool, dir, "/file", NULL);

    ck_assert_ptr_null(pay_mail_templates_fault("", unit_pool));
    write_file(dir, "file", "");
    ck_assert_ptr_nonnull(strstr(pay_mail_templates_fault(none, unit_pool), none));
    ck_assert_ptr_nonnull(strstr(pay_mail_templates_fault(file, unit_pool), file));
    mail->delivery.mail_templates = file;
    ck_assert_int_ne(make(mail), APR_SUCCESS);
    ck_assert_ptr_nonnull(strstr(mail->fault, file));
    /* Neither directory has it: the message says where it should be. */
    pay_mail_set_installed(none);
    ck_assert_str_eq(pay_mail_installed(), none);
    mail->delivery.mail_templates = "";
    ck_assert(APR_STATUS_IS_ENOENT(make(mail)));
    ck_assert_ptr_nonnull(strstr(mail->fault, "/none/receipt-successful.txt"));
    ck_assert_ptr_nonnull(strstr(pay_mail_templates_fault("", unit_pool), none));
    pay_mail_set_installed(NULL);
    ck_assert_str_ne(pay_mail_installed(), none);
}
END_TEST

/* ---- addresses */

#define NOT_ONE "The recipient's address is not one e-mail address."
#define WIDE                                                                                       \
    "The recipient's address has non-ASCII characters, which mail relays need not support "        \
    "(SMTPUTF8)."

static const struct {
    const char *name;
    const char *address;
    apr_status_t want;
    const char *fault;
} address_rows[] = {
    {"one", "ada@example.com", APR_SUCCESS, NULL},
    {"capitals and blanks", " ADA@example.com", APR_SUCCESS, NULL},
    {"none", "", APR_NOTFOUND, NULL},
    {"two", "ada@example.com,bob@example.com", APR_EINVAL, NOT_ONE},
    {"a name", "Ada <ada@example.com>", APR_EINVAL, NOT_ONE},
    {"a header", "ada@example.com\r\nBcc: bob@example.com", APR_EINVAL, NOT_ONE},
    {"a parameter", "ada@example.com> SIZE=1", APR_EINVAL, NOT_ONE},
    {"no domain", "ada", APR_EINVAL, NOT_ONE},
    {"beyond ASCII", "j\xc3\xbcrgen@example.com", APR_EINVAL, WIDE},
    {"a domain beyond ASCII",
     "ada@b\xc3\xbc"
     "cher.example",
     APR_EINVAL, WIDE},
};

START_TEST(test_addresses)
{
    mail_fixture_t *mail = receipt();
    int notice;

    for (notice = 0; notice < 2; notice++) {
        mail->charge.email = address_rows[_i].address;
        if (notice) {
            mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_TEST, 0);
            mail->merchant = address_rows[_i].address;
        }
        ck_assert_msg(make(mail) == address_rows[_i].want, "%s", address_rows[_i].name);
        if (address_rows[_i].fault) {
            ck_assert_str_eq(mail->fault, address_rows[_i].fault);
        } else {
            ck_assert_ptr_null(mail->fault);
        }
        if (address_rows[_i].want == APR_SUCCESS) {
            ck_assert_str_eq(mail->transfer.mail_to, "ada@example.com");
            ck_assert_str_eq(header(mail, "To"), "ada@example.com");
        } else {
            ck_assert_ptr_null(mail->transfer.mail_to);
        }
    }
}
END_TEST

static const struct {
    const char *name;
    const char *address;
    const char *fault;
} sender_rows[] = {
    {"none", "", "PaymentsMailFrom is not set."},
    {"no address", "shop", "PaymentsMailFrom is not one e-mail address of ASCII characters."},
    {"a header", "a@shop.example\r\nBcc: b@shop.example",
     "PaymentsMailFrom is not one e-mail address of ASCII characters."},
    {"beyond ASCII", "\xc3\xbc@shop.example",
     "PaymentsMailFrom is not one e-mail address of ASCII characters."},
};

/* The administrator can correct it: such a mail is tried again. */
START_TEST(test_sender)
{
    mail_fixture_t *mail = receipt();

    mail->delivery.mail_from = sender_rows[_i].address;
    ck_assert_msg(make(mail) == APR_EGENERAL, "%s", sender_rows[_i].name);
    ck_assert_str_eq(mail->fault, sender_rows[_i].fault);
    ck_assert_ptr_null(mail->transfer.mail_from);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_names, 0, UNIT_ROWS(names));
    tcase_add_loop_test(tcase, test_amounts, 0, UNIT_ROWS(amount_rows));
    tcase_add_loop_test(tcase, test_zones, 0, UNIT_ROWS(zone_rows));
    tcase_add_test(tcase, test_own);
    tcase_add_test(tcase, test_own_parts);
    tcase_add_test(tcase, test_missing_part);
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_rows));
    tcase_add_loop_test(tcase, test_all_are_checked, 0, 16);
    tcase_add_test(tcase, test_missing);
    tcase_add_loop_test(tcase, test_addresses, 0, UNIT_ROWS(address_rows));
    tcase_add_loop_test(tcase, test_sender, 0, UNIT_ROWS(sender_rows));
}

UNIT_PROGRAM(add)
