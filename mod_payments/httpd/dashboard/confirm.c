/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/confirm.h"

#include "base/crypto/challenge.h"
#include "base/log.h"
#include "base/text/time.h"
#include "httpd/call/rates.h"
#include "httpd/dashboard/audit.h"
#include "httpd/dashboard/password.h"
#include "model/audit.h"
#include "model/idempotency.h"
#include "service/outbox/confirmation.h"

#include <apr_shm.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

APLOG_USE_MODULE(payments);

#define CODE_ASKED "C3" /* or the password */
#define CODE_NONE "C4"  /* it cannot be confirmed here */
#define FIELD_PASSWORD "/confirm/password"
#define FIELD_CODE "/confirm/code"
#define PLACES 4096 /* challenges at a time: 32 KiB */
#define ID_LEN 16

/* The change to confirm. */
typedef struct question_t {
    request_rec *r;
    const pay_dashboard_t *dashboard;
    const pay_dashboard_ask_t *ask;
    const char *change;                /* the ask's, as one line of plain text */
    const pay_json_t *answer;          /* the body's member; NULL: absent */
    unsigned char who[PAY_SHA256_LEN]; /* user and host */
} question_t;

static pay_challenge_table_t *challenges; /* NULL: there are no codes */

void pay_dashboard_confirm_share(server_rec *main_server, apr_pool_t *pconf)
{
    unsigned char secret[PAY_CHALLENGE_SECRET_LEN];
    apr_shm_t *shm;
    apr_status_t rv;

    challenges = NULL;
    rv = pay_random_bytes(secret, sizeof(secret));
    if (rv == APR_SUCCESS) {
        rv = apr_shm_create(&shm, pay_challenge_size(PLACES), NULL, pconf);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00683) "PaymentsDashboard: no shared memory or random numbers: no "
                                     "codes to confirm changes are sent until the next start");
        return;
    }
    memset(apr_shm_baseaddr_get(shm), 0, pay_challenge_size(PLACES));
    challenges = pay_challenge_init(apr_shm_baseaddr_get(shm), PLACES, secret);
    pay_wipe(secret, sizeof(secret));
}

/* ---- answers */

static const pay_problem_t *asked(const question_t *q, const char *field, const char *reason,
                                  const char *message)
{
    pay_problem_t *problem = pay_problem_makef(PAY_ERR_FORBIDDEN, q->r->pool, "%s", message);

    problem->code = CODE_ASKED;
    pay_problem_add(&problem, field, reason, q->r->pool);
    return problem;
}

static const pay_problem_t *no_way(const question_t *q, const char *lacks)
{
    pay_problem_t *problem = pay_problem_makef(
        PAY_ERR_FORBIDDEN, q->r->pool,
        "The dashboard cannot %s here: this must be confirmed, you did not sign in with a "
        "password that could be requested again, and %s. The server's administrator can use: "
        "paymentsctl %s",
        q->change, lacks, q->ask->command);

    problem->code = CODE_NONE;
    return problem;
}

/* The limit's 429, in words that name the limit. */
static const pay_problem_t *slow_down(const question_t *q, const pay_problem_t *limit,
                                      const char *what)
{
    pay_problem_t *problem = apr_pmemdup(q->r->pool, limit, sizeof(*limit));

    problem->message = apr_psprintf(q->r->pool, "%s Try again in %d seconds. Nothing was changed.",
                                    what, limit->retry_after);
    return problem;
}

static void tell_wrong(const question_t *q, const char *what)
{
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, q->r,
                  PAYLOGNO(00684) "PaymentsDashboard: user %s could not confirm to %s: the %s is "
                                  "wrong",
                  q->dashboard->user, q->change, what);
    pay_dashboard_audit_refused(q->r, q->dashboard,
                                apr_pstrcat(q->r->pool, "the ", what, " was wrong", NULL));
}

/* ---- a code, sent to the merchant's address */

/* Exactly this change: user, host, and everything in the body. */
static apr_status_t digest_of(unsigned char out[PAY_SHA256_LEN], const question_t *q)
{
    const pay_dashboard_t *dashboard = q->dashboard;
    const char *values[] = {
        "confirm",       dashboard->user,
        dashboard->host, dashboard->account->name,
        dashboard->path, pay_json_text_without(dashboard->body, PAY_DASHBOARD_CONFIRM, q->r->pool)};

    if (!values[5]) {
        return APR_ENOMEM;
    }
    return pay_idempotency_digest(out, values, sizeof(values) / sizeof(values[0]));
}

/* "ABCD-EFGH" */
static const char *code_text(const char *code, apr_pool_t *p)
{
    const int half = PAY_CHALLENGE_CODE_LEN / 2;

    return apr_psprintf(p, "%.*s-%s", half, code, code + half);
}

static const pay_problem_t *send_code(const question_t *q, const pay_confirmation_way_t *way,
                                      const unsigned char *digest)
{
    const pay_dashboard_t *dashboard = q->dashboard;
    apr_pool_t *p = q->r->pool;
    pay_mail_confirmation_t mail = {
        .change = q->change,
        .user = dashboard->user,
        .host = dashboard->host,
        .minutes = PAY_CHALLENGE_MINUTES,
        .at = pay_time_now(),
    };
    char code[PAY_CHALLENGE_CODE_LEN + 1];
    unsigned char id[ID_LEN];
    const char *fault;
    apr_status_t rv;

    rv = pay_random_bytes(id, sizeof(id));
    if (rv == APR_SUCCESS) {
        rv = pay_challenge_code(code, challenges, digest, pay_time_boot_ms());
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    mail.id = pay_hex(id, sizeof(id), p);
    mail.code = code_text(code, p);
    fault = pay_confirmation_send(way, &mail, dashboard->account, p);
    if (!fault) {
        return NULL;
    }
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, q->r,
                  PAYLOGNO(00685) "PaymentsDashboard: the code that confirms a change of account "
                                  "%s could not be sent: %s",
                  dashboard->account->name, fault);
    return pay_problem_makef(PAY_ERR_STORE_UNAVAILABLE, p,
                             "The confirmation code could not be sent: the server's error log "
                             "gives the reason. Try again, or ask its administrator to use: "
                             "paymentsctl %s",
                             q->ask->command);
}

