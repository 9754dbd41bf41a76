/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/inputs.h"

#include "httpd/page/parts.h"

#include <string.h>

const char *pay_page_fault_of(const pay_problem_t *faults, const char *name)
{
    const pay_field_error_t *field;
    const char *last;
    int i;

    for (i = 0; faults && faults->fields && i < faults->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(faults->fields, i, pay_field_error_t);
        last = strrchr(field->field, '/');
        if (last && !strcmp(last + 1, name)) {
            return field->reason;
        }
    }
    return NULL;
}

void pay_page_write_faults(pay_html_t *html, const pay_problem_t *faults,
                           const pay_page_input_t *const *inputs, apr_size_t count)
{
    const char *reason;
    apr_size_t i;

    if (!faults) {
        return;
    }
    /* autofocus: a person who cannot see the page hears first that something is wrong. */
    pay_html_markup(html, "<div class=\"errors\" role=\"alert\" id=\"errors\" tabindex=\"-1\" "
                          "autofocus>\n<h2>Nothing was paid yet. Please correct:</h2>\n<ul>\n");
    for (i = 0; i < count; i++) {
        reason = pay_page_fault_of(faults, inputs[i]->name);
        if (reason) {
            pay_page_write(html, "<li><a href=\"#", inputs[i]->name, "\">");
            pay_page_write(html, "", inputs[i]->label, " ");
            pay_page_write(html, "", reason, "</a></li>\n");
        }
    }
    pay_html_markup(html, "</ul></div>\n");
}

static void write_description(pay_html_t *html, const pay_page_input_t *input, const char *reason)
{
    if (!input->hint && !reason) {
        return;
    }
    pay_html_markup(html, " aria-describedby=\"");
    if (input->hint) {
        pay_page_write(html, "", input->name, reason ? "-hint " : "-hint");
    }
    if (reason) {
        pay_page_write(html, "", input->name, "-error");
    }
    pay_html_markup(html, "\"");
}

void pay_page_write_input(pay_html_t *html, const pay_problem_t *faults,
                          const pay_page_input_t *input, const char *value)
{
    const char *reason = pay_page_fault_of(faults, input->name);

    pay_page_write(html, "<div class=\"field\"><label for=\"", input->name, "\">");
    pay_page_write(html, "", input->label, "</label>\n");
    if (input->hint) {
        pay_page_write(html, "<span class=\"hint\" id=\"", input->name, "-hint\">");
        pay_page_write(html, "", input->hint, "</span>\n");
    }
    if (reason) {
        pay_page_write(html, "<span class=\"error\" id=\"", input->name, "-error\">");
        pay_page_write(html, "", reason, "</span>\n");
    }
    pay_page_write(html, "<input id=\"", input->name, "\" ");
    pay_page_write(html, "name=\"", input->name, "\" required ");
    pay_html_markup(html, input->attributes);
    if (value) {
        pay_page_write(html, " value=\"", value, "\"");
    }
    write_description(html, input, reason);
    pay_html_markup(html, reason ? " aria-invalid=\"true\"></div>\n" : "></div>\n");
}
