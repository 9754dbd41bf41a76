/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/routes.h"

#include "base/shared/meter.h"
#include "httpd/api/api.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <string.h>

/* A literal path in a row matches no pattern (OpenAPI 3.1, 4.8.8.2). Of two patterns that match a
 * path the first counts: /api/v1/checkout/transaction/verify means the reference "transaction". */
static const pay_route_t routes[] = {
    {"tokenized-card-charge", "/api/v1/tokenized-card-charge", M_POST, 0, pay_api_charge_create},
    {"refund", "/api/v1/refund", M_POST, 0, pay_api_refund_create},
    {"partial-refund", "/api/v1/partial-refund", M_POST, 0, pay_api_refund_create_partial},
    {"refund-get", "/api/v1/refund/*", M_GET, 0, pay_api_refund_get},
    {"refund-list", "/api/v1/refund/*/*", M_GET, 0, pay_api_refund_list},
    {"checkout-verify", "/api/v1/checkout/*/verify", M_GET, 1, pay_api_transaction_get},
    {"transaction-verify", "/api/v1/transaction/*/verify", M_GET, 0, pay_api_transaction_get},
    {"transaction-verify-amount", "/api/v1/transaction/verify", M_POST, 0,
     pay_api_transaction_verify},
    {"transaction-fee", "/api/v1/transaction-fee", M_POST, 1, pay_api_transaction_fee},
    {"transaction-list", "/api/v1/transaction", M_GET, 0, pay_api_transaction_list},
    {"checkout-transaction", "/api/v1/checkout/transaction/*", M_GET, 1, pay_api_transaction_shown},
    {"report", "/api/v1/report/*/*", M_GET, 0, pay_api_report},
    {"ussd-banks", "/api/v1/ussd-getbanks", M_GET, 1, pay_api_bank_list},
    {"banks", "/api/v1/banks/*", M_GET, 1, pay_api_bank_list},
    {"virtual-account-banks", "/api/v1/virtual-accounts/bank-list", M_GET, 1, pay_api_bank_list},
    {"void-transaction", "/api/v1/void-transaction", M_POST, 0, pay_api_transaction_void},
    {"paymentlink-initiate", "/api/v1/paymentlink/initiate", M_POST, 1,
     pay_api_paymentlink_initiate},
    {"initiate", "/api/v1/initiate", M_POST, 1, pay_api_checkout_initiate},
    {"order-create", PAY_OWN_PATH_ORDERS "/create", M_POST, 1, pay_api_order_create},
    {"order-verify", PAY_OWN_PATH_ORDERS "/verify", M_POST, 1, pay_api_order_verify},
    {"order-status", PAY_OWN_PATH_ORDERS "/status", M_POST, 1, pay_api_order_verify},
    {"order-fee", PAY_OWN_PATH_ORDERS "/fee", M_POST, 1, pay_api_order_fee},
    {"order-status-get", PAY_OWN_PATH_ORDERS "/status/*", M_GET, 1, pay_api_order_get},
    {"order-get", PAY_OWN_PATH_ORDERS "/*", M_GET, 1, pay_api_order_get},
    {"openapi", "/api/v1/openapi.json", M_GET, 1, pay_api_openapi_get},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))
_Static_assert(ROUTES + 1 <= PAY_METER_OPERATIONS_MAX, "each operation is counted");

int pay_route_is_written(const char *path)
{
    apr_size_t i;

    for (i = 0; i < ROUTES; i++) {
        if (!strcmp(routes[i].path, path)) {
            return 1;
        }
    }
    return 0;
}

const pay_route_t *pay_route_find(const char **allow, const char *segment[PAY_PATH_SEGMENTS_MAX],
                                  const char *path, int method, apr_pool_t *p)
{
    const pay_route_t *found = NULL;
    const char *tried[PAY_PATH_SEGMENTS_MAX];
    const char *list = "", *name;
    const int written = pay_route_is_written(path);
    apr_size_t i;

    *allow = NULL;
    for (i = 0; i < ROUTES; i++) {
        if ((written && strcmp(routes[i].path, path) != 0)
            || !pay_path_matches(tried, routes[i].path, path, p)) {
            continue;
        }
        name = routes[i].method == M_GET ? "GET, HEAD, " : "POST, ";
        if (strstr(list, name)) {
            continue;
        }
        list = apr_pstrcat(p, list, name, NULL);
        if (routes[i].method == method) {
            found = &routes[i];
            memcpy(segment, tried, sizeof(tried));
        }
    }
    if (*list) {
        *allow = apr_pstrcat(p, list, "OPTIONS", NULL);
    }
    return found;
}

int pay_route_number(const pay_route_t *route)
{
    return (int)(route - routes) + 1;
}

const pay_route_t *pay_route_at(int number)
{
    return number > 0 && (apr_size_t)number <= ROUTES ? &routes[number - 1] : NULL;
}

const char *pay_route_operation(int number)
{
    const pay_route_t *route = pay_route_at(number);

    return number == 0 ? "none" : route ? route->operation : NULL;
}
