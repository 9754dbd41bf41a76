/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/httpd_log.h"

#include "acquirer/mod_payments.h"
#include "base/log.h"
#include "store/store.h"

#include <http_config.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

_Static_assert(PAY_LOG_EMERG == APLOG_EMERG, "the levels are httpd's");
_Static_assert(PAY_LOG_DEBUG == APLOG_DEBUG, "the levels are httpd's");

const char *pay_httpd_log_cause(apr_status_t *status, const char *otherwise)
{
    const char *text = pay_store_status_text(*status);

    if (*status == PAYMENTS_NOT_SENT) {
        text = "nothing reached the acquirer";
    }
    if (!text) {
        return otherwise;
    }
    *status = APR_SUCCESS;
    return text;
}

static void sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    server_rec *s = baton;

    const char *cause = pay_httpd_log_cause(&status, NULL);

    ap_log_error(APLOG_MARK, (int)level, status, s, "%s%s%s", text, cause ? ": " : "",
                 cause ? cause : "");
}

void pay_httpd_log_start(server_rec *main_server)
{
    pay_log_set_sink(sink, main_server);
}
