/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reopen RECORD BASE DIRECTORY ACCOUNT SEED CUTS LIE
 *
 * Lets the power fail at every sync of a record and at random points, at least CUTS times, and
 * opens the result in DIRECTORY as a server would: the store opens, all answers and calls to an
 * acquirer are in it, its tables agree with each other, and it accepts a charge. For a disk that
 * lies, only random points are tried. BASE: the image at the record's start, "-" for none; ACCOUNT:
 * the account of the answers, "-" for none; LIE: none, syncs or all. The last line contains
 * numbers; DIRECTORY/middle.mdb is then the result of one cut, and DIRECTORY/last.mdb the image of
 * a disk that lost nothing.
 */
#include "disk.h"

#include "base/log.h"
#include "store/store.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAP_BYTES ((apr_int64_t)1 << 30)
#define CHECK_S_MAX 60    /* longest time for one cut: a torn tree may have a loop */
#define CHARGE_EVERY 4    /* one of so many cuts is also charged */
#define FAULTS_TOLD_MAX 5 /* lines of one cut */

static const char *const cut_names[] = {"drop", "keep", "torn", "some", "pages", "sectors"};
_Static_assert(sizeof(cut_names) / sizeof(cut_names[0]) == DISK_CUT_COUNT, "a name for each cut");

typedef struct bench_t {
    disk_t disk;
    const char *directory;
    const char *account; /* NULL: nobody's */
    const char *label;   /* of this cut, for people */
    int faults;
    pay_store_t *store;
    pay_scope_t scope;
    apr_pool_t *pool;
} bench_t;

static void fault(bench_t *bench, const char *what, const char *of)
{
    if (bench->faults++ < FAULTS_TOLD_MAX) {
        (void)printf("%s: %s: %s\n", bench->label, of, what);
    }
}

static void report_fault(void *baton, const char *text)
{
    fault(baton, text, "store check");
}

static void image_put(const char *path, const image_t *image)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, image->bytes, image->len) != (ssize_t)image->len || close(fd) != 0) {
        disk_die("cannot be written", path);
    }
}

/* "asked charge REFERENCE", "asked refund-query REFERENCE": no acquirer knows more than the
 * store. */
static void call_check(bench_t *bench, const char *text, apr_pool_t *p)
{
    char noun[16], reference[PAY_REFERENCE_MAX + 1];
    pay_charge_t *charge;
    pay_refund_t *refund;
    apr_status_t rv;

    if (sscanf(text, "asked %15s %100s", noun, reference) != 2) {
        disk_die("not a call", text);
    }
    if (strncmp(noun, "charge", 6) == 0) {
        rv = pay_store_charge_find(&charge, bench->store, &bench->scope, reference, p);
    } else {
        rv = pay_store_refund_find(&refund, bench->store, &bench->scope, reference, p);
    }
    if (rv != APR_SUCCESS) {
        fault(bench, "is unknown", apr_pstrcat(p, noun, " ", reference, NULL));
    }
}

/* "charge REFERENCE STATE MINOR" or "refund REFERENCE STATE MINOR": the answer to a client. */
static void answer_check(bench_t *bench, const char *text, apr_pool_t *p)
{
    char noun[8], reference[PAY_REFERENCE_MAX + 1], state[16];
    const char *found = NULL;
    apr_int64_t minor = 0;
    long long told_minor;
    pay_charge_t *charge;
    pay_refund_t *refund;
    apr_status_t rv;

    if (sscanf(text, "%7s %100s %15s %lld", noun, reference, state, &told_minor) != 4) {
        disk_die("not an answer", text);
    }
    if (strcmp(noun, "charge") == 0) {
        rv = pay_store_charge_find(&charge, bench->store, &bench->scope, reference, p);
        found = rv == APR_SUCCESS ? pay_charge_state_name(charge->decided_state) : NULL;
        minor = rv == APR_SUCCESS ? charge->money.amount_minor : 0;
    } else {
        rv = pay_store_refund_find(&refund, bench->store, &bench->scope, reference, p);
        found = rv == APR_SUCCESS ? pay_refund_state_name(refund->decided_state) : NULL;
        minor = rv == APR_SUCCESS ? refund->money.amount_minor : 0;
    }
    if (!found) {
        fault(bench, rv == APR_NOTFOUND ? "is lost" : "cannot be read", text);
    } else if (minor != told_minor) {
        fault(bench, "has another amount", text);
    } else if (strcmp(state, "pending") != 0 && strcmp(state, found) != 0) {
        fault(bench, found, text); /* a reported pending one may be decided since */
    }
}

