/* SPDX-License-Identifier: Apache-2.0 */
#include "service/failures.h"

#include "service/change.h"

#include "base/crypto/crypto.h"
#include "base/log.h"
#include "base/shared/meter.h"
#include "base/text/time.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <arpa/inet.h>
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 8
#define SPARE_PART 2    /* of an account's limit: further failures that other visitors may have */
#define ADDRESS_BYTES 8 /* of an IPv6 address, the smallest network of a subscriber */
#define ID_SEPARATOR '-'

/* Entries of the audit about beginning blocks, of one account and mode: a flood of cards must not
 * fill a store. */
static const pay_failure_limit_t notices = {100, apr_time_from_sec(3600)};

static const struct {
    const char *name;
    pay_meter_counter_t counter;
} kinds[] = {
    [PAY_FAILURE_CARD] = {"card", PAY_METER_FAILURE_LIMITED_CARD},
    [PAY_FAILURE_LINK] = {"link", PAY_METER_FAILURE_LIMITED_LINK},
    [PAY_FAILURE_ADDRESS] = {"address", PAY_METER_FAILURE_LIMITED_ADDRESS},
    [PAY_FAILURE_ACCOUNT] = {"account", PAY_METER_FAILURE_LIMITED_ACCOUNT},
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == PAY_FAILURE_KINDS, "one row a kind");

const char *pay_failure_kind_name(pay_failure_kind_t kind)
{
    assert(kind < PAY_FAILURE_KINDS);
    return kinds[kind].name;
}

/* Labels that are more than a name of the value. */
enum { OF_ALL = 'n', OF_VISITORS = 'v', OF_NETWORK = 'w' };

/* A counted value of an attempt. */
typedef struct counted_t {
    pay_failure_kind_t kind;
    char label;
    pay_failure_limit_t limit;
    unsigned char key[PAY_FAILURE_KEY_LEN];
    const char *hint;
} counted_t;

/* The keys of an attempt whose kinds have a limit. */
typedef struct keys_t {
    const pay_service_t *service;
    pay_failure_owner_t owner;
    const pay_failure_limit_t *limits;
    counted_t key[KEYS_MAX];
    int count;
} keys_t;

static pay_failure_owner_t owner_of(const pay_service_t *service, const pay_scope_t *scope)
{
    const pay_failure_owner_t owner = {service->failures_store, scope->account,
                                       (apr_uint32_t)scope->mode};

    return owner;
}

static void add_limited(keys_t *keys, pay_failure_kind_t kind, char label, const char *value,
                        const char *hint, const pay_failure_limit_t *limit)
{
    counted_t *one = &keys->key[keys->count];
    apr_status_t rv;

    assert(keys->count < KEYS_MAX);
    if (limit->count == 0) {
        return;
    }
    rv = pay_failure_key(one->key, keys->service->failures, &keys->owner, kind, label, value);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00752) "a payment could not be counted by its %s",
                kinds[kind].name);
        return;
    }
    one->kind = kind;
    one->label = label;
    one->limit = *limit;
    one->hint = hint;
    keys->count++;
}

static void add(keys_t *keys, pay_failure_kind_t kind, char label, const char *value,
                const char *hint)
{
    add_limited(keys, kind, label, value, hint, &keys->limits[kind]);
}

/* "203.0.113.*", "2001:db8:1:*": not a single person's. NULL if it is not an address. */
static const char *network_of(const char **value, const char *address, apr_pool_t *p)
{
    unsigned char bytes[16];

    *value = address;
    if (inet_pton(AF_INET, address, bytes) == 1) {
        return apr_psprintf(p, "%u.%u.%u.*", bytes[0], bytes[1], bytes[2]);
    }
    if (inet_pton(AF_INET6, address, bytes) == 1) {
        *value = pay_hex(bytes, ADDRESS_BYTES, p);
        return apr_psprintf(p, "%x:%x:%x:*", bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3],
                            bytes[4] << 8 | bytes[5]);
    }
    return NULL;
}

static void add_email(keys_t *keys, const char *email, apr_pool_t *p)
{
    char *lower = apr_pstrdup(p, email);
    char *c;

    for (c = lower; *c; c++) {
        *c = (char)apr_tolower(*c);
    }
    add(keys, PAY_FAILURE_CARD, 'e', lower,
        apr_isalnum(*lower) ? apr_psprintf(p, "e-mail %c*", *lower) : "e-mail");
}

