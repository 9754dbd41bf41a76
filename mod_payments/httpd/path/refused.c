/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/path/refused.h"

#include <string.h>

#define CARDS                                                                                      \
    "Card numbers never come to this server, so that the shop need not answer for them: let the "  \
    "payer enter the card on the page of POST /api/v1/initiate, or charge a token by POST "        \
    "/api/v1/tokenized-card-charge. See docs/clients.md#card-numbers."
#define CHANNELS                                                                                   \
    "The payer chooses how to pay on the hosted page: make one by POST /api/v1/initiate. See "     \
    "docs/clients.md#payments-without-a-page."
#define PAYOUTS                                                                                    \
    "This server takes payments and gives them back; it holds no balance and pays nothing out: "   \
    "use the interface of your bank or acquirer. See docs/clients.md#payouts."
#define ACCOUNTS                                                                                   \
    "Virtual accounts are your bank's or acquirer's: a payer can choose a transfer on the page "   \
    "of POST /api/v1/initiate. See docs/clients.md#virtual-accounts."
#define HOOKS                                                                                      \
    "The acquirer's notifications come to a connector, not to this API: see docs/live-mode.md."

/* By version: those of /api/v1, and of /api/v3, where nothing else is ours. */
#define ROOT "/api/v1/"
#define OTHER_ROOT "/api/v3/"

static const struct {
    const char *path; /* this one and everything below it */
    const char *message;
} refused[] = {
    {"direct-card-charge", CARDS},
    {"direct-card-charge-auth", CARDS},
    {"direct-card-charge-internal", CARDS},
    {"card-payment", CARDS},
    {"card/validate-otp", CARDS},
    {"encrypt-data", CARDS},
    {"decrypt-data", CARDS},
    {"threedschallenge", CARDS},
    {"bank-transfer", CHANNELS},
    {"ussd-payment", CHANNELS},
    {"transfers", PAYOUTS},
    {"banks/account/verify", PAYOUTS},
    {"balance", PAYOUTS},
    {"virtual-account", ACCOUNTS},
    {"virtual-accounts", ACCOUNTS},
    {"budpay-incoming-webhook", HOOKS},
};

/* Returns the row's message; NULL if it is not one of them. */
static const char *message_of(const char *path)
{
    apr_size_t i;

    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        apr_size_t len = strlen(refused[i].path);

        if (!strncmp(path, refused[i].path, len) && (path[len] == '/' || path[len] == '\0')) {
            return refused[i].message;
        }
    }
    return NULL;
}

/* Returns the part after `root`; NULL if it is not below it. */
static const char *below(const char *root, const char *path)
{
    const apr_size_t len = strlen(root);

    return strncmp(path, root, len) ? NULL : path + len;
}

int pay_refused_is_elsewhere(const char *path)
{
    const char *rest = below(OTHER_ROOT, path);

    return rest && message_of(rest);
}

const pay_problem_t *pay_refused_problem(const char *path, apr_pool_t *p)
{
    const char *rest = below(ROOT, path);
    const char *message;

    if (!strcmp(path, "/payment/order/pay")) {
        message = CARDS;
    } else {
        rest = rest ? rest : below(OTHER_ROOT, path);
        message = rest ? message_of(rest) : NULL;
    }
    return message ? pay_problem_makef(PAY_ERR_NOT_IMPLEMENTED, p, "%s", message) : NULL;
}
