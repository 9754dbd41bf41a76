/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_INPUTS_H
#define PAY_HTTPD_PAGE_INPUTS_H

/* The inputs of a page's forms, and their faults. */

#include "base/problem.h"
#include "base/text/html.h"

/* Its name in the form is its id, and the last part of its pointer in a problem. */
typedef struct pay_page_input_t {
    const char *name;
    const char *label;
    const char *hint;       /* NULL: no hint */
    const char *attributes; /* markup */
} pay_page_input_t;

/* Returns the reason if the field is at fault, else NULL. `faults` NULL: there are no faults. */
const char *pay_page_fault_of(const pay_problem_t *faults, const char *name);

/* Writes the list above a form: the inputs at fault, each a link to its input. */
void pay_page_write_faults(pay_html_t *html, const pay_problem_t *faults,
                           const pay_page_input_t *const *inputs, apr_size_t count);

/* Writes an input with its label. `value` NULL: the typed text is not sent back. */
void pay_page_write_input(pay_html_t *html, const pay_problem_t *faults,
                          const pay_page_input_t *input, const char *value);

#endif
