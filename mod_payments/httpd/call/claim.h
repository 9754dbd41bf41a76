/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_CLAIM_H
#define PAY_HTTPD_CALL_CLAIM_H

/*
 * Claims our URLs before rewriting, aliases, handlers and a site's .htaccess can take them, and
 * keeps a site's ErrorDocument away from them.
 */

#include <httpd.h>

/* The handler's name in r->handler. */
#define PAY_CLAIM_HANDLER "payments-api"

/* Returns 1 if the URL of `r` is ours; also before httpd has decoded it, after an early error. */
int pay_claim_is_ours(request_rec *r);

/* Returns 1 if the URL of `r`, which is ours, is that of a hosted page. */
int pay_claim_is_page(request_rec *r);

/*
 * Sets a text for each status, so that httpd does not redirect to the site's ErrorDocument but
 * calls an error filter, which replaces the text.
 */
void pay_claim_forget_error_documents(request_rec *r);

void pay_claim_register_hooks(apr_pool_t *p);

#endif