static const pay_problem_t *ask_code(const question_t *q, const pay_confirmation_way_t *way,
                                     const unsigned char *digest)
{
    const pay_problem_t *problem;

    problem = pay_rates_judge_code(q->r, q->who);
    if (problem) {
        return slow_down(q, problem, "Too many codes were sent.");
    }
    problem = send_code(q, way, digest);
    if (problem) {
        return problem;
    }
    return asked(q, FIELD_CODE, "must be the code that was sent",
                 apr_psprintf(q->r->pool,
                              "To %s, type the code that was just sent to %s. It is valid for %d "
                              "minutes.",
                              q->change, way->address, PAY_CHALLENGE_MINUTES));
}

static const pay_problem_t *judge_code(const question_t *q, const unsigned char *digest,
                                       const char *typed)
{
    switch (pay_challenge_try(challenges, digest, typed, pay_time_boot_ms())) {
    case PAY_CHALLENGE_RIGHT:
        return NULL;
    case PAY_CHALLENGE_WRONG:
        tell_wrong(q, "code");
        return asked(q, FIELD_CODE, "is not the code that was sent",
                     "The code is wrong. Nothing was changed.");
    default:
        return asked(q, FIELD_CODE,
                     "is no longer valid: close this and begin again, and another one is sent",
                     "The code is no longer valid. Nothing was changed.");
    }
}

static const pay_problem_t *by_code(const question_t *q)
{
    const char *typed = q->answer ? pay_json_string(q->answer, "code") : NULL;
    unsigned char digest[PAY_SHA256_LEN];
    const pay_problem_t *problem;
    pay_confirmation_way_t way;
    apr_status_t rv;

    problem = pay_confirmation_way(&way, q->dashboard->service, q->dashboard->account, q->r->pool);
    if (problem) {
        return problem;
    }
    if (way.lacks || !challenges) {
        return no_way(q, way.lacks ? way.lacks : "the server makes no codes");
    }
    rv = digest_of(digest, q);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, q->r->pool);
    }
    return typed && *typed ? judge_code(q, digest, typed) : ask_code(q, &way, digest);
}

/* ---- the password */

static const pay_problem_t *ask_password(const question_t *q)
{
    return asked(q, FIELD_PASSWORD, "must be the password with which you sign in",
                 apr_psprintf(q->r->pool, "To %s, type your password once more.", q->change));
}

static const pay_problem_t *wrong_password(const question_t *q)
{
    tell_wrong(q, "password");
    return asked(q, FIELD_PASSWORD, "is not your password",
                 "The password is wrong. Nothing was changed.");
}

/* *verdict counts if there is no fault. */
static const pay_problem_t *by_password(pay_dashboard_password_verdict_t *verdict,
                                        const question_t *q)
{
    const char *typed = q->answer ? pay_json_string(q->answer, "password") : NULL;
    const pay_problem_t *problem;

    *verdict = PAY_PASSWORD_WRONG;
    if (!typed || !*typed) {
        return ask_password(q);
    }
    problem = pay_rates_judge_confirmation(q->r, q->who);
    if (problem) {
        return slow_down(q, problem, "The password was wrong too often.");
    }
    if (strlen(typed) <= PAY_DASHBOARD_PASSWORD_MAX) {
        *verdict = pay_dashboard_judge_password(q->r, typed);
    }
    if (*verdict == PAY_PASSWORD_WRONG) {
        return wrong_password(q);
    }
    pay_rates_confirmed(q->who);
    return NULL;
}

/* ---- */

/* *how: in the audit's words. */
static const pay_problem_t *confirm(const char **how, request_rec *r,
                                    const pay_dashboard_t *dashboard,
                                    const pay_dashboard_ask_t *ask)
{
    const char *values[] = {dashboard->user, dashboard->host};
    pay_dashboard_password_verdict_t verdict;
    question_t q = {.r = r, .dashboard = dashboard, .ask = ask};
    const pay_problem_t *problem;
    apr_status_t rv;

    q.change = pay_audit_text(ask->change, r->pool);
    q.answer = pay_json_object(dashboard->body, PAY_DASHBOARD_CONFIRM, r->pool);
    rv = pay_idempotency_digest(q.who, values, 2);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool);
    }
    if (pay_dashboard_has_password(r)) {
        *how = "confirmed by password";
        problem = by_password(&verdict, &q);
        if (problem || verdict == PAY_PASSWORD_RIGHT) {
            return problem;
        }
    }
    *how = "confirmed by a code";
    return by_code(&q);
}

const pay_problem_t *pay_dashboard_confirm(request_rec *r, const pay_dashboard_t *dashboard,
                                           const pay_dashboard_ask_t *ask)
{
    const pay_problem_t *problem;
    const char *how;

    if (!ask) {
        return NULL;
    }
    problem = confirm(&how, r, dashboard, ask);
    if (!problem) {
        dashboard->actor->from = apr_pstrcat(r->pool, dashboard->actor->from, ", ", how, NULL);
    }
    return problem;
}
