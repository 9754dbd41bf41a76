/* SPDX-License-Identifier: Apache-2.0 */
#include "mail_fixture.h"

/* ---- the templates that are installed */

static const struct {
    const char *name;
    pay_endpoint_kind_t endpoint;
    pay_event_kind_t kind;
    int state;
    const char *subject;  /* NULL: no mail for it */
    const char *holds[9]; /* both parts */
} mails[] = {
    {"receipt",
     PAY_ENDPOINT_RECEIPT,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_SUCCESSFUL,
     "Receipt from my-shop: NGN 1234.50",
     {"my-shop", "NGN 1234.50", "order-1", "2026-11-21 14:30 (UTC+01:00)", "Hello Ada Obi",
      "Mastercard debit **** 4444", "L5K7O4"}},
    {"receipt of a refund",
     PAY_ENDPOINT_RECEIPT,
     PAY_EVENT_REFUND,
     PAY_REFUND_PROCESSED,
     "Refund from my-shop: NGN 0.50",
     {"NGN 0.50", "rfd_1", "NGN 1234.50", "order-1", "2026-11-21 14:30 (UTC+01:00)",
      "2026-11-21 13:30 (UTC+01:00)", "We are sorry", "**** 4444", "Hello Ada Obi"}},
    {"notice",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_SUCCESSFUL,
     "Payment received: NGN 1234.50 (order-1)",
     {"NGN 1234.50", "order-1", "2026-11-21 14:30 (UTC+01:00)", "Ada Obi", "ada@example.com",
      "**** 4444", "L5K7O4"}},
    {"notice of a failure",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_FAILED,
     "Payment failed: NGN 1234.50 (order-1)",
     {"NGN 1234.50", "order-1", "2026-11-21 14:30 (UTC+01:00)", "Approved by bank", "00", "Ada Obi",
      "ada@example.com", "**** 4444"}},
    {"notice of a refund",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_REFUND,
     PAY_REFUND_PROCESSED,
     "Refund made: NGN 0.50 (order-1)",
     {"NGN 0.50", "rfd_1", "order-1", "NGN 1234.50", "2026-11-21 14:30 (UTC+01:00)", "Ada Obi",
      "ada@example.com", "We are sorry", "came broken"}},
    {"notice of an event given up",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_PARKED,
     0,
     "A webhook event of my-shop was given up",
     {"evt_01000000000000002a00000002", "transaction failed", "503", "The receiver answered 503",
      "19", "order-1", "2026-11-18 14:30 (UTC+01:00)",
      "paymentsctl event retry my-shop evt_01000000000000002a00000002"}},
    {"test",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_TEST,
     0,
     "Test message of my-shop",
     {"my-shop", "2026-11-21 14:30 (UTC+01:00)", "evt_03"}},
    {"receipt of a failure",
     PAY_ENDPOINT_RECEIPT,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_FAILED,
     NULL,
     {0}},
    {"receipt of a reversal",
     PAY_ENDPOINT_RECEIPT,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_REVERSED,
     NULL,
     {0}},
    {"receipt of a failed refund",
     PAY_ENDPOINT_RECEIPT,
     PAY_EVENT_REFUND,
     PAY_REFUND_FAILED,
     NULL,
     {0}},
    {"receipt of a test", PAY_ENDPOINT_RECEIPT, PAY_EVENT_TEST, 0, NULL, {0}},
    {"receipt of an event given up", PAY_ENDPOINT_RECEIPT, PAY_EVENT_PARKED, 0, NULL, {0}},
    {"notice of a pending one",
     PAY_ENDPOINT_NOTICE,
     PAY_EVENT_TRANSACTION,
     PAY_CHARGE_PENDING,
     NULL,
     {0}},
    {"webhook", PAY_ENDPOINT_WEBHOOK, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL, NULL, {0}},
};

