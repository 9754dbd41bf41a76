/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail.h"

#include "model/email.h"
#include "service/outbox/mail_header.h"
#include "service/outbox/mail_values.h"
#include "service/outbox/template.h"

#include <apr_file_info.h>
#include <apr_strings.h>
#include <string.h>

#define TEXT ".txt"
#define HTML ".html"
#define SUBJECT_START "Subject: "
#define TEST_MARK "[TEST] "
#define HEADERS_MAX 10
#define BODY_LINE 3 /* of a text template: after its subject and a blank line */
#define ANY_STATE (-1)

/* The templates of an event. */
static const struct {
    pay_endpoint_kind_t endpoint;
    pay_event_kind_t kind;
    int state;
    const char *name;
} mails[] = {
    {PAY_ENDPOINT_RECEIPT, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL, "receipt-successful"},
    {PAY_ENDPOINT_RECEIPT, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED, "receipt-refunded"},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL, "notice-successful"},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_TRANSACTION, PAY_CHARGE_FAILED, "notice-failed"},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_REFUND, PAY_REFUND_PROCESSED, "notice-refunded"},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_PARKED, ANY_STATE, "notice-parked"},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_TEST, ANY_STATE, "test"},
};
#define MAILS_COUNT ((int)(sizeof(mails) / sizeof(mails[0])))

/* Belongs to no event. */
#define CONFIRMATION "confirmation"

static const char *installed_directory = PAYMENTS_MAIL_DIR;

/* A mail while it is made. */
typedef struct mail_t {
    const char *name;      /* of its templates */
    const char *directory; /* "": the installed one */
    const pay_template_value_t *values;
    int values_count;
    const char *subject; /* the result of the templates */
    const char *text;
    const char *html;
    const char *fault;
    apr_pool_t *pool;
} mail_t;

const char *pay_mail_installed(void)
{
    return installed_directory;
}

void pay_mail_set_installed(const char *directory)
{
    installed_directory = directory ? directory : PAYMENTS_MAIL_DIR;
}

static const char *template_of(const pay_event_t *event)
{
    int i;

    for (i = 0; i < MAILS_COUNT; i++) {
        if (mails[i].endpoint == event->endpoint && mails[i].kind == event->kind
            && (mails[i].state == ANY_STATE || mails[i].state == event->state)) {
            return mails[i].name;
        }
    }
    return NULL;
}

/* ---- templates */

static apr_status_t path_fault(mail_t *mail, const char *path, apr_status_t status,
                               const char *what)
{
    char text[120];

    if (!what) {
        what = apr_strerror(status, text, sizeof(text));
    }
    mail->fault = apr_psprintf(mail->pool, "%s: %s", path, what);
    return status;
}

/* Reads a template's file; *path says which of the two places it came from. */
static apr_status_t read_file(const char **out, const char **path, mail_t *mail, const char *name,
                              const char *extension)
{
    const char *file = apr_pstrcat(mail->pool, name, extension, NULL);
    const char *fault = NULL;
    apr_status_t rv = APR_ENOENT;

    *out = NULL;
    *path = NULL;
    if (*mail->directory) {
        *path = apr_pstrcat(mail->pool, mail->directory, "/", file, NULL);
        rv = pay_template_read(out, &fault, *path, mail->pool);
    }
    if (APR_STATUS_IS_ENOENT(rv)) {
        *path = apr_pstrcat(mail->pool, installed_directory, "/", file, NULL);
        rv = pay_template_read(out, &fault, *path, mail->pool);
    }
    return rv == APR_SUCCESS ? rv : path_fault(mail, *path, rv, fault);
}

/* What reads the parts of a template: files beside it that end as it does. */
typedef struct part_t {
    mail_t *mail;
    const char *extension;
} part_t;

static const char *part_read(const char **text, const char **file, void *baton, const char *name,
                             apr_pool_t *p)
{
    const part_t *part = baton;
    apr_status_t rv;

    (void)p; /* the mail's */
    rv = read_file(text, file, part->mail, name, part->extension);
    return rv == APR_SUCCESS ? NULL : part->mail->fault;
}

/* `extension` is that of the parts; NULL: it may include none. */
static apr_status_t expand(const char **out, mail_t *mail, const char *path, const char *text,
                           int line, pay_template_form_t form, const char *extension)
{
    part_t part = {mail, extension};
    const pay_template_parts_t parts = {part_read, &part};
    const char *fault = pay_template_expand(out, text, line, form, mail->values, mail->values_count,
                                            extension ? &parts : NULL, mail->pool);

    return fault ? path_fault(mail, path, APR_EGENERAL, fault) : APR_SUCCESS;
}

