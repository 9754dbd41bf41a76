/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/accept.h"

#include <apr_lib.h>
#include <string.h>
#include <strings.h>

#define WEIGHT_MAX 1000 /* q=1.000 */
#define OFFERS 3

static const char *const offers[OFFERS] = {PAY_MEDIA_JSON, "text/json", "text/plain"};

typedef struct offer_state_t {
    int precision; /* of the deciding range: 1 any, 2 type, 3 type and subtype; 0: none so far */
    int weight;
} offer_state_t;

/* Returns how precisely the range of `len` bytes matches `type`, 0: not at all. */
static int precision_of(const char *range, apr_size_t len, const char *type)
{
    apr_size_t main_len = (apr_size_t)(strchr(type, '/') - type) + 1;

    if (len == 3 && !memcmp(range, "*/*", 3)) {
        return 1;
    }
    if (len == main_len + 1 && range[main_len] == '*' && !strncasecmp(range, type, main_len)) {
        return 2;
    }
    return len == strlen(type) && !strncasecmp(range, type, len) ? 3 : 0;
}

/* Converts "0.5" to 500; an invalid weight counts as absent, and so as 1. */
static int weight_of(const char *text)
{
    int weight = 0, unit = 100;

    if (*text != '0') {
        return WEIGHT_MAX;
    }
    if (text[1] == '.') {
        for (text += 2; apr_isdigit(*text); text++, unit /= 10) {
            weight += (*text - '0') * unit;
        }
    }
    return weight;
}

/* Returns the end of a list element or parameter: `stop` outside of quotes, or the text's end. */
static const char *part_end(const char *at, const char *stop)
{
    int quoted = 0;

    for (; *at && (quoted || !strchr(stop, *at)); at++) {
        if (quoted && *at == '\\' && at[1]) {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
        }
    }
    return at;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Returns the weight among the parameters from `at`, a ';' or the element's end. */
static int element_weight(const char *at, const char *end)
{
    while (at < end && *at == ';') {
        at = skip_blanks(at + 1);
        if ((*at == 'q' || *at == 'Q') && at[1] == '=') {
            return weight_of(at + 2);
        }
        at = part_end(at, ";,");
    }
    return WEIGHT_MAX;
}

static void judge_element(offer_state_t *state, const char *at, const char *end)
{
    const char *params = part_end(at, ";,");
    apr_size_t len = (apr_size_t)(params - at);
    int weight = element_weight(params, end);
    int precision, i;

    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t')) {
        len--;
    }
    for (i = 0; i < OFFERS; i++) {
        precision = precision_of(at, len, offers[i]);
        if (precision > state[i].precision
            || (precision && precision == state[i].precision && weight > state[i].weight)) {
            state[i].precision = precision;
            state[i].weight = weight;
        }
    }
}

const char *pay_accept_choose(const char *accept)
{
    offer_state_t state[OFFERS] = {{0, 0}};
    const char *at, *end;
    int best = 0, i;

    at = accept ? skip_blanks(accept) : "";
    if (!*at) {
        return offers[0];
    }
    while (*at) {
        at = skip_blanks(at);
        end = part_end(at, ",");
        judge_element(state, at, end);
        at = *end ? end + 1 : end;
    }
    for (i = 1; i < OFFERS; i++) {
        if (state[i].weight > state[best].weight) {
            best = i;
        }
    }
    return state[best].weight > 0 ? offers[best] : NULL;
}

int pay_accept_is_json(const char *content_type)
{
    static const char application[] = "application/";
    static const char suffix[] = "+json";
    apr_size_t len;

    if (!content_type) {
        return 0;
    }
    content_type = skip_blanks(content_type);
    len = strcspn(content_type, "; \t");
    if (content_type[len + strspn(content_type + len, " \t")] != ';'
        && content_type[len + strspn(content_type + len, " \t")] != '\0') {
        return 0;
    }
    if (precision_of(content_type, len, offers[0]) == 3
        || precision_of(content_type, len, offers[1]) == 3) {
        return 1;
    }
    return len > sizeof(application) + sizeof(suffix) - 2
           && !strncasecmp(content_type, application, sizeof(application) - 1)
           && !strncasecmp(content_type + len - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1)
           && !memchr(content_type + sizeof(application) - 1, '/', len - (sizeof(application) - 1))
           && !memchr(content_type, ',', len);
}