static void answers_check(bench_t *bench)
{
    apr_pool_t *p;
    size_t i;

    (void)apr_pool_create(&p, bench->pool);
    for (i = 0; i < bench->disk.at; i++) {
        const disk_record_t *record = &bench->disk.records[i];

        if (record->head.kind == RECORD_MARK) {
            const char *text;

            apr_pool_clear(p);
            text = apr_pstrmemdup(p, (const char *)record->bytes, record->head.len);
            if (strncmp(text, "asked ", 6) == 0) {
                call_check(bench, text, p);
            } else {
                answer_check(bench, text, p);
            }
        }
    }
}

static void tables_check(bench_t *bench)
{
    apr_size_t faults;
    apr_status_t rv;

    rv = pay_store_check(&faults, bench->store, report_fault, bench, bench->pool);
    if (rv != APR_SUCCESS) {
        fault(bench, "cannot be finished", "store check");
    }
}

/* The opened store takes a new charge, and keeps it. */
static void charge_check(bench_t *bench)
{
    static const pay_outcome_t approved = {.kind = PAY_OUTCOME_APPROVED,
                                           .code = "00",
                                           .message = "Approved",
                                           .authorization_code = "A1B2C3"};
    pay_charge_t proposal = {.scope = bench->scope,
                             .reference = "after-the-cut",
                             .token = "tok_test_success",
                             .card = {"555555", "4444", "Mastercard", "NG", "debit"},
                             .money = {1050, "NGN"},
                             .email = "payer@shop.example",
                             .first_name = "Ada",
                             .last_name = "",
                             .request_ip = "192.0.2.1",
                             .acquirer = "simulator",
                             .key_id = "",
                             .due_at = apr_time_now() + apr_time_from_sec(60),
                             .answer_version = PAY_CHARGE_ANSWER_VERSION,
                             .code = "",
                             .message = "",
                             .authorization_code = "",
                             .contradiction = ""};
    pay_charge_t *charge;
    pay_claim_t claim;
    apr_status_t rv;
    int changed = 0;

    rv = pay_store_charge_open(&charge, &claim, bench->store, &proposal, NULL, NULL, bench->pool);
    if (rv == APR_SUCCESS && claim == PAY_CLAIM_NEW) {
        rv = pay_store_charge_resolve(&charge, &changed, bench->store, &bench->scope, charge->seq,
                                      &approved, 0, bench->pool);
    }
    if (rv != APR_SUCCESS || !changed) {
        fault(bench, "is refused", "a new charge");
        return;
    }
    tables_check(bench);
}

static void log_line(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    bench_t *bench = baton;

    (void)status;
    /* Writes the result of a power cut to a file of its own here, like a copy. */
    if (level <= PAY_LOG_WARNING && strncmp(text, "PAY00700:", 9) != 0) {
        fault(bench, text, "log");
    }
}

/* In a process of its own. */
static void store_check(bench_t *bench, const image_t *image, int charged)
{
    const char *data = apr_pstrcat(bench->pool, bench->directory, "/data.mdb", NULL);
    pay_store_options_t options = pay_store_options_default;
    pay_account_t *account;
    const char *reason;

    if (bench->disk.named) {
        image_put(data, image);
    } else {
        (void)unlink(data);
    }
    options.map_bytes = MAP_BYTES;
    options.reserve_bytes = 0;
    options.commit_wait = apr_time_from_sec(30);
    options.create = !bench->account; /* a store that was being made is made now */
    pay_log_set_sink(log_line, bench);
    if (pay_store_open(&bench->store, apr_pstrcat(bench->pool, "lmdb:", bench->directory, NULL),
                       &options, bench->pool)
        != APR_SUCCESS) {
        disk_die("is no place for a store", bench->directory);
    }
    if (pay_store_ready(&reason, bench->store, bench->pool) != APR_SUCCESS) {
        fault(bench, reason, "it does not open");
        return;
    }
    if (bench->account) {
        if (pay_store_account_get(&account, bench->store, bench->account, bench->pool)
            != APR_SUCCESS) {
            fault(bench, "is lost", "the account");
            return;
        }
        bench->scope = (pay_scope_t){account->number, PAY_TEST};
        answers_check(bench);
    }
    tables_check(bench);
    if (charged && bench->account && !bench->faults) {
        charge_check(bench);
    }
}

