/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/text/fields.h"
#include "base/text/html.h"

/* A form's body; its values are written into a page as well. */

/*
 * The form that a browser would send for the fields: everything except letters and digits is
 * encoded.
 */
static char *form_of(const pay_fields_t *fields, apr_pool_t *p)
{
    const char *part[2], *at;
    char *out = apr_pstrdup(p, "");
    int i, k;

    for (i = 0; i < fields->count; i++) {
        part[0] = fields->name[i];
        part[1] = fields->value[i];
        for (k = 0; k < 2; k++) {
            for (at = part[k]; *at; at++) {
                out = apr_psprintf(p, "%s%%%02x", out, (unsigned int)(unsigned char)*at);
            }
            out = apr_pstrcat(p, out, k == 0 ? "=" : "&", NULL);
        }
    }
    return out;
}

/* Text never becomes markup, and nothing of it is lost except control characters. */
static void check_html(const char *text, apr_pool_t *p)
{
    pay_html_t *html = pay_html_make(1, p);

    pay_html_text(html, text);
    CHECK(strlen(html->text) == html->len && html->len >= strlen(text));
    CHECK(!strpbrk(html->text, "<>\"'"));
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *text = fuzz_copy(data, size);
    pay_fields_t fields, again;
    char *form;
    int i;

    if (pay_fields_parse(&fields, text, size) != APR_SUCCESS) {
        CHECK(fields.count == 0);
        return;
    }
    CHECK(size <= PAY_FIELDS_LEN_MAX && fields.count <= PAY_FIELDS_MAX);
    for (i = 0; i < fields.count; i++) {
        CHECK(*fields.name[i] && pay_fields_get(&fields, fields.name[i]) == fields.value[i]);
        CHECK(fields.name[i] >= text && fields.value[i] <= text + size);
        check_html(fields.value[i], p);
    }
    form = form_of(&fields, p);
    if (strlen(form) <= PAY_FIELDS_LEN_MAX) {
        CHECK(pay_fields_parse(&again, form, strlen(form)) == APR_SUCCESS);
        CHECK(again.count == fields.count);
        for (i = 0; i < fields.count; i++) {
            CHECK(!strcmp(again.name[i], fields.name[i]));
            CHECK(!strcmp(again.value[i], fields.value[i]));
        }
    }
    pay_fields_wipe(&fields);
    for (i = 0; i < (int)size; i++) {
        CHECK(text[i] == '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
