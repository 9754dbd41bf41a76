/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkout.h"

#include <apr_escape.h>
#include <apr_strings.h>
#include <string.h>

#define PAGE_ID_ALPHABET "abcdefghijklmnopqrstuvwxyz234567"

int pay_checkout_is_over(const pay_charge_t *charge, apr_time_t now)
{
    const apr_time_t expires_at = charge->checkout->expires_at;
    apr_interval_time_t age;

    if (now >= expires_at) {
        return 1;
    }
    return expires_at - now > PAY_CHECKOUT_LIFETIME_MAX + PAY_CHECKOUT_AHEAD_MAX
           && (!pay_moment_age(&age, &charge->opened) || age >= expires_at - charge->created_at);
}

static pay_checkout_stage_t stage_of_pending(const pay_charge_t *charge, apr_time_t now)
{
    const pay_checkout_t *checkout = charge->checkout;

    if (!checkout) {
        return PAY_STAGE_CLOSED; /* its row is lost: nobody can pay it here */
    }
    if (checkout->step == PAY_CHECKOUT_SENT) {
        return PAY_STAGE_WAITING;
    }
    if (pay_checkout_is_over(charge, now)) {
        return PAY_STAGE_EXPIRED;
    }
    return checkout->step == PAY_CHECKOUT_CODE ? PAY_STAGE_CODE : PAY_STAGE_PAY;
}

pay_checkout_stage_t pay_checkout_stage(const pay_charge_t *charge, apr_time_t now)
{
    const pay_checkout_t *checkout = charge->checkout;

    switch (charge->state) {
    case PAY_CHARGE_PENDING:
        return stage_of_pending(charge, now);
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
        return PAY_STAGE_APPROVED;
    case PAY_CHARGE_FAILED:
        return PAY_STAGE_DECLINED;
    case PAY_CHARGE_ABANDONED:
        return checkout && checkout->step == PAY_CHECKOUT_CANCELLED ? PAY_STAGE_CANCELLED
                                                                    : PAY_STAGE_EXPIRED;
    case PAY_CHARGE_VOID:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return PAY_STAGE_CLOSED;
}

int pay_checkout_is_open(const pay_charge_t *charge)
{
    const pay_checkout_t *checkout = charge->checkout;

    if (charge->state != PAY_CHARGE_PENDING || !checkout) {
        return 0;
    }
    return (checkout->step == PAY_CHECKOUT_OPEN || checkout->step == PAY_CHECKOUT_CODE)
           && charge->due_at != 0 && charge->due_at <= checkout->expires_at
           && (charge->scope.mode != PAY_LIVE || *checkout->acquirer_url);
}

unsigned int pay_charge_word(const pay_charge_t *charge)
{
    return pay_checkout_is_open(charge) ? PAY_CHARGE_WORD_OPEN : (unsigned int)charge->state;
}

const char *pay_charge_word_name(unsigned int word)
{
    return word == PAY_CHARGE_WORD_OPEN ? "open" : pay_charge_state_name((pay_charge_state_t)word);
}

apr_status_t pay_charge_word_parse(unsigned int *out, const char *text)
{
    unsigned int word;

    *out = 0;
    for (word = 0; word <= PAY_CHARGE_WORD_OPEN; word++) {
        if (strcmp(text, pay_charge_word_name(word)) == 0) {
            *out = word;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

pay_checkout_stage_t pay_checkout_told(const pay_charge_t *charge, apr_time_t now)
{
    const pay_checkout_stage_t stage = pay_checkout_stage(charge, now);

    if (charge->scope.mode != PAY_LIVE || (charge->due_at == 0 && charge->held == PAY_NOT_HELD)) {
        return stage;
    }
    switch (stage) {
    case PAY_STAGE_CANCELLED:
    case PAY_STAGE_EXPIRED:
    case PAY_STAGE_CLOSED:
        return PAY_STAGE_ASKED;
    default:
        return stage;
    }
}

const char *pay_checkout_return_status(pay_checkout_stage_t stage)
{
    static const char *const statuses[] = {
        [PAY_STAGE_PAY] = "cancelled",       [PAY_STAGE_CODE] = "cancelled",
        [PAY_STAGE_ASKED] = "pending",       [PAY_STAGE_WAITING] = "pending",
        [PAY_STAGE_APPROVED] = "successful", [PAY_STAGE_DECLINED] = "failed",
        [PAY_STAGE_CANCELLED] = "cancelled", [PAY_STAGE_EXPIRED] = "cancelled",
        [PAY_STAGE_CLOSED] = "cancelled",
    };
    _Static_assert(sizeof(statuses) / sizeof(statuses[0]) == PAY_STAGE_COUNT, "one row a stage");

    return (unsigned int)stage < PAY_STAGE_COUNT ? statuses[stage] : "cancelled";
}

const char *pay_checkout_return_url(const pay_charge_t *charge, pay_checkout_stage_t stage,
                                    apr_pool_t *p)
{
    const char *url = charge->checkout ? charge->checkout->redirect_url : "";
    const char *fragment = strchr(url, '#');
    const char *bare;

    if (!*url) {
        return "";
    }
    bare = fragment ? apr_pstrmemdup(p, url, (apr_size_t)(fragment - url)) : url;
    return apr_pstrcat(p, bare, strchr(bare, '?') ? "&" : "?",
                       "reference=", apr_pescape_urlencoded(p, charge->reference),
                       "&status=", pay_checkout_return_status(stage), fragment ? fragment : "",
                       NULL);
}

const char *pay_checkout_page_url(const pay_charge_t *charge, const char *root, apr_pool_t *p)
{
    return apr_pstrcat(p, root, charge->checkout->page_id,
                       "?reference=", apr_pescape_urlencoded(p, charge->reference), NULL);
}

int pay_page_id_is(const char *text)
{
    return strlen(text) == PAY_PAGE_ID_LEN && strspn(text, PAGE_ID_ALPHABET) == PAY_PAGE_ID_LEN;
}
