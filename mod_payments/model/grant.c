/* SPDX-License-Identifier: Apache-2.0 */
#include "model/grant.h"

#include "base/text/writer.h"
#include "model/text.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define PORT_DIGITS_MAX 5

static const char *const role_names[] = {
    [PAY_ROLE_VIEWER] = "viewer",
    [PAY_ROLE_OPERATOR] = "operator",
    [PAY_ROLE_OWNER] = "owner",
};
_Static_assert(sizeof(role_names) / sizeof(role_names[0]) == PAY_ROLE_LAST + 1, "a name each");

const char *pay_role_name(pay_role_t role)
{
    if (role < PAY_ROLE_VIEWER || role > PAY_ROLE_LAST) {
        return "unknown";
    }
    return role_names[role];
}

apr_status_t pay_role_parse(pay_role_t *out, const char *text)
{
    int role;

    *out = PAY_ROLE_VIEWER;
    for (role = PAY_ROLE_VIEWER; role <= PAY_ROLE_LAST; role++) {
        if (!strcmp(text, role_names[role])) {
            *out = (pay_role_t)role;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

/* Returns 1 if `text` is empty, or a colon and a port's digits. */
static int is_port(const char *text)
{
    const size_t digits = *text ? strspn(text + 1, "0123456789") : 0;

    return !*text || (*text == ':' && digits > 0 && digits <= PORT_DIGITS_MAX && !text[1 + digits]);
}

/* Returns the length of the name in *host without the port; 0 if it is not a name. */
static size_t name_length(const char **host)
{
    const char *colon = strchr(*host, ':');
    const char *end;

    if (**host == '[') {
        end = strchr(++*host, ']');
        return end && colon && colon < end && is_port(end + 1) ? (size_t)(end - *host) : 0;
    }
    if (!colon || strchr(colon + 1, ':')) {
        return strlen(*host); /* a name, or a bare IPv6 address, which has no port */
    }
    return is_port(colon) ? (size_t)(colon - *host) : 0;
}

apr_status_t pay_grant_host(const char **out, const char *text, apr_pool_t *p)
{
    const char *allowed;
    size_t len, i;
    char *host;

    *out = NULL;
    len = name_length(&text);
    allowed = memchr(text, ':', len) ? ".:" : ".-_";
    if (len > 0 && text[len - 1] == '.') {
        len--;
    }
    if (len < 1 || len > PAY_GRANT_HOST_MAX || text[0] == '.' || text[len - 1] == '.') {
        return APR_EINVAL;
    }
    host = apr_pstrmemdup(p, text, len);
    for (i = 0; i < len; i++) {
        if (host[i] >= 'A' && host[i] <= 'Z') {
            host[i] = (char)(host[i] - 'A' + 'a');
        }
        if (!(host[i] >= 'a' && host[i] <= 'z') && !apr_isdigit(host[i])
            && !strchr(allowed, host[i])) {
            return APR_EINVAL;
        }
    }
    *out = host;
    return APR_SUCCESS;
}

apr_status_t pay_grant_user_check(const char *user)
{
    const size_t len = strlen(user);

    return len >= 1 && len <= PAY_GRANT_USER_MAX && pay_text_is_plain(user, "") ? APR_SUCCESS
                                                                                : APR_EINVAL;
}

void pay_grant_to_json(pay_writer_t *w, const char *name, const pay_grant_t *grant)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "account", grant->account->name);
    pay_writer_string(w, "user", grant->user);
    pay_writer_string(w, "host", grant->host);
    pay_writer_string(w, "role", pay_role_name(grant->role));
    pay_writer_time(w, "grantedAt", grant->created_at);
    pay_writer_time(w, "updatedAt", grant->updated_at);
    pay_writer_object_close(w);
}