START_TEST(test_mails)
{
    mail_fixture_t *mail = mail_fixture_make(mails[_i].endpoint, mails[_i].kind, mails[_i].state);
    int receives = mails[_i].endpoint == PAY_ENDPOINT_RECEIPT;
    int i;

    if (!mails[_i].subject) {
        ck_assert_msg(make(mail) == APR_NOTFOUND, "%s", mails[_i].name);
        ck_assert_ptr_null(mail->fault);
        ck_assert_ptr_null(mail->transfer.mail_to);
        return;
    }
    made(mail);
    ck_assert_str_eq(mail->transfer.mail_to, receives ? "ada@example.com" : "owner@shop.example");
    ck_assert_str_eq(mail->transfer.mail_from, "pay@shop.example");
    ck_assert_str_eq(header(mail, "Subject"),
                     apr_pstrcat(unit_pool, "[TEST] ", mails[_i].subject, NULL));
    ck_assert_int_eq(mail->transfer.parts_count, 2);
    ck_assert_str_eq(mail->transfer.parts[0].media_type, "text/plain; charset=utf-8");
    ck_assert_str_eq(mail->transfer.parts[1].media_type, "text/html; charset=utf-8");
    for (i = 0; i < 9 && mails[_i].holds[i]; i++) {
        ck_assert_msg(strstr(text_of(mail), mails[_i].holds[i]) != NULL, "%s: %s in\n%s",
                      mails[_i].name, mails[_i].holds[i], text_of(mail));
        ck_assert_msg(strstr(html_of(mail), mails[_i].holds[i]) != NULL, "%s: %s in the HTML",
                      mails[_i].name, mails[_i].holds[i]);
    }
    ck_assert_ptr_null(strstr(text_of(mail), "{{"));
    ck_assert_ptr_null(strstr(html_of(mail), "{{"));
}
END_TEST

static const struct {
    const char *name, *first, *last;
    const char *greeting; /* NULL: none */
} people[] = {
    {"as people are called", "Ada", "Obi", "Hello Ada Obi,"},
    {"one name", "J.R.", "", "Hello J.R.,"},
    {"an address", "To cancel open https://phish.example/x", "Obi", NULL},
    {"another scheme", "Ada", "ftp://phish.example", NULL},
    {"without a scheme", "WwW.phish.example", "", NULL},
    {"no width between", "https:\xe2\x80\x8b//phish.example", "", NULL},
    {"a joiner between", "ww\xe2\x81\xa0w.phish.example", "", NULL},
    {"a soft hyphen between", "ww\xc2\xadw.phish.example", "", NULL},
    {"a mark of direction between", "http\xe2\x80\x8e://phish.example", "", NULL},
    {"a control character between", "https:\x01//phish.example", "", NULL},
    {"turned round",
     "\xe2\x80\xae"
     "Ada",
     "Obi\xe2\x81\xa9", "Hello Ada Obi,"},
    {"byte order marks",
     "\xef\xbb\xbf"
     "Ada",
     "\xf3\xa0\x81\x81Obi", "Hello Ada Obi,"},
    {"nothing to see", "\xe2\x80\x8b", "\xe2\x80\x8d", NULL},
    {"in two parts", "https:", "//phish.example", "Hello https: //phish.example,"},
};

/* Text of unknown origin makes no links, and only its visible part stays. */
START_TEST(test_names)
{
    mail_fixture_t *mail = receipt();
    const char *greeting = people[_i].greeting;

    mail->charge.first_name = people[_i].first;
    mail->charge.last_name = people[_i].last;
    made(mail);
    if (greeting) {
        ck_assert_msg(strstr(text_of(mail), greeting) != NULL, "%s: %s", people[_i].name,
                      text_of(mail));
        return;
    }
    ck_assert_msg(!strstr(text_of(mail), "Hello"), "%s: %s", people[_i].name, text_of(mail));
    ck_assert_msg(!strstr(html_of(mail), "Hello"), "%s", people[_i].name);
    ck_assert_ptr_null(strstr(text_of(mail), "phish"));
    ck_assert_ptr_null(strstr(html_of(mail), "phish"));
}
END_TEST

/* Notes and references are written by clients of the API; the merchant needs the reference. */
START_TEST(test_words_beside_names)
{
    mail_fixture_t *mail =
        mail_fixture_make(PAY_ENDPOINT_RECEIPT, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED);

    mail->refund.customer_note = "See https://phish.example/note";
    mail->charge.reference = "www.phish.example";
    made(mail);
    ck_assert_ptr_null(strstr(text_of(mail), "phish"));
    mail->event.endpoint = PAY_ENDPOINT_NOTICE;
    mail->refund.merchant_note = "WWW.phish.example/merchant";
    made(mail);
    ck_assert_ptr_null(strstr(text_of(mail), "phish.example/"));
    ck_assert_ptr_nonnull(strstr(text_of(mail), "www.phish.example"));
}
END_TEST

