/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/epoch.h"

#include "store/keys.h"
#include "store/lmdb/env.h"
#include "store/row.h"

#include <apr_strings.h>
#include <string.h>

/* The upper 20 bits of a sequence hold the epoch's number, so that 4,096 events of a transaction
 * have room in each epoch. Further ones use the room of the next epoch. */
#define SEQUENCE_BITS 12
#define NUMBER_MAX ((1u << (32 - SEQUENCE_BITS)) - 1)

static const char epoch_name[] = "epoch";

/* New fields go to the end. */
static const pay_row_field_t epoch_fields[] = {
    PAY_ROW_MAX(pay_epoch_t, number, NUMBER_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, copied_at),
    PAY_ROW_MAX(pay_epoch_t, began_at, APR_INT64_MAX),
    PAY_ROW_MAX(pay_epoch_t, held, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, inode),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, born_us),
    PAY_ROW_MAX(pay_epoch_t, is_backup, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, began.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, began.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, copied_after),
};
#define EPOCH_FIELDS (sizeof(epoch_fields) / sizeof(epoch_fields[0]))

pay_bytes_t pay_store_epoch_key(void)
{
    return (pay_bytes_t){sizeof(epoch_name) - 1, epoch_name};
}

int pay_store_epoch_read(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    pay_bytes_t key = pay_store_epoch_key(), row;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &key);
    if (rc) {
        return rc;
    }
    rc = pay_row_decode(out, epoch_fields, EPOCH_FIELDS, &row, NULL, NULL);
    return !rc && out->number == 0 && out->held ? PAY_ROWS_BAD : rc;
}

int pay_store_epoch_load(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    pay_bytes_t key = pay_store_epoch_key();
    int rc;

    rc = pay_store_epoch_read(out, txn);
    if (rc == PAY_ROWS_BAD) {
        memset(out, 0, sizeof(*out));
        return pay_rows_bad(PAY_TABLE_META, &key);
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

int pay_store_epoch_store(pay_rows_txn_t *txn, const pay_epoch_t *epoch)
{
    pay_bytes_t key = pay_store_epoch_key(), row;
    apr_pool_t *pool;
    int rc;

    rc = apr_pool_create(&pool, NULL);
    if (rc != APR_SUCCESS) {
        return rc;
    }
    rc = pay_row_encode(&row, epoch_fields, EPOCH_FIELDS, epoch, pool);
    if (!rc) {
        rc = pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
    }
    apr_pool_destroy(pool);
    return rc;
}

int pay_store_epoch_is_of_file(const pay_epoch_t *epoch, const pay_lmdb_file_id_t *file)
{
    /* Inode numbers are reused, so a copy may get that of a deleted file. The device number is not
     * compared: it may change at every boot. */
    return epoch->inode == file->inode
           && (!epoch->born_us || !file->born_us || epoch->born_us == file->born_us);
}

int pay_store_epoch_get(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    const pay_lmdb_env_t *env = pay_lmdb_env_of(txn);
    int rc;

    rc = pay_store_epoch_load(out, txn);
    if (!rc
        && (out->is_backup
            || (env && out->inode && !pay_store_epoch_is_of_file(out, &env->file)))) {
        out->held = 1;
    }
    return rc;
}

int pay_store_epoch_held(int *held, pay_rows_txn_t *txn)
{
    pay_epoch_t epoch;
    int rc;

    rc = pay_store_epoch_get(&epoch, txn);
    *held = rc || epoch.held;
    return rc;
}

int pay_store_epoch_sequence(apr_uint32_t *out, pay_rows_txn_t *txn, apr_uint32_t last)
{
    pay_epoch_t epoch;
    apr_uint32_t before;
    int rc;

    rc = pay_store_epoch_load(&epoch, txn);
    before = epoch.number << SEQUENCE_BITS;
    *out = (last > before ? last : before) + 1;
    /* As for endpoints: a damaged row must not block payments. */
    return rc == PAY_ROWS_BAD ? 0 : rc;
}

apr_status_t pay_store_epoch_find(pay_epoch_t *out, pay_store_t *store)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_epoch_get(out, &txn);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
