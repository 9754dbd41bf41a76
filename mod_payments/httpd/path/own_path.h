/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PATH_OWN_PATH_H
#define PAY_HTTPD_PATH_OWN_PATH_H

/* Which paths below PaymentsBasePath are ours. Pure. */

/* Orders: this path and everything below it. */
#define PAY_OWN_PATH_ORDERS "/payment/order"
/* Hosted pages: this path and one more segment. */
#define PAY_OWN_PATH_PAGES "/payment/page/"

/* Return 1 if `path`, below PaymentsBasePath, is an order's, or a hosted page's. */
int pay_own_path_is_order(const char *path);
int pay_own_path_is_page(const char *path);

/* Returns the rest of `path` (single slashes) after the base path if it is ours, else NULL. */
const char *pay_own_path(const char *path, const char *base);

#endif