/* Test Mode is named in subject, text and HTML of each, and Live Mode in none. */
START_TEST(test_modes)
{
    mail_fixture_t *mail = mail_fixture_make(mails[_i].endpoint, mails[_i].kind, mails[_i].state);

    if (!mails[_i].subject) {
        return;
    }
    made(mail);
    ck_assert_ptr_nonnull(strstr(text_of(mail), "TEST MODE"));
    ck_assert_ptr_nonnull(strstr(html_of(mail), "TEST MODE"));
    ck_assert_str_eq(header(mail, "X-Payments-Mode"), "test");
    mail->event.scope.mode = PAY_LIVE;
    made(mail);
    ck_assert_str_eq(header(mail, "Subject"), mails[_i].subject);
    ck_assert_ptr_null(strstr(text_of(mail), "TEST MODE"));
    ck_assert_ptr_null(strstr(html_of(mail), "TEST MODE"));
    ck_assert_str_eq(header(mail, "X-Payments-Mode"), "live");
}
END_TEST

/* HTML that loads nothing and links nowhere; text whose lines any reader shows completely. */
START_TEST(test_installed)
{
    static const char *const foreign[] = {"http",  "href",    "src=",    "url(",
                                          "<img",  "<link",   "<script", "<a ",
                                          "<form", "@import", "<object", "onload"};
    mail_fixture_t *mail = mail_fixture_make(mails[_i].endpoint, mails[_i].kind, mails[_i].state);
    const char *line;
    apr_size_t i;

    if (!mails[_i].subject) {
        return;
    }
    made(mail);
    for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        ck_assert_msg(!strstr(html_of(mail), foreign[i]), "%s: %s", mails[_i].name, foreign[i]);
    }
    for (line = text_of(mail); *line; line += strcspn(line, "\n") + 1) {
        ck_assert_uint_le(strcspn(line, "\r\n"), 100);
        ck_assert_int_eq(line[strcspn(line, "\n") - 1], '\r');
    }
}
END_TEST

/* An unknown value leaves no label behind. */
START_TEST(test_sparse)
{
    mail_fixture_t *mail = receipt();

    memset(&mail->charge.card, 0, sizeof(mail->charge.card));
    mail->charge.card.issuer = "";
    mail->charge.card.country = "";
    mail->charge.card.type = "";
    mail->charge.first_name = "";
    mail->charge.last_name = "";
    mail->charge.authorization_code = "";
    made(mail);
    ck_assert_ptr_null(strstr(text_of(mail), "Hello"));
    ck_assert_ptr_null(strstr(text_of(mail), "Paid with"));
    ck_assert_ptr_null(strstr(text_of(mail), "Authorization"));
    ck_assert_ptr_null(strstr(html_of(mail), "Paid with"));
    mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_PARKED, 0);
    mail->event.parked = NULL;
    mail->event.charge = NULL;
    made(mail);
    ck_assert_ptr_null(strstr(text_of(mail), "event retry"));
    ck_assert_ptr_null(strstr(html_of(mail), "Last"));
    /* A refund of history, whose payment and currency are not known. */
    mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED);
    mail->event.charge = NULL;
    mail->refund.money.currency[0] = '\0';
    mail->refund.transaction_reference = NULL;
    mail->refund.customer_note = NULL;
    mail->refund.merchant_note = NULL;
    made(mail);
    ck_assert_ptr_null(strstr(text_of(mail), "note"));
    ck_assert_ptr_null(strstr(text_of(mail), "Paid:"));
}
END_TEST

/* ---- headers */