/* The subject precedes the text, like a header. */
static apr_status_t make_text(mail_t *mail)
{
    const char *text, *path, *end, *subject;
    apr_status_t rv;

    rv = read_file(&text, &path, mail, mail->name, TEXT);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    end = strstr(text, "\n\n");
    if (strncmp(text, SUBJECT_START, strlen(SUBJECT_START)) != 0 || !end
        || memchr(text, '\n', (apr_size_t)(end - text))) {
        return path_fault(mail, path, APR_EGENERAL,
                          "line 1: It must be \"Subject: \" and the subject, and line 2 empty.");
    }
    subject = text + strlen(SUBJECT_START);
    subject = apr_pstrmemdup(mail->pool, subject, (apr_size_t)(end - subject));
    rv = expand(&mail->subject, mail, path, subject, 1, PAY_TEMPLATE_TEXT, NULL);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return expand(&mail->text, mail, path, end + 2, BODY_LINE, PAY_TEMPLATE_TEXT, TEXT);
}

static apr_status_t make_html(mail_t *mail)
{
    const char *text, *path;
    apr_status_t rv;

    rv = read_file(&text, &path, mail, mail->name, HTML);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return expand(&mail->html, mail, path, text, 1, PAY_TEMPLATE_HTML, HTML);
}

static const char *template_fault(mail_t *mail, const char *name)
{
    apr_status_t rv;

    mail->name = name;
    rv = make_text(mail);
    if (rv == APR_SUCCESS) {
        rv = make_html(mail);
    }
    return rv == APR_SUCCESS ? NULL : mail->fault;
}

const char *pay_mail_templates_fault(const char *directory, apr_pool_t *p)
{
    pay_template_value_t values[PAY_MAIL_VALUES_MAX];
    mail_t mail = {.directory = directory, .values = values, .pool = p};
    const char *where = *directory ? directory : installed_directory;
    apr_finfo_t info;
    apr_status_t rv;
    int i;

    rv = apr_stat(&info, where, APR_FINFO_TYPE, p);
    if (rv == APR_SUCCESS && info.filetype != APR_DIR) {
        rv = APR_ENOTDIR;
    }
    if (rv != APR_SUCCESS) {
        (void)path_fault(&mail, where, rv, NULL);
        return mail.fault;
    }
    for (i = 0; i < MAILS_COUNT; i++) {
        mail.values_count = pay_mail_values_sample(values, mails[i].endpoint);
        if (template_fault(&mail, mails[i].name)) {
            return mail.fault;
        }
    }
    mail.values_count = pay_mail_values_confirmation_sample(values);
    return template_fault(&mail, CONFIRMATION);
}

/* ---- addresses */

static int is_ascii(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80) {
            return 0;
        }
    }
    return 1;
}

