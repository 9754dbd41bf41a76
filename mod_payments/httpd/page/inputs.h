/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_INPUTS_H
#define PAY_HTTPD_PAGE_INPUTS_H

/* The inputs of a page's forms, and what is wrong with what was typed there. */

#include "base/problem.h"
#include "base/text/html.h"

/* Its name in the form is its id, and the last part of its place in a problem. */
typedef struct pay_page_input_t {
    const char *name;
    const char *label;
    const char *hint;       /* NULL: none */
    const char *attributes; /* markup */
} pay_page_input_t;

/* The reason, when the field is at fault; else NULL. `faults` NULL: nothing is. */
const char *pay_page_fault_of(const pay_problem_t *faults, const char *name);

/* The list above a form: which of the inputs are at fault, each a link to it. */
void pay_page_write_faults(pay_html_t *html, const pay_problem_t *faults,
                           const pay_page_input_t *const *inputs, apr_size_t count);

/* An input with its label. `value` NULL: what was typed is not sent back. */
void pay_page_write_input(pay_html_t *html, const pay_problem_t *faults,
                          const pay_page_input_t *input, const char *value);

#endif