static void add_card(keys_t *keys, const pay_attempt_t *attempt, apr_pool_t *p)
{
    const pay_card_t *card = attempt->card;
    apr_size_t len;

    if (card && *card->last4) {
        add(keys, PAY_FAILURE_CARD, 'c', apr_pstrcat(p, card->first6, card->last4, NULL),
            apr_psprintf(p, "card *%s", card->last4));
    }
    if (attempt->token && *attempt->token) {
        len = strlen(attempt->token);
        add(keys, PAY_FAILURE_CARD, 't', attempt->token,
            apr_psprintf(p, "token *%s", len > 8 ? attempt->token + len - 4 : ""));
    }
    if (attempt->email && *attempt->email) {
        add_email(keys, attempt->email, p);
    }
}

/*
 * Adds the account, and for a visitor the network and the counts for visitors once the account is
 * above its limit. The network is only remembered: no number of failures blocks it.
 */
static void add_account(keys_t *keys, const char *network)
{
    const pay_failure_limit_t *whole = &keys->limits[PAY_FAILURE_ACCOUNT];
    const pay_failure_limit_t spare = {(whole->count + SPARE_PART - 1) / SPARE_PART, whole->window};
    const pay_failure_limit_t remembered = {whole->count ? INT_MAX : 0, whole->window};

    add(keys, PAY_FAILURE_ACCOUNT, OF_ALL, "", "");
    if (network) {
        add_limited(keys, PAY_FAILURE_ACCOUNT, OF_VISITORS, "", "all visitors", &spare);
        add_limited(keys, PAY_FAILURE_ADDRESS, OF_NETWORK, network, network, &remembered);
    }
}

/* Returns 0 if there is nothing to judge by. */
static int keys_of(keys_t *keys, const pay_service_t *service, const pay_attempt_t *attempt,
                   apr_pool_t *p)
{
    const char *value, *hint;

    memset(keys, 0, sizeof(*keys));
    if (!service || !service->failures) {
        return 0;
    }
    keys->service = service;
    keys->owner = owner_of(service, &attempt->scope);
    keys->limits = service->policy.failure_limit[attempt->scope.mode];
    add_card(keys, attempt, p);
    if (attempt->link && *attempt->link) {
        add(keys, PAY_FAILURE_LINK, 'l', attempt->link,
            apr_pstrmemdup(p, attempt->link, strnlen(attempt->link, PAY_FAILURE_HINT_MAX)));
    }
    hint = attempt->address ? network_of(&value, attempt->address, p) : NULL;
    if (hint) {
        add(keys, PAY_FAILURE_ADDRESS, 'a', value, hint);
    }
    add_account(keys, hint);
    return keys->count;
}

/* ---- judging */

/* Returns 1 if a token, card, e-mail address or network of the attempt failed a short while ago. */
static int has_failed(const keys_t *keys, apr_time_t now)
{
    int i;

    for (i = 0; i < keys->count; i++) {
        const counted_t *one = &keys->key[i];

        if ((one->kind == PAY_FAILURE_CARD || one->label == OF_NETWORK)
            && pay_failure_is_known(keys->service->failures, one->kind, one->key, now)) {
            return 1;
        }
    }
    return 0;
}

static int has_label(const keys_t *keys, char label)
{
    int i;

    for (i = 0; i < keys->count; i++) {
        if (keys->key[i].label == label) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1 if a block of this key refuses the attempt: an account's block only attempts with
 * earlier failures, and visitors from an unknown network; the visitors' block every visitor. */
static int applies(const keys_t *keys, const counted_t *one, const pay_attempt_t *attempt,
                   apr_time_t now)
{
    if (one->label == OF_VISITORS) {
        return attempt->is_visitor;
    }
    return one->label != OF_ALL || has_failed(keys, now)
           || (attempt->is_visitor && !has_label(keys, OF_NETWORK));
}

const pay_problem_t *pay_failures_judge(const pay_service_t *service, const pay_attempt_t *attempt,
                                        apr_pool_t *p)
{
    const apr_time_t now = pay_failure_now();
    apr_interval_time_t left, longest = 0;
    pay_problem_t *problem;
    keys_t keys;
    int i, by = 0;

    if (!keys_of(&keys, service, attempt, p)) {
        return NULL;
    }
    for (i = 0; i < keys.count; i++) {
        left = pay_failure_left(service->failures, keys.key[i].kind, keys.key[i].key, now);
        if (left > longest && applies(&keys, &keys.key[i], attempt, now)) {
            longest = left;
            by = i;
        }
    }
    if (longest == 0) {
        return NULL;
    }
    pay_meter_add(kinds[keys.key[by].kind].counter, 1);
    pay_log(PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00751) "a payment of account number %u is refused by PaymentsFailureLimit %s",
            (unsigned int)attempt->scope.account, kinds[keys.key[by].kind].name);
    problem = pay_problem_make(PAY_ERR_FAILURES, NULL, APR_SUCCESS, p);
    problem->retry_after = (int)apr_time_sec(longest + APR_USEC_PER_SEC - 1);
    return problem;
}

/* ---- noting */

static void audit(const keys_t *keys, const counted_t *one, apr_pool_t *p)
{
    static const pay_actor_t actor = {"mod_payments", "PaymentsFailureLimit", 1};
    const pay_scope_t scope = {keys->owner.account, (pay_mode_t)keys->owner.mode};
    const pay_failure_limit_t *limit = &one->limit;
    pay_service_t service = *keys->service;
    pay_store_t *store;
    apr_status_t rv;

    service.actor = &actor;
    rv = pay_change_begin_in(
        &store, &service, PAY_CHANGE_FAILURE_LIMIT, &scope, kinds[one->kind].name,
        apr_psprintf(p, "%s%s%d failures within %" APR_TIME_T_FMT " s; refused for as long",
                     one->hint, *one->hint ? ", " : "", limit->count, apr_time_sec(limit->window)),
        p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_audit_note(store);
    }
    if (rv != APR_SUCCESS && rv != PAY_STORE_EFULL) { /* which the store has logged */
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00753) "PaymentsFailureLimit %s is reached, but this could not be written "
                                "to the audit of account number %u",
                kinds[one->kind].name, (unsigned int)keys->owner.account);
    }
}