/* Returns 1 if there is a fault in the result of a cut. */
static int cut(bench_t *bench, image_t *image, disk_cut_t how, int number)
{
    int status;
    pid_t pid;

    disk_cut(image, &bench->disk, how);
    bench->label = apr_psprintf(
        bench->pool, "cut %d before record %lu, %lu writes on their way, %s", number,
        (unsigned long)bench->disk.at, (unsigned long)bench->disk.pending_count, cut_names[how]);
    (void)unlink(apr_pstrcat(bench->pool, bench->directory, "/lock.mdb", NULL));
    (void)fflush(stdout);
    pid = fork();
    if (pid == 0) {
        (void)alarm(CHECK_S_MAX);
        store_check(bench, image, number % CHARGE_EVERY == 0);
        (void)fflush(stdout);
        _exit(bench->faults ? 1 : 0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        disk_die("no process", bench->directory);
    }
    if (WIFSIGNALED(status)) {
        (void)printf("%s: the process that opened it died: %s\n", bench->label,
                     strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) > 1) {
        exit(WEXITSTATUS(status));
    }
    return status != 0;
}

static int by_value(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return (left > right) - (left < right);
}

/* Before and after each end of a sync, and at random points until there are `wanted`. */
static size_t plan(size_t **out, size_t *syncs, const disk_t *disk, size_t wanted)
{
    size_t *places = malloc((2 * disk->count + wanted) * sizeof(*places));
    size_t count = 0, i;

    if (!places) {
        disk_die("out of memory", "reopen");
    }
    *syncs = 0;
    for (i = 0; i < disk->count; i++) {
        if (disk_is_sync_end(disk, i) && disk->lie == DISK_HONEST) {
            places[count++] = i;
            places[count++] = i + 1;
            *syncs += 1;
        }
    }
    while (count < wanted) {
        places[count++] = (size_t)disk_random(disk->count + 1);
    }
    qsort(places, count, sizeof(*places), by_value);
    *out = places;
    return count;
}

int main(int argc, const char *const *argv)
{
    static const char *const lies[] = {"none", "syncs", "all"};
    size_t *places, count, syncs, i, marks = 0, open = 0;
    bench_t bench = {.faults = 0};
    image_t image = {NULL, 0, 0};
    int lie = 0, faulty = 0;

    while (argc == 8 && lie < 3 && strcmp(argv[7], lies[lie]) != 0) {
        lie++;
    }
    if (argc != 8 || lie == 3) {
        disk_die("usage", "reopen RECORD BASE DIRECTORY ACCOUNT SEED CUTS none|syncs|all");
    }
    (void)apr_initialize();
    (void)apr_pool_create(&bench.pool, NULL);
    disk_load(&bench.disk, argv[1], strcmp(argv[2], "-") == 0 ? NULL : argv[2], (disk_lie_t)lie);
    bench.directory = argv[3];
    bench.account = strcmp(argv[4], "-") == 0 ? NULL : argv[4];
    disk_seed(strtoull(argv[5], NULL, 10));
    count = plan(&places, &syncs, &bench.disk, strtoull(argv[6], NULL, 10));
    for (i = 0; i < count; i++) {
        disk_cut_t how = (disk_cut_t)disk_random(DISK_CUT_COUNT);

        disk_advance(&bench.disk, places[i]);
        open += bench.disk.pending_count > 0;
        faulty += cut(&bench, &image, how, (int)i);
        if (i == count / 2) {
            image_put(apr_pstrcat(bench.pool, bench.directory, "/middle.mdb", NULL), &image);
        }
    }
    disk_advance(&bench.disk, bench.disk.count);
    disk_cut(&image, &bench.disk, DISK_KEEP);
    image_put(apr_pstrcat(bench.pool, bench.directory, "/last.mdb", NULL), &image);
    for (i = 0; i < bench.disk.count; i++) {
        marks += bench.disk.records[i].head.kind == RECORD_MARK;
    }
    (void)printf("cuts %lu open %lu syncs %lu marks %lu faulty %d\n", (unsigned long)count,
                 (unsigned long)open, (unsigned long)syncs, (unsigned long)marks, faulty);
    return 0;
}
