/* SPDX-License-Identifier: Apache-2.0 */
#include "model/card_entry.h"

#include "base/crypto/crypto.h"
#include "base/problem.h"

#include <string.h>

#define CSC_MIN 3
#define CSC_MAX 4
#define CENTURY 2000        /* of a year of two digits */
#define EXPIRY_YEARS_MAX 50 /* no card is valid for longer: a year further on is a typing error */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads exactly `count` digits at `text`, which has as many characters. */
static int number_read(int *out, const char *text, int count)
{
    int i;

    *out = 0;
    for (i = 0; i < count; i++) {
        if (!is_digit(text[i])) {
            return 0;
        }
        *out = 10 * *out + (text[i] - '0');
    }
    return 1;
}

/* Reads "MM/YY", "MM/YYYY", "MM YY", "MMYY" and their common variants: blanks around the
 * separator. */
static int expiry_read(int *year, int *month, const char *text)
{
    apr_size_t len;

    *year = 0;
    text += strspn(text, " ");
    if (strspn(text, "0123456789") < 2 || !number_read(month, text, 2)) {
        return 0;
    }
    text += 2;
    text += strspn(text, " ");
    if (*text == '/' || *text == '-') {
        text++;
    }
    text += strspn(text, " ");
    len = strspn(text, "0123456789");
    if (text[len + strspn(text + len, " ")] != '\0' || (len != 2 && len != 4)) {
        return 0;
    }
    number_read(year, text, (int)len);
    if (len == 2) {
        *year += CENTURY;
    }
    return *month >= 1 && *month <= 12;
}

/*
 * Returns NULL, or the predicate of "the expiry must be". A card is valid to the end of its month.
 */
static const char *expiry_fault(const char *text, apr_time_t now)
{
    apr_time_exp_t today;
    int year, month;

    if (!text || !expiry_read(&year, &month, text)) {
        return "must be the month and year on the card, such as 09/29";
    }
    apr_time_exp_gmt(&today, now);
    if (year * 12 + month < (today.tm_year + 1900) * 12 + today.tm_mon + 1) {
        return "must not be in the past";
    }
    if (year > today.tm_year + 1900 + EXPIRY_YEARS_MAX) {
        return "must be the month and year on the card, such as 09/29";
    }
    return NULL;
}

static int csc_is(const char *text)
{
    apr_size_t len = text ? strspn(text, "0123456789") : 0;

    return len >= CSC_MIN && len <= CSC_MAX && text[len] == '\0';
}

const pay_problem_t *pay_card_entry_judge(const pay_card_t **card, const pay_card_entry_t *entry,
                                          apr_time_t now, apr_pool_t *p)
{
    const char *fault = expiry_fault(entry->expiry, now);
    pay_problem_t *problem = NULL;

    *card = entry->number ? pay_test_card_find(entry->number) : NULL;
    if (!*card) {
        pay_problem_add(&problem, "/number",
                        "must be the number of a test card: this is Test Mode, and no real card is "
                        "taken",
                        p);
    }
    if (fault) {
        pay_problem_add(&problem, "/expiry", fault, p);
    }
    if (!csc_is(entry->csc)) {
        pay_problem_add(&problem, "/csc", "must be 3 or 4 digits", p);
    }
    if (problem) {
        *card = NULL;
    }
    pay_wipe_traces();
    return problem;
}
