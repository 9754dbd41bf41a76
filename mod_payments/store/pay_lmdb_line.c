/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_line.h"

#define SLOW_COMMIT_US 1200
#define PAUSE_PART 20
#define PAUSE_US_MAX 500

int pay_lmdb_batch_pause_us(int batch_count, apr_int64_t commit_us)
{
    apr_int64_t pause_us = commit_us / PAUSE_PART;

    if (batch_count <= 1 || commit_us <= SLOW_COMMIT_US) {
        return 0;
    }
    return pause_us < PAUSE_US_MAX ? (int)pause_us : PAUSE_US_MAX;
}

/* All with env->mutex held. */
static void line_join(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    waiter->next = NULL;
    if (env->last) {
        env->last->next = waiter;
    } else {
        env->first = waiter;
    }
    env->last = waiter;
    env->in_line++;
}

static void line_leave(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *waiter)
{
    pay_lmdb_waiter_t **link = &env->first;
    pay_lmdb_waiter_t *before = NULL;

    while (*link && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (!*link) {
        return;
    }
    *link = waiter->next;
    env->in_line--;
    if (env->last == waiter) {
        env->last = before;
    }
}

void pay_lmdb_line_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *taken[PAY_LMDB_BATCH_MAX],
                        int *count)
{
    pay_lmdb_waiter_t *waiter;

    pthread_mutex_lock(&env->mutex);
    while (env->first && *count < PAY_LMDB_BATCH_MAX) {
        waiter = env->first;
        line_leave(env, waiter);
        waiter->state = PAY_LMDB_TAKEN;
        taken[(*count)++] = waiter;
    }
    pthread_mutex_unlock(&env->mutex);
}

static void lead_pass_on(pay_lmdb_env_t *env)
{
    pay_lmdb_waiter_t *waiter = env->first;

    if (!waiter) {
        env->turn_taken = 0;
        pthread_cond_broadcast(&env->changed);
        return;
    }
    line_leave(env, waiter);
    waiter->state = PAY_LMDB_LEADS; /* the lead stays taken: nobody gets in between */
    pthread_cond_signal(&waiter->cond);
}

/* Until the work was done or the lead was handed over. */
static void line_wait(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    line_join(env, waiter);
    pay_lmdb_env_release(env); /* who only waits must not keep the file from being mapped anew */
    while (waiter->state == PAY_LMDB_WAITING) {
        if (!pay_lmdb_env_wait(&waiter->cond, &env->mutex, waiter->until_ms)) {
            break;
        }
    }
    if (waiter->state == PAY_LMDB_WAITING) {
        line_leave(env, waiter);
        waiter->rv = PAY_STORE_EBUSY;
        waiter->state = PAY_LMDB_DONE;
    }
    while (waiter->state == PAY_LMDB_TAKEN) {
        pthread_cond_wait(&waiter->cond, &env->mutex);
    }
    if (waiter->state == PAY_LMDB_LEADS && !pay_lmdb_env_use(env)) {
        waiter->rv = PAY_STORE_EDOWN;
        waiter->state = PAY_LMDB_DONE;
        lead_pass_on(env);
    }
}

int pay_lmdb_lead_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter, apr_int64_t now_ms)
{
    const apr_int64_t wait_ms = waiter->until_ms - now_ms;

    pay_lmdb_env_cond_init(&waiter->cond);
    pthread_mutex_lock(&env->mutex);
    if (!env->turn_taken) {
        env->turn_taken = 1;
        waiter->state = PAY_LMDB_LEADS;
    } else if (env->begin_since_ms && now_ms - env->begin_since_ms >= wait_ms) {
        /* Another process keeps LMDB's lock: whoever joined the line now would wait in vain. */
        pay_lmdb_env_release(env);
        waiter->rv = PAY_STORE_EBUSY;
        waiter->state = PAY_LMDB_DONE;
    } else {
        line_wait(env, waiter);
    }
    pthread_mutex_unlock(&env->mutex);
    pthread_cond_destroy(&waiter->cond);
    return waiter->state == PAY_LMDB_LEADS;
}

void pay_lmdb_lead_give(pay_lmdb_env_t *env, pay_lmdb_waiter_t *const taken[], int count)
{
    int i;

    pthread_mutex_lock(&env->mutex);
    lead_pass_on(env);
    for (i = 0; i < count; i++) {
        if (taken[i]->state == PAY_LMDB_TAKEN) {
            taken[i]->state = PAY_LMDB_DONE;
            pthread_cond_signal(&taken[i]->cond);
        }
    }
    pthread_mutex_unlock(&env->mutex);
}
