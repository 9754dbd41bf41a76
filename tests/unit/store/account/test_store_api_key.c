/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "base/text/time.h"

#include <apr_allocator.h>
#include <stdint.h>

#define MINUTE apr_time_from_sec(60)

static apr_time_t now = APR_INT64_C(1700000000000000);

static apr_time_t fixed_clock(void)
{
    return now;
}

/* A key of fixture_scopes[scope] whose digest and id are made from `mark`. */
static pay_api_key_t proposal(int scope, int mark)
{
    pay_api_key_t key = {.kind = mark % 2 ? PAY_KEY_PUBLIC : PAY_KEY_SECRET};

    key.scope = fixture_scopes[scope];
    memset(key.digest, mark, sizeof(key.digest));
    key.id = apr_psprintf(unit_pool, "key_%03d", mark);
    return key;
}

static pay_api_key_t *create(pay_store_t *store, int scope, int mark)
{
    const pay_api_key_t wanted = proposal(scope, mark);
    pay_api_key_t *key;

    ck_assert_int_eq(pay_store_key_create(&key, store, &wanted, unit_pool), APR_SUCCESS);
    return key;
}

START_TEST(test_scopes_stay_apart)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_api_key_t *key, *got;
    int mark;

    for (mark = 1; mark <= 9; mark++) {
        create(store, mark % FIXTURE_SCOPES, mark);
    }
    for (mark = 1; mark <= 9; mark++) {
        const pay_api_key_t want = proposal(mark % FIXTURE_SCOPES, mark);

        ck_assert_int_eq(pay_store_key_find(&key, store, want.digest, unit_pool), APR_SUCCESS);
        ck_assert_str_eq(key->id, want.id);
        ck_assert_uint_eq(key->scope.account, want.scope.account);
        ck_assert_int_eq(key->scope.mode, want.scope.mode);
        ck_assert_int_eq(key->kind, want.kind);
        ck_assert_mem_eq(key->digest, want.digest, PAY_SHA256_LEN);
        ck_assert_int_eq(key->revoked_at, 0);
        ck_assert_int_eq(key->last_used_at, 0);
        ck_assert_str_eq(key->account->name, want.scope.account == 1 ? "one" : "two");
        ck_assert_int_eq(pay_store_key_get(&got, store, want.id, unit_pool), APR_SUCCESS);
        ck_assert_mem_eq(got->digest, key->digest, PAY_SHA256_LEN);
    }
}
END_TEST

