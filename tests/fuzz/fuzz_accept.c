/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

/* The source itself: it is on httpd's floor and in no library, but needs nothing of httpd. */
#include "httpd/call/accept.c"

/* The header Accept; the same text is tried as a Content-Type. */

static char *upper(const char *text, apr_pool_t *p)
{
    char *copy = apr_pstrdup(p, text), *at;

    for (at = copy; *at; at++) {
        *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    }
    return copy;
}

/* The elements from the last to the first; only for a text without quotes. */
static const char *reversed(const char *text, apr_pool_t *p)
{
    const char *out = "", *comma;

    for (; (comma = strchr(text, ',')) != NULL; text = comma + 1) {
        out = apr_pstrcat(p, ",", apr_pstrmemdup(p, text, (apr_size_t)(comma - text)), out, NULL);
    }
    return apr_pstrcat(p, text, out, NULL);
}

static void check_choice(const char *accept, apr_pool_t *p)
{
    const char *chosen = pay_accept_choose(accept);
    int i, known = !chosen;

    for (i = 0; i < OFFERS; i++) {
        known |= chosen == offers[i];
    }
    CHECK(known);
    CHECK(pay_accept_choose(upper(accept, p)) == chosen);
    CHECK(pay_accept_choose(apr_pstrcat(p, " \t", accept, NULL)) == chosen);
    if (strchr(accept, '"') || !accept[strspn(accept, " \t")]) {
        return;
    }
    /* Other accepted elements, their number and their order change nothing. */
    CHECK(pay_accept_choose(apr_pstrcat(p, accept, ",", accept, NULL)) == chosen);
    CHECK(pay_accept_choose(apr_pstrcat(p, accept, ", image/png;q=0.9", NULL)) == chosen);
    CHECK(pay_accept_choose(apr_pstrcat(p, "text/html,", accept, NULL)) == chosen);
    CHECK(pay_accept_choose(reversed(accept, p)) == chosen);
}

static void check_type(const char *type, apr_pool_t *p)
{
    int is_json = pay_accept_is_json(type);

    CHECK(is_json == 0 || is_json == 1);
    CHECK(pay_accept_is_json(upper(type, p)) == is_json);
    CHECK(pay_accept_is_json(apr_pstrcat(p, "\t ", type, NULL)) == is_json);
    if (is_json) {
        CHECK(pay_accept_is_json(apr_pstrcat(p, type, "; charset=utf-8", NULL)));
    }
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *text = fuzz_text(data, size);

    check_choice(text, p);
    check_type(text, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