/* Writes to the log and the audit, up to a number of times an hour for one account. */
static void announce(const keys_t *keys, const counted_t *one, apr_time_t now, apr_pool_t *p)
{
    pay_failure_table_t *table = keys->service->failures;
    unsigned char notice[PAY_FAILURE_KEY_LEN];
    int last;

    if (pay_failure_key(notice, table, &keys->owner, PAY_FAILURE_NOTICES, 'n', "") != APR_SUCCESS
        || pay_failure_left(table, PAY_FAILURE_NOTICES, notice, now) > 0) {
        return;
    }
    last = pay_failure_add(table, &keys->owner, PAY_FAILURE_NOTICES, notice, "", &notices, now);
    pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
            PAYLOGNO(00750) "PaymentsFailureLimit %s of account number %u, %s: %d payments failed; "
                            "more are answered 429 for %" APR_TIME_T_FMT " s%s",
            kinds[one->kind].name, (unsigned int)keys->owner.account,
            pay_mode_name((pay_mode_t)keys->owner.mode), one->limit.count,
            apr_time_sec(one->limit.window), last ? "; no more lines like this for an hour" : "");
    audit(keys, one, p);
}

void pay_failures_note(const pay_service_t *service, const pay_attempt_t *attempt, apr_pool_t *p)
{
    const apr_time_t now = pay_failure_now();
    int i, is_above = 0;
    keys_t keys;

    if (!keys_of(&keys, service, attempt, p)) {
        return;
    }
    for (i = 0; i < keys.count; i++) {
        const counted_t *one = &keys.key[i];

        if (one->label == OF_ALL) {
            is_above = pay_failure_left(service->failures, one->kind, one->key, now) > 0;
        }
        if ((one->label != OF_VISITORS || is_above)
            && pay_failure_add(service->failures, &keys.owner, one->kind, one->key, one->hint,
                               &one->limit, now)) {
            announce(&keys, one, now, p);
        }
    }
}

/* Returns 1 if the payer's means were declined: not for absence at the acquirer, nor for its own
 * faults (ISO 8583: 91, issuer out of service; 96, malfunction). */
static int is_decline(const pay_outcome_t *outcome)
{
    return outcome->kind == PAY_OUTCOME_DECLINED && !outcome->late_check_at
           && (!outcome->code
               || (strcmp(outcome->code, "91") != 0 && strcmp(outcome->code, "96") != 0));
}

/* Returns the address in the row, if it is the payer's: of one with a public key, or on the page of
 * a link. */
static const char *address_of(const pay_service_t *service, const pay_charge_t *charge,
                              apr_pool_t *p)
{
    pay_store_t *store = service->store;
    pay_api_key_t *key = NULL;

    if (!charge->checkout || !*charge->request_ip) {
        return NULL;
    }
    if (!*charge->key_id) {
        return *charge->checkout->link ? charge->request_ip : NULL;
    }
    if (pay_store_key_get(&key, store, charge->key_id, p) != APR_SUCCESS) {
        return NULL; /* everything else of it counts */
    }
    return key->kind == PAY_KEY_PUBLIC ? charge->request_ip : NULL;
}