static apr_status_t find_recipient(const char **out, const char **fault, const char *address,
                                   apr_pool_t *p)
{
    *out = NULL;
    if (!address || !*address) {
        return APR_NOTFOUND;
    }
    if (pay_email_normalize(out, address, p) != APR_SUCCESS) {
        *fault = "The recipient's address is not one e-mail address.";
        return APR_EINVAL;
    }
    if (!is_ascii(*out)) {
        *fault = "The recipient's address has non-ASCII characters, which mail relays need not "
                 "support (SMTPUTF8).";
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

static apr_status_t find_sender(const char **out, const char **fault, const char *address,
                                apr_pool_t *p)
{
    *out = NULL;
    if (!*address) {
        *fault = "PaymentsMailFrom is not set.";
        return APR_EGENERAL;
    }
    if (pay_email_normalize(out, address, p) != APR_SUCCESS || !is_ascii(*out)) {
        *fault = "PaymentsMailFrom is not one e-mail address of ASCII characters.";
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

/* ---- the message */

/* The parts beside the templates. */
typedef struct envelope_t {
    const char *from, *to;
    const char *reply_to; /* NULL: the sender */
    const char *account;  /* its name */
    const char *id;       /* one of its own for each message */
    apr_time_t date;
} envelope_t;

static apr_array_header_t *make_headers(const char *subject, const envelope_t *envelope,
                                        apr_pool_t *p)
{
    apr_array_header_t *headers = apr_array_make(p, HEADERS_MAX, sizeof(const char *));
    const char *from = envelope->from;

    pay_mail_header_put(headers, "From", pay_mail_header_mailbox(envelope->account, from, p));
    pay_mail_header_put(headers, "To", envelope->to);
    if (envelope->reply_to && is_ascii(envelope->reply_to)) {
        pay_mail_header_put(headers, "Reply-To", envelope->reply_to);
    }
    pay_mail_header_put(
        headers, "Subject",
        pay_mail_header_text(subject, PAY_MAIL_LINE_MAX - strlen(SUBJECT_START), p));
    pay_mail_header_put(headers, "Date", pay_mail_header_date(envelope->date, p));
    pay_mail_header_put(headers, "Message-ID",
                        apr_pstrcat(p, "<", envelope->id, strchr(from, '@'), ">", NULL));
    pay_mail_header_put(headers, "Auto-Submitted", "auto-generated");
    return headers;
}

static const apr_array_header_t *event_headers(const char *subject, envelope_t *envelope,
                                               const pay_event_t *event, const char *merchant,
                                               apr_pool_t *p)
{
    apr_array_header_t *headers;

    envelope->id = pay_event_id(event, p);
    envelope->date = event->created_at;
    if (event->scope.mode == PAY_TEST) { /* whatever a template contains */
        subject = apr_pstrcat(p, TEST_MARK, subject, NULL);
    }
    if (event->endpoint == PAY_ENDPOINT_RECEIPT) {
        (void)pay_email_normalize(&envelope->reply_to, merchant, p);
    }
    headers = make_headers(subject, envelope, p);
    pay_mail_header_put(headers, "X-Payments-Mode", pay_mode_name(event->scope.mode));
    return headers;
}

static const pay_transfer_part_t *make_parts(const mail_t *mail)
{
    pay_transfer_part_t *parts = apr_pcalloc(mail->pool, 2 * sizeof(*parts));

    parts[0].media_type = "text/plain; charset=utf-8";
    parts[0].text = mail->text;
    parts[1].media_type = "text/html; charset=utf-8";
    parts[1].text = mail->html;
    return parts;
}

static apr_status_t find_both(envelope_t *envelope, const char **fault, const char *address,
                              const pay_delivery_t *delivery, apr_pool_t *p)
{
    apr_status_t rv;

    rv = find_recipient(&envelope->to, fault, address, p);
    if (rv == APR_SUCCESS) {
        rv = find_sender(&envelope->from, fault, delivery->mail_from, p);
    }
    return rv;
}

static apr_status_t make_both(mail_t *mail, const char **fault)
{
    apr_status_t rv;

    rv = make_text(mail);
    if (rv == APR_SUCCESS) {
        rv = make_html(mail);
    }
    if (rv != APR_SUCCESS) {
        *fault = mail->fault;
    }
    return rv;
}

static void fill(pay_transfer_t *transfer, const mail_t *mail, const envelope_t *envelope,
                 const apr_array_header_t *headers)
{
    transfer->mail_from = envelope->from;
    transfer->mail_to = envelope->to;
    transfer->headers = headers;
    transfer->parts = make_parts(mail);
    transfer->parts_count = PAY_TRANSFER_PARTS_MAX;
}

apr_status_t pay_mail_make(pay_transfer_t *transfer, const char **fault, const pay_event_t *event,
                           const pay_account_t *account, const char *merchant,
                           const pay_delivery_t *delivery, apr_pool_t *p)
{
    pay_template_value_t values[PAY_MAIL_VALUES_MAX];
    mail_t mail = {.directory = delivery->mail_templates, .values = values, .pool = p};
    envelope_t envelope = {.account = account->name};
    const char *address = merchant;
    apr_status_t rv;

    *fault = NULL;
    mail.name = template_of(event);
    if (!mail.name) {
        return APR_NOTFOUND;
    }
    if (event->endpoint == PAY_ENDPOINT_RECEIPT) {
        address = event->charge ? event->charge->email : NULL;
    }
    rv = find_both(&envelope, fault, address, delivery, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    mail.values_count = pay_mail_values(values, event, account, p);
    rv = make_both(&mail, fault);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    fill(transfer, &mail, &envelope, event_headers(mail.subject, &envelope, event, merchant, p));
    return APR_SUCCESS;
}

apr_status_t pay_mail_make_confirmation(pay_transfer_t *transfer, const char **fault,
                                        const pay_mail_confirmation_t *confirmation,
                                        const pay_account_t *account, const char *merchant,
                                        const pay_delivery_t *delivery, apr_pool_t *p)
{
    pay_template_value_t values[PAY_MAIL_VALUES_MAX];
    mail_t mail = {
        .name = CONFIRMATION, .directory = delivery->mail_templates, .values = values, .pool = p};
    envelope_t envelope = {
        .account = account->name, .id = confirmation->id, .date = confirmation->at};
    apr_status_t rv;

    *fault = NULL;
    rv = find_both(&envelope, fault, merchant, delivery, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    mail.values_count = pay_mail_values_confirmation(values, confirmation, account, p);
    rv = make_both(&mail, fault);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    fill(transfer, &mail, &envelope, make_headers(mail.subject, &envelope, p));
    return APR_SUCCESS;
}
