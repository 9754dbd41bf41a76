/* SPDX-License-Identifier: Apache-2.0 */
#include "model/audit.h"

#include "base/text/writer.h"
#include "model/text.h"

#include <apr_strings.h>

const char *pay_audit_text(const char *text, apr_pool_t *p)
{
    char *line = apr_pstrdup(p, pay_text_printable(text, PAY_AUDIT_TEXT_MAX, p));
    char *at;

    for (at = line; *at; at++) {
        if (*at == '\n' || *at == '\t') {
            *at = ' ';
        }
    }
    return line;
}

void pay_audit_to_json(pay_writer_t *w, const char *name, const pay_audit_t *entry,
                       const char *account)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "account", account);
    pay_writer_time(w, "at", entry->at);
    pay_writer_string(w, "who", entry->who);
    pay_writer_string(w, "from", entry->from);
    pay_writer_string(w, "what", entry->what);
    pay_writer_string(w, "subject", entry->subject);
    pay_writer_string(w, "detail", entry->detail);
    pay_writer_object_close(w);
}
