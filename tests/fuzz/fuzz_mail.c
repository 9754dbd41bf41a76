/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "model/text.h"
#include "service/outbox/mail_header.h"
#include "service/outbox/template.h"

#include <apr_base64.h>

/* E-mails: a template, two values and a header's text, with a line of \x01 alone between them. */

#define PARTS 4
#define SEPARATOR "\x01\n"
#define ADDRESS "pay@shop.example"
#define WORD_MAX 75

static void split(char *parts[PARTS], char *text)
{
    char *end;
    int i;

    for (i = 0; i < PARTS; i++) {
        parts[i] = text;
        end = strstr(text, SEPARATOR);
        text = end ? end + strlen(SEPARATOR) : text + strlen(text);
        if (end && i < PARTS - 1) {
            *end = '\0';
        }
    }
}

static int is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~') {
            return 0;
        }
    }
    return 1;
}

/* CR and LF only as pairs: no value inserts any. */
static void check_lines(const char *text, const char *source)
{
    apr_size_t lines = 0, ends = 0;

    for (; *source; source++) {
        lines += *source == '\n';
    }
    for (; *text; text++) {
        CHECK((*text == '\r') == (text[1] == '\n'));
        ends += *text == '\n';
    }
    CHECK(ends <= lines);
}

static const char *expand(const char *source, pay_template_form_t form,
                          const pay_template_value_t *values, apr_pool_t *p)
{
    const char *out, *fault, *line;

    fault = pay_template_expand(&out, source, 1, form, values, 2, NULL, p);
    CHECK(!fault == !!out);
    if (fault) {
        CHECK(!strncmp(fault, "line ", 5));
        line = fault + 5;
        CHECK(strtol(line, NULL, 10) >= 1);
        return NULL;
    }
    CHECK(strlen(out) <= PAY_TEMPLATE_OUTPUT_MAX);
    return out;
}

static void check_template(const char *source, const pay_template_value_t *values, apr_pool_t *p)
{
    const char *out;
    int form;

    for (form = PAY_TEMPLATE_TEXT; form <= PAY_TEMPLATE_HTML; form++) {
        out = expand(source, (pay_template_form_t)form, values, p);
        if (out && pay_text_is_plain(source, "\t\n")) { /* as pay_template_read returns it */
            CHECK(pay_text_is_plain(out, "\t\r\n"));
            check_lines(out, source);
        }
    }
    /* A value alone inserts no markup, and apart from markup the HTML contains the same text. */
    out = expand("{{a}}", PAY_TEMPLATE_HTML, values, p);
    CHECK(!out || !strpbrk(out, "<>\"'\r\n"));
    out = expand("{{a}}", PAY_TEMPLATE_TEXT, values, p);
    CHECK(!out || (pay_text_is_plain(out, "") && strlen(out) <= strlen(values[0].value)));
    /* A section is kept if its value is not empty. */
    out = expand("{{#a}}x{{/a}}", PAY_TEMPLATE_TEXT, values, p);
    CHECK(out && (*out == 'x') == (values[0].value[0] != '\0'));
}

/* Encoded-words decode to the start of the text, in whole characters. */
static void check_words(const char *words, const char *text, apr_pool_t *p)
{
    char *rest, *word, *back = apr_pcalloc(p, strlen(words) + 1);
    apr_size_t len = 0;

    for (word = apr_strtok(apr_pstrdup(p, words), " ", &rest); word;
         word = apr_strtok(NULL, " ", &rest)) {
        CHECK(strlen(word) <= WORD_MAX && !strncmp(word, "=?UTF-8?B?", 10));
        CHECK(!strcmp(word + strlen(word) - 2, "?="));
        word[strlen(word) - 2] = '\0';
        len += (apr_size_t)apr_base64_decode(back + len, word + 10);
        back[len] = '\0';
        CHECK(pay_text_is_plain(back, ""));
    }
    CHECK(!strncmp(back, text, len));
}

static void check_header(const char *text, apr_pool_t *p)
{
    apr_array_header_t *headers = apr_array_make(p, 1, sizeof(const char *));
    apr_size_t room = strlen(text) * 7 % 1000;
    const char *out, *tail = " <" ADDRESS ">";
    int i;

    out = pay_mail_header_text(text, room, p);
    CHECK(is_printable(out) && strlen(out) <= room);
    if (pay_text_is_plain(text, "") && (!is_printable(text) || strstr(text, "=?"))) {
        check_words(out, text, p);
    } else if (is_printable(text)) {
        CHECK(!strncmp(out, text, strlen(out)));
    }
    pay_mail_header_put(headers, "Subject", out);
    out = pay_mail_header_mailbox(text, ADDRESS, p);
    CHECK(is_printable(out) && !strcmp(out + strlen(out) - strlen(tail), tail));
    pay_mail_header_put(headers, "From", out);
    CHECK(strlen(out) + strlen("From: ") == strlen(APR_ARRAY_IDX(headers, 1, const char *)));
    pay_mail_header_put(headers, "X", text);
    CHECK(headers->nelts == 3);
    for (i = 0; i < 3; i++) {
        out = APR_ARRAY_IDX(headers, i, const char *);
        CHECK(is_printable(out) && strlen(out) <= PAY_MAIL_LINE_MAX);
    }
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *parts[PARTS];
    pay_template_value_t values[2] = {{"a", NULL}, {"b", NULL}};

    split(parts, fuzz_text(data, size));
    values[0].value = fuzz_copy(parts[1], strlen(parts[1]));
    values[1].value = fuzz_copy(parts[2], strlen(parts[2]));
    check_template(fuzz_copy(parts[0], strlen(parts[0])), values, p);
    check_header(fuzz_copy(parts[3], strlen(parts[3])), p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