START_TEST(test_headers)
{
    static const char *const want[] = {
        "From: \"my-shop\" <pay@shop.example>",
        "To: ada@example.com",
        "Reply-To: owner@shop.example",
        "Subject: [TEST] Receipt from my-shop: NGN 1234.50",
        "Date: Sat, 21 Nov 2026 13:30:00 +0000",
        NULL,
        "Auto-Submitted: auto-generated",
        "X-Payments-Mode: test",
    };
    mail_fixture_t *mail = receipt();
    const char *id = pay_event_id(&mail->event, unit_pool);
    int i;

    made(mail);
    ck_assert_int_eq(mail->transfer.headers->nelts, UNIT_ROWS(want));
    for (i = 0; i < UNIT_ROWS(want); i++) {
        ck_assert_str_eq(APR_ARRAY_IDX(mail->transfer.headers, i, const char *),
                         want[i]
                             ? want[i]
                             : apr_pstrcat(unit_pool, "Message-ID: <", id, "@shop.example>", NULL));
    }
    /* The same at a later try. */
    mail->event.failures = 3;
    mail->event.leases = 4;
    mail->event.first_try_at = CREATED + HOUR;
    made(mail);
    ck_assert_str_eq(header(mail, "Message-ID"),
                     apr_pstrcat(unit_pool, "<", id, "@shop.example>", NULL));
    ck_assert_str_eq(header(mail, "Date"), "Sat, 21 Nov 2026 13:30:00 +0000");
}
END_TEST

static const struct {
    const char *name;
    const char *merchant;
    const char *want; /* NULL: no such header */
} reply_rows[] = {
    {"known", "Owner@shop.example", "owner@shop.example"},
    {"none", "", NULL},
    {"no address", "owner", NULL},
    {"two", "a@shop.example,b@shop.example", NULL},
    {"a header", "a@shop.example\r\nBcc: b@shop.example", NULL},
    {"beyond ASCII", "\xc3\xbc@shop.example", NULL},
};

START_TEST(test_reply_to)
{
    mail_fixture_t *mail = receipt();
    const char *found;

    mail->merchant = reply_rows[_i].merchant;
    made(mail);
    found = header(mail, "Reply-To");
    if (!reply_rows[_i].want) {
        ck_assert_msg(!found, "%s", reply_rows[_i].name);
        return;
    }
    ck_assert_str_eq(found, reply_rows[_i].want);
    mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_TEST, 0);
    made(mail);
    ck_assert_ptr_null(header(mail, "Reply-To"));
}
END_TEST

#define EVIL "x\r\nBcc: evil@example.com\r\n\r\n<b>evil</b>\n.\r\nQUIT\r\n"

/* Whatever the records contain: headers keep their lines, and texts their markup. */
START_TEST(test_injection)
{
    mail_fixture_t *mail =
        mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED);
    const char *line, *c;
    int i;

    mail->account.name = EVIL;
    mail->charge.reference = EVIL;
    mail->charge.first_name = EVIL;
    mail->charge.last_name = EVIL;
    mail->charge.email = EVIL;
    mail->charge.message = EVIL;
    mail->charge.card.issuer = EVIL;
    mail->charge.card.type = EVIL;
    mail->charge.authorization_code = EVIL;
    mail->refund.refund_reference = EVIL;
    mail->refund.customer_note = EVIL;
    mail->refund.merchant_note = EVIL;
    made(mail);
    for (i = 0; i < mail->transfer.headers->nelts; i++) {
        line = APR_ARRAY_IDX(mail->transfer.headers, i, const char *);
        for (c = line; *c; c++) {
            ck_assert(*c >= ' ' && *c <= '~');
        }
        ck_assert_int_ne(strncmp(line, "Bcc", 3), 0);
        ck_assert_uint_le(strlen(line), 998);
    }
    ck_assert_ptr_nonnull(strstr(text_of(mail), "xBcc: evil@example.com<b>evil</b>.QUIT"));
    ck_assert_ptr_null(strstr(text_of(mail), "\r\n."));
    ck_assert_ptr_null(strstr(text_of(mail), "\nBcc"));
    ck_assert_ptr_null(strstr(html_of(mail), "<b>evil"));
    ck_assert_ptr_nonnull(strstr(html_of(mail), "&lt;b&gt;evil&lt;/b&gt;"));
}
END_TEST

START_TEST(test_long_subject)
{
    mail_fixture_t *mail =
        mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL);
    char reference[2000];

    memset(reference, 'a', sizeof(reference));
    reference[sizeof(reference) - 1] = '\0';
    mail->charge.reference = reference;
    made(mail);
    ck_assert_uint_eq(strlen(header(mail, "Subject")), 998 - strlen("Subject: "));
    memcpy(reference, "\xc3\xbc", 2);
    made(mail);
    ck_assert_uint_le(strlen(header(mail, "Subject")), 998 - strlen("Subject: "));
    ck_assert_int_eq(strncmp(header(mail, "Subject"), "=?UTF-8?B?W1RFU1RdI", 19), 0);
}
END_TEST

