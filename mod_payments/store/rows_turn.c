/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include "base/log.h"
#include "store/keys.h"

typedef enum rule_t { RULE_SCOPE, RULE_TIMED, RULE_ACCOUNT, RULE_STORE, RULE_ANY } rule_t;

#define RULE_OF(id, name, turn) [PAY_TABLE_##id] = RULE_##turn,
static const unsigned char rules[PAY_TABLE_COUNT] = {PAY_ROWS_TABLES(RULE_OF)};
#undef RULE_OF

/* A key that is too short for a scope is damaged; only work with PAY_TURN_ALL removes it. */
static int is_scope(const pay_turn_t *turn, const pay_bytes_t *key, size_t offset)
{
    pay_scope_t scope;

    if (turn->kind != PAY_TURN_SCOPE || key->len < offset + PAY_STORE_SCOPE_LEN) {
        return 0;
    }
    pay_store_read_scope(&scope, (const unsigned char *)key->data + offset);
    return scope.account == turn->scope.account && scope.mode == turn->scope.mode;
}

static int is_account(const pay_turn_t *turn, const pay_bytes_t *key)
{
    return turn->kind == PAY_TURN_STORE
           || (turn->kind == PAY_TURN_ACCOUNT && key->len >= sizeof(apr_uint32_t)
               && pay_store_read_u32(key->data) == turn->scope.account);
}

static int is_covered(const pay_turn_t *turn, rule_t rule, const pay_bytes_t *key)
{
    switch (rule) {
    case RULE_SCOPE:
        return is_scope(turn, key, 0);
    case RULE_TIMED:
        return is_scope(turn, key, sizeof(apr_uint64_t));
    case RULE_ACCOUNT:
        return is_account(turn, key);
    case RULE_STORE:
        return turn->kind == PAY_TURN_STORE;
    case RULE_ANY:
        return turn->kind != PAY_TURN_NONE;
    }
    return 0;
}

int pay_rows_may_write(const pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key)
{
    if (txn->turn.kind == PAY_TURN_ALL || is_covered(&txn->turn, rules[table], key)) {
        return 1;
    }
    pay_log(PAY_LOG_ERR, APR_SUCCESS,
            PAYLOGNO(00117) "a transaction tried to write a row of table %s outside its turn: "
                            "nothing was written. This is a bug in mod_payments",
            pay_rows_table_name(table));
    return 0;
}
