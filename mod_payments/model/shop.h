/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_SHOP_H
#define PAY_MODEL_SHOP_H

/* An account's description of itself for payers, on hosted pages (docs/checkout.md). Pure. */

#include <apr_pools.h>

#define PAY_SHOP_NAME_MAX 100 /* characters */
#define PAY_SHOP_LOGO_MAX 500 /* bytes */
#define PAY_SHOP_TEXT_MAX 500 /* characters */

/* Returns NULL if the value may be stored; "" always may. Else a sentence that says what is
 * expected and repeats nothing. */
const char *pay_shop_name_fault(const char *name);
const char *pay_shop_logo_fault(const char *logo, apr_pool_t *p);
const char *pay_shop_text_fault(const char *text);

/*
 * Returns the path (with its query) under which a page at `authority` ("shop.example",
 * "[::1]:8443": the Host header) shows the logo; NULL if there is no logo, or if it is on another
 * origin.
 */
const char *pay_shop_logo_path(const char *logo, const char *authority, apr_pool_t *p);

#endif