/* ---- the code of a change */

static apr_status_t make_confirmation(mail_fixture_t *mail, const char *change)
{
    const pay_mail_confirmation_t confirmation = {
        .change = change,
        .user = "olga",
        .host = "pay.example.com",
        .code = "ABCD-EFGH",
        .minutes = 10,
        .id = "0123456789abcdef",
        .at = CREATED,
    };

    mail->fault = "set";
    return pay_mail_make_confirmation(&mail->transfer, &mail->fault, &confirmation, &mail->account,
                                      mail->merchant, &mail->delivery, unit_pool);
}

START_TEST(test_confirmation)
{
    static const char *const holds[] = {"make a live secret key of my-shop",
                                        "ABCD-EFGH",
                                        "olga",
                                        "pay.example.com",
                                        "within 10 minutes",
                                        "2026-11-21 14:30 (UTC+01:00)"};
    mail_fixture_t *mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_TEST, 0);
    apr_size_t i;

    ck_assert_int_eq(make_confirmation(mail, holds[0]), APR_SUCCESS);
    ck_assert_ptr_null(mail->fault);
    ck_assert_str_eq(mail->transfer.mail_to, "owner@shop.example");
    ck_assert_str_eq(mail->transfer.mail_from, "pay@shop.example");
    /* The part that a locked telephone shows. */
    ck_assert_str_eq(header(mail, "Subject"), "Confirm a change of my-shop");
    ck_assert_str_eq(header(mail, "Message-ID"), "<0123456789abcdef@shop.example>");
    ck_assert_str_eq(header(mail, "Date"), "Sat, 21 Nov 2026 13:30:00 +0000");
    ck_assert_ptr_null(header(mail, "X-Payments-Mode"));
    ck_assert_ptr_null(header(mail, "Reply-To"));
    for (i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
        ck_assert_msg(strstr(text_of(mail), holds[i]) != NULL, "%s", holds[i]);
        ck_assert_msg(strstr(html_of(mail), holds[i]) != NULL, "%s in the HTML", holds[i]);
    }
    ck_assert_ptr_null(strstr(text_of(mail), "{{"));
    ck_assert_ptr_null(strstr(html_of(mail), "{{"));
}
END_TEST

/* The name of a change contains words of its client. */
START_TEST(test_confirmation_of_anything)
{
    mail_fixture_t *mail = mail_fixture_make(PAY_ENDPOINT_NOTICE, PAY_EVENT_TEST, 0);

    ck_assert_int_eq(make_confirmation(mail, "grant <b>x</b> \xe2\x80\xae to {{code}}"),
                     APR_SUCCESS);
    ck_assert_ptr_nonnull(strstr(html_of(mail), "grant &lt;b&gt;x&lt;/b&gt;  to {{code}}"));
    ck_assert_ptr_nonnull(strstr(text_of(mail), "grant <b>x</b>  to {{code}}"));
    mail->merchant = "";
    ck_assert_int_eq(make_confirmation(mail, "x"), APR_NOTFOUND);
    mail->merchant = "owner@shop.example";
    mail->delivery.mail_from = "";
    ck_assert_int_eq(make_confirmation(mail, "x"), APR_EGENERAL);
    ck_assert_str_eq(mail->fault, "PaymentsMailFrom is not set.");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_confirmation);
    tcase_add_test(tcase, test_confirmation_of_anything);
    tcase_add_loop_test(tcase, test_mails, 0, UNIT_ROWS(mails));
    tcase_add_loop_test(tcase, test_names, 0, UNIT_ROWS(people));
    tcase_add_test(tcase, test_words_beside_names);
    tcase_add_loop_test(tcase, test_modes, 0, UNIT_ROWS(mails));
    tcase_add_loop_test(tcase, test_installed, 0, UNIT_ROWS(mails));
    tcase_add_test(tcase, test_sparse);
    tcase_add_test(tcase, test_headers);
    tcase_add_loop_test(tcase, test_reply_to, 0, UNIT_ROWS(reply_rows));
    tcase_add_test(tcase, test_injection);
    tcase_add_test(tcase, test_long_subject);
}

UNIT_PROGRAM(add)