void pay_failures_note_charge(const pay_service_t *service, const pay_charge_t *charge,
                              const pay_outcome_t *outcome, const char *address, apr_pool_t *p)
{
    if (!service || !service->failures || !is_decline(outcome)) {
        return;
    }
    pay_failures_note(
        service,
        &(pay_attempt_t){.scope = charge->scope,
                         .address = address ? address : address_of(service, charge, p),
                         .email = charge->email,
                         .token = charge->token,
                         .card = charge->checkout && charge->scope.mode == PAY_TEST ? &charge->card
                                                                                    : NULL,
                         .link = charge->checkout ? charge->checkout->link : NULL},
        p);
}

/* ---- showing and lifting */

static void show(pay_failure_item_t *out, const pay_failure_block_t *block, apr_time_t now,
                 apr_pool_t *p)
{
    out->kind = kinds[block->kind].name;
    out->id = apr_psprintf(p, "%s%c%s", out->kind, ID_SEPARATOR,
                           pay_hex(block->key, PAY_FAILURE_KEY_LEN, p));
    out->hint = apr_pstrdup(p, block->hint);
    out->until = now + block->left;
}

apr_array_header_t *pay_failures_list(int *count, const pay_service_t *service,
                                      const pay_scope_t *scope, apr_pool_t *p)
{
    apr_array_header_t *blocks = apr_array_make(p, 16, sizeof(pay_failure_block_t));
    apr_array_header_t *items = apr_array_make(p, 16, sizeof(pay_failure_item_t));
    const pay_failure_owner_t owner = owner_of(service, scope);
    const apr_time_t now = pay_time_now();
    int i;

    *count = 0;
    if (service->failures) {
        *count = pay_failure_list(blocks, service->failures, &owner, pay_failure_now());
    }
    for (i = 0; i < blocks->nelts; i++) {
        show((pay_failure_item_t *)apr_array_push(items),
             &APR_ARRAY_IDX(blocks, i, pay_failure_block_t), now, p);
    }
    return items;
}

/* Returns 0 if it is not the id of a block. */
static int read_id(pay_failure_kind_t *kind, unsigned char key[PAY_FAILURE_KEY_LEN], const char *id)
{
    const char *dash = strchr(id, ID_SEPARATOR);
    unsigned int byte;
    int i;

    if (!dash || strlen(dash + 1) != 2 * PAY_FAILURE_KEY_LEN
        || strspn(dash + 1, "0123456789abcdef") != 2 * PAY_FAILURE_KEY_LEN) {
        return 0;
    }
    for (i = 0; i < PAY_FAILURE_KEY_LEN; i++) {
        const char two[] = {dash[1 + 2 * i], dash[2 + 2 * i], '\0'};

        byte = (unsigned int)strtoul(two, NULL, 16);
        key[i] = (unsigned char)byte;
    }
    for (i = 0; i < PAY_FAILURE_KINDS; i++) {
        if (strlen(kinds[i].name) == (apr_size_t)(dash - id)
            && !strncmp(kinds[i].name, id, (apr_size_t)(dash - id))) {
            *kind = (pay_failure_kind_t)i;
            return 1;
        }
    }
    return 0;
}

static const pay_problem_t *answer(apr_status_t rv, apr_pool_t *p)
{
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    if (rv == APR_NOTFOUND) {
        return pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, p, "This is no longer blocked.");
    }
    return pay_problem_make(PAY_ERR_BUSY, NULL, rv, p);
}

const pay_problem_t *pay_failures_find(pay_failure_item_t *out, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *id, apr_pool_t *p)
{
    const pay_failure_owner_t owner = owner_of(service, scope);
    unsigned char key[PAY_FAILURE_KEY_LEN];
    pay_failure_kind_t kind;
    pay_failure_block_t block;
    apr_status_t rv = APR_NOTFOUND;

    memset(out, 0, sizeof(*out));
    if (service->failures && read_id(&kind, key, id)) {
        rv = pay_failure_find(&block, service->failures, &owner, kind, key, pay_failure_now());
    }
    if (rv == APR_SUCCESS) {
        show(out, &block, pay_time_now(), p);
    }
    return answer(rv, p);
}

const pay_problem_t *pay_failures_lift(const pay_service_t *service, const pay_scope_t *scope,
                                       const char *id, apr_pool_t *p)
{
    const pay_failure_owner_t owner = owner_of(service, scope);
    unsigned char key[PAY_FAILURE_KEY_LEN];
    const pay_problem_t *problem;
    pay_failure_item_t item;
    pay_failure_kind_t kind;
    pay_store_t *store;
    apr_status_t rv;

    problem = pay_failures_find(&item, service, scope, id, p);
    if (problem || !read_id(&kind, key, id)) {
        return problem;
    }
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_FAILURE_LIFT, scope, item.kind, item.hint,
                             p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_audit_note(store);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    rv = pay_failure_lift(service->failures, &owner, kind, key, pay_failure_now());
    return rv == APR_NOTFOUND ? NULL : answer(rv, p);
}
