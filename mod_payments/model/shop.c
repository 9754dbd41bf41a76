/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shop.h"

#include "base/net/url.h"
#include "model/card.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define SCHEMES "https http"

/* The characters that RFC 3986 allows in a path and its query. */
static const char path_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "-._~:/?@!$&'()*+,;=%";

/* "/a/b": one slash at its start, so that no browser reads a host in it. */
static int is_path(const char *text)
{
    return text[0] == '/' && text[1] != '/' && strspn(text, path_chars) == strlen(text);
}

const char *pay_shop_name_fault(const char *name)
{
    if (pay_text_length(name) > PAY_SHOP_NAME_MAX) {
        return "want at most " APR_STRINGIFY(PAY_SHOP_NAME_MAX) " characters";
    }
    if (!pay_text_is_visible(name, "")) {
        return "want one line of UTF-8 text without control or invisible characters";
    }
    if (pay_card_number_within(name)) {
        return "want no card number in it";
    }
    return NULL;
}

const char *pay_shop_logo_fault(const char *logo, apr_pool_t *p)
{
    const char *fault;
    pay_url_t *url;

    if (strlen(logo) > PAY_SHOP_LOGO_MAX) {
        return "want at most " APR_STRINGIFY(PAY_SHOP_LOGO_MAX) " bytes";
    }
    if (!*logo || is_path(logo)) {
        return NULL;
    }
    if (pay_url_parse(&url, &fault, logo, SCHEMES, p) != APR_SUCCESS) {
        return "want a path such as /logo.png, or the complete http or https URL of a picture on "
               "the payment page's own host";
    }
    return NULL;
}

const char *pay_shop_text_fault(const char *text)
{
    if (pay_text_length(text) > PAY_SHOP_TEXT_MAX) {
        return "want at most " APR_STRINGIFY(PAY_SHOP_TEXT_MAX) " characters";
    }
    if (!pay_text_is_visible(text, "\n")) {
        return "want UTF-8 text without invisible characters, and without control characters other "
               "than line "
               "breaks";
    }
    if (pay_card_number_within(text)) {
        return "want no card number in it";
    }
    return NULL;
}

const char *pay_shop_logo_path(const char *logo, const char *authority, apr_pool_t *p)
{
    const char *fault, *path;
    pay_url_t *url;

    if (is_path(logo)) {
        return logo;
    }
    if (!*logo || pay_url_parse(&url, &fault, logo, SCHEMES, p) != APR_SUCCESS
        || !pay_url_is_at(url, authority)) {
        return NULL;
    }
    path = strstr(url->text, "://");
    path = path ? strchr(path + 3, '/') : NULL;
    return path && is_path(path) ? path : NULL;
}