START_TEST(test_what_is_not_there)
{
    const pay_api_key_t none = proposal(0, 77);
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *keys;
    char id[600];
    pay_api_key_t *key, *old;

    memset(id, 'x', sizeof(id));
    id[sizeof(id) - 1] = '\0';
    ck_assert_int_eq(pay_store_key_find(&key, store, none.digest, unit_pool), APR_NOTFOUND);
    ck_assert_ptr_null(key);
    ck_assert_int_eq(pay_store_key_get(&key, store, none.id, unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_get(&key, store, "", unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_get(&key, store, id, unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_revoke(&key, store, none.id, 0, unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_rotate(&key, &old, store, none.id, 0, &none, unit_pool),
                     APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_list(&keys, store, "none", unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_list(&keys, store, "one", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(keys->nelts, 0);
}
END_TEST

START_TEST(test_a_known_digest_or_id_is_refused)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_api_key_t same_digest = proposal(1, 1);
    pay_api_key_t same_id = proposal(1, 2);
    pay_api_key_t nobody = proposal(0, 3);
    pay_api_key_t *key;

    create(store, 0, 1);
    same_digest.id = "key_other";
    same_id.id = "key_001";
    nobody.scope.account = 99;
    ck_assert_int_eq(pay_store_key_create(&key, store, &same_digest, unit_pool), APR_EEXIST);
    ck_assert_int_eq(pay_store_key_create(&key, store, &same_id, unit_pool), APR_EEXIST);
    ck_assert_int_eq(pay_store_key_create(&key, store, &nobody, unit_pool), APR_NOTFOUND);
    ck_assert_ptr_null(key);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_other", unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_find(&key, store, same_id.digest, unit_pool), APR_NOTFOUND);
}
END_TEST

START_TEST(test_list_is_oldest_first)
{
    static const int order[] = {5, 2, 9, 1}; /* ids do not follow the times */
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *keys;
    int i;

    pay_time_set_source(fixed_clock);
    for (i = 0; i < UNIT_ROWS(order); i++) {
        now += MINUTE;
        create(store, i == 2 ? 2 : i % 2, order[i]);
    }
    pay_time_set_source(NULL);
    ck_assert_int_eq(pay_store_key_list(&keys, store, NULL, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(keys->nelts, UNIT_ROWS(order));
    for (i = 0; i < UNIT_ROWS(order); i++) {
        ck_assert_str_eq(APR_ARRAY_IDX(keys, i, pay_api_key_t *)->id, proposal(0, order[i]).id);
    }
    ck_assert_int_eq(pay_store_key_list(&keys, store, "two", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(keys->nelts, 1);
    ck_assert_str_eq(APR_ARRAY_IDX(keys, 0, pay_api_key_t *)->id, "key_009");
    ck_assert_int_eq(pay_store_key_list(&keys, store, "one", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(keys->nelts, 3);
}
END_TEST

/* How much of a pool the list of account "one" takes, which has `count` keys. */
static apr_size_t list_bytes(pay_store_t *store, int count)
{
    apr_allocator_t *allocator;
    apr_array_header_t *keys;
    const char *from, *to;
    apr_size_t bytes;
    apr_pool_t *p;

    ck_assert_int_eq(apr_allocator_create(&allocator), APR_SUCCESS);
    ck_assert_int_eq(apr_pool_create_ex(&p, NULL, NULL, allocator), APR_SUCCESS);
    apr_allocator_owner_set(allocator, p);
    from = apr_palloc(p, 1);
    ck_assert_int_eq(pay_store_key_list(&keys, store, "one", p), APR_SUCCESS);
    ck_assert_int_eq(keys->nelts, count);
    to = apr_palloc(p, 1);
    bytes = (uintptr_t)to - (uintptr_t)from; /* in order as long as one block holds all of it */
    apr_pool_destroy(p);
    return bytes;
}

/* However many keys other accounts have, the memory of one list contains only its own. */
START_TEST(test_list_without_those_of_others)
{
    pay_store_t *store = fixture_shop(unit_dir());
    apr_size_t before;
    int mark;

    create(store, 0, 1);
    before = list_bytes(store, 1);
    ck_assert_uint_lt(before, 4096);
    for (mark = 2; mark < 102; mark++) {
        create(store, 2, mark);
    }
    ck_assert_uint_eq(list_bytes(store, 1), before);
    create(store, 0, 200);
    ck_assert_uint_gt(list_bytes(store, 2), before);
}
END_TEST

#define NEVER (-MINUTE * 1000)

static const struct {
    const char *name;
    apr_time_t first;  /* from now; NEVER: not called before; 0: `when` is 0, which is now */
    apr_time_t passes; /* then */
    apr_time_t second; /* from the time at the start */
    apr_time_t valid_until;
    apr_time_t revoked_at; /* both from the time at the start; NEVER: unset */
} revoke_rows[] = {
    {"now", NEVER, 0, 0, NEVER, 0},
    {"ahead", NEVER, 0, MINUTE, MINUTE, NEVER},
    {"at this very instant, named", NEVER, MINUTE, MINUTE, NEVER, MINUTE},
    {"one past it", NEVER, MINUTE, MINUTE + 1, MINUTE + 1, NEVER},
    {"a time that is over", NEVER, 0, -MINUTE, NEVER, -MINUTE},
    {"an earlier one stands", 0, 0, MINUTE, NEVER, 0},
    {"also when the clock stepped back", 0, -MINUTE, 0, NEVER, 0},
    {"an earlier one ahead stands", MINUTE, 0, 2 * MINUTE, MINUTE, NEVER},
    {"a later one ahead is brought forward", 2 * MINUTE, 0, MINUTE, MINUTE, NEVER},
    {"a later one is cut short", MINUTE, 0, 0, MINUTE, 0},
    {"one that has passed is made final", MINUTE, 2 * MINUTE, 0, MINUTE, MINUTE},
};

/* The time that an offset of a row means, 0 for none. */
static apr_time_t row_time(apr_time_t start, apr_time_t offset)
{
    return offset == NEVER ? 0 : start + offset;
}

START_TEST(test_revoke)
{
    const char *name = revoke_rows[_i].name;
    pay_store_t *store = fixture_shop(unit_dir());
    apr_time_t first = revoke_rows[_i].first, second = revoke_rows[_i].second;
    apr_time_t start = now;
    pay_api_key_t *key, *other;

    pay_time_set_source(fixed_clock);
    create(store, 0, 1);
    create(store, 1, 2);
    if (first != NEVER) {
        ck_assert_int_eq(
            pay_store_key_revoke(&key, store, "key_001", first ? now + first : 0, unit_pool),
            APR_SUCCESS);
    }
    now += revoke_rows[_i].passes;
    ck_assert_int_eq(
        pay_store_key_revoke(&key, store, "key_001", second ? start + second : 0, unit_pool),
        APR_SUCCESS);
    ck_assert_msg(key->valid_until == row_time(start, revoke_rows[_i].valid_until), "%s", name);
    ck_assert_msg(key->revoked_at == row_time(start, revoke_rows[_i].revoked_at), "%s", name);
    ck_assert_int_eq(pay_store_key_find(&other, store, key->digest, unit_pool), APR_SUCCESS);
    ck_assert_msg(other->valid_until == key->valid_until, "%s", name);
    ck_assert_msg(other->revoked_at == key->revoked_at, "%s", name);
    ck_assert_int_eq(pay_store_key_get(&other, store, "key_002", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(other->revoked_at, 0);
    ck_assert_int_eq(other->valid_until, 0);
    pay_time_set_source(NULL);
}
END_TEST

START_TEST(test_rotate)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_api_key_t successor = proposal(2, 2); /* of another account and kind: not believed */
    pay_api_key_t again = proposal(0, 3);
    pay_api_key_t *key, *old;

    pay_time_set_source(fixed_clock);
    create(store, 1, 1);
    ck_assert_int_eq(
        pay_store_key_rotate(&key, &old, store, "key_001", now + MINUTE, &successor, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(key->id, "key_002");
    ck_assert_uint_eq(key->scope.account, fixture_scopes[1].account);
    ck_assert_int_eq(key->scope.mode, fixture_scopes[1].mode);
    ck_assert_int_eq(key->kind, PAY_KEY_PUBLIC);
    ck_assert_int_eq(key->revoked_at, 0);
    ck_assert_str_eq(old->id, "key_001");
    ck_assert_int_eq(old->valid_until, now + MINUTE);
    ck_assert_int_eq(old->revoked_at, 0);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_001", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->valid_until, now + MINUTE);
    ck_assert_int_eq(key->revoked_at, 0);

    /* A second time: neither a successor nor another end. */
    ck_assert_int_eq(pay_store_key_rotate(&key, &old, store, "key_001", 0, &again, unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_null(old);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_003", unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_key_rotate(&key, &old, store, "key_002", 0, &successor, unit_pool),
                     APR_EEXIST);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_002", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->revoked_at, 0);
    ck_assert_int_eq(pay_store_key_rotate(&key, &old, store, "key_002", 0, &again, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(old->revoked_at, now);
    ck_assert_int_eq(old->valid_until, 0);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_002", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->revoked_at, now);
    ck_assert_int_eq(key->valid_until, 0);
    pay_time_set_source(NULL);
}
END_TEST

START_TEST(test_touch_moves_forward_only)
{
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *used = apr_array_make(unit_pool, 3, sizeof(pay_api_key_t));
    const pay_api_key_t unknown = proposal(0, 9);
    pay_api_key_t *key;
    int mark;

    for (mark = 1; mark <= 2; mark++) {
        key = create(store, mark, mark);
        key->last_used_at = mark * MINUTE;
        APR_ARRAY_PUSH(used, pay_api_key_t) = *key;
    }
    APR_ARRAY_PUSH(used, pay_api_key_t) = unknown;
    ck_assert_int_eq(pay_store_key_touch(store, used, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_002", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->last_used_at, 2 * MINUTE);
    APR_ARRAY_IDX(used, 0, pay_api_key_t).last_used_at = 5 * MINUTE;
    APR_ARRAY_IDX(used, 1, pay_api_key_t).last_used_at = 1 * MINUTE;
    ck_assert_int_eq(pay_store_key_touch(store, used, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_001", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->last_used_at, 5 * MINUTE);
    ck_assert_int_eq(pay_store_key_get(&key, store, "key_002", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key->last_used_at, 2 * MINUTE);
    apr_array_clear(used);
    ck_assert_int_eq(pay_store_key_touch(store, used, unit_pool), APR_SUCCESS);
}
END_TEST

START_TEST(test_damage_is_an_error_of_that_key)
{
    const pay_api_key_t bad = proposal(0, 1);
    const pay_api_key_t good = proposal(1, 2);
    pay_store_t *store = fixture_shop(unit_dir());
    pay_api_key_t *key;

    create(store, 0, 1);
    create(store, 1, 2);
    ck_assert_int_eq(fixture_put(store, (fixture_row_t){PAY_TABLE_API_KEY, (const char *)bad.digest,
                                                        PAY_SHA256_LEN, "junk", 4}),
                     APR_SUCCESS);
    fixture_listen();
    ck_assert_int_eq(pay_store_key_find(&key, store, bad.digest, unit_pool), PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(key);
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert_int_eq(pay_store_key_find(&key, store, good.digest, unit_pool), APR_SUCCESS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_scopes_stay_apart);
    tcase_add_test(tcase, test_what_is_not_there);
    tcase_add_test(tcase, test_a_known_digest_or_id_is_refused);
    tcase_add_test(tcase, test_list_is_oldest_first);
    tcase_add_test(tcase, test_list_without_those_of_others);
    tcase_add_loop_test(tcase, test_revoke, 0, UNIT_ROWS(revoke_rows));
    tcase_add_test(tcase, test_rotate);
    tcase_add_test(tcase, test_touch_moves_forward_only);
    tcase_add_test(tcase, test_damage_is_an_error_of_that_key);
}

UNIT_PROGRAM(add)
