/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/fence_table.h"

#include "base/text/time.h"
#include "httpd/conf/conf.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/store_host.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_PREFIX "file:"

/* A path of the configuration. */
typedef struct place_t {
    const char *path;
    const char *url;
    int is_there;          /* it led to `file` at the last look-up */
    pay_fence_file_t file; /* of the thread that looks */
    apr_int64_t say_at_ms; /* of `lock`, like `unsaid` */
    unsigned unsaid;
} place_t;

typedef struct row_t {
    pay_fence_file_t file;
    int place;
} row_t;

struct pay_fence_table_t {
    place_t *places; /* constant in number */
    int count;
    _Atomic apr_int64_t look_at_ms; /* 0: not looked up yet */
    pthread_mutex_t looking;        /* of the thread that looks */
    row_t *next;                    /* of the thread that looks: the rows that it collects */
    pthread_mutex_t lock;           /* of the two below */
    row_t *rows;                    /* in the order of `compare` */
    int rows_count;
};

static int compare(const void *a, const void *b)
{
    const pay_fence_file_t *one = &((const row_t *)a)->file;
    const pay_fence_file_t *two = &((const row_t *)b)->file;

    if (one->ino != two->ino) {
        return one->ino < two->ino ? -1 : 1;
    }
    if (one->dev != two->dev) {
        return one->dev < two->dev ? -1 : 1;
    }
    /* The number of a removed key may be that of another user's file now. */
    return one->uid == two->uid ? 0 : one->uid < two->uid ? -1 : 1;
}

static void look_at(place_t *place)
{
    struct stat info;

    if (lstat(place->path, &info) == 0) {
        place->is_there = 1;
        place->file.dev = info.st_dev;
        place->file.ino = info.st_ino;
        place->file.uid = info.st_uid;
    } else if (errno == ENOENT || errno == ENOTDIR) {
        place->is_there = 0; /* its number may be another file's soon */
    }
}

static void swap_rows(pay_fence_table_t *table, int count)
{
    row_t *rows;

    pthread_mutex_lock(&table->lock);
    rows = table->rows;
    table->rows = table->next;
    table->rows_count = count;
    table->next = rows;
    pthread_mutex_unlock(&table->lock);
}

/* The caller holds table->looking. */
static void look(pay_fence_table_t *table)
{
    int count = 0;
    int i;

    for (i = 0; i < table->count; i++) {
        look_at(&table->places[i]);
        if (table->places[i].is_there) {
            table->next[count].file = table->places[i].file;
            table->next[count++].place = i;
        }
    }
    qsort(table->next, (size_t)count, sizeof(row_t), compare);
    swap_rows(table, count);
    table->look_at_ms = pay_time_boot_ms() + PAY_FENCE_LOOK_PAUSE_MS;
}

/* One thread does so at a time. The others use the earlier result, if there is one. */
static void look_if_due(pay_fence_table_t *table)
{
    const apr_int64_t now = pay_time_boot_ms();
    const apr_int64_t due = table->look_at_ms;

    if (now < due) {
        return;
    }
    if (due == 0) {
        pthread_mutex_lock(&table->looking);
    } else if (pthread_mutex_trylock(&table->looking) != 0) {
        return;
    }
    if (now >= table->look_at_ms) {
        look(table);
    }
    pthread_mutex_unlock(&table->looking);
}

/* The caller holds table->lock. */
static void fill(pay_fence_match_t *match, place_t *place)
{
    const apr_int64_t now = pay_time_boot_ms();

    match->path = place->path;
    match->url = place->url;
    match->may_be_said = now >= place->say_at_ms;
    match->unsaid = place->unsaid;
    if (match->may_be_said) {
        place->say_at_ms = now + PAY_FENCE_SAY_PAUSE_MS;
        place->unsaid = 0;
    } else {
        place->unsaid++;
    }
}

static int find(pay_fence_match_t *match, pay_fence_table_t *table, const pay_fence_file_t *file)
{
    const row_t wanted = {.file = *file};
    const row_t *row;

    pthread_mutex_lock(&table->lock);
    row = bsearch(&wanted, table->rows, (size_t)table->rows_count, sizeof(row_t), compare);
    if (row) {
        fill(match, &table->places[row->place]);
    }
    pthread_mutex_unlock(&table->lock);
    return row != NULL;
}

int pay_fence_table_find(pay_fence_match_t *match, pay_fence_table_t *table,
                         const pay_fence_file_t *file)
{
    look_if_due(table);
    if (find(match, table, file)) {
        return 1;
    }
    if (!file->is_private || file->uid != geteuid()) {
        return 0;
    }
    pthread_mutex_lock(&table->looking);
    look(table);
    pthread_mutex_unlock(&table->looking);
    return find(match, table, file);
}

/* ---- in the parent */

static void add(apr_array_header_t *places, const char *path, const char *url, int look_now)
{
    place_t *place;
    int i;

    for (i = 0; i < places->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(places, i, place_t).path, path)) {
            return;
        }
    }
    place = &APR_ARRAY_PUSH(places, place_t);
    memset(place, 0, sizeof(*place));
    place->path = path;
    place->url = url;
    if (look_now) {
        look_at(place);
    }
}

static void add_secrets(apr_array_header_t *places, const pay_store_host_t *store_host)
{
    const size_t prefix = sizeof(FILE_PREFIX) - 1;
    const pay_acquirers_one_t *one;
    const apr_array_header_t *words;
    const apr_table_entry_t *word;
    int i, k;

    for (i = 0; i < store_host->acquirers->nelts; i++) {
        one = APR_ARRAY_IDX(store_host->acquirers, i, const pay_acquirers_one_t *);
        words = apr_table_elts(one->said->given);
        for (k = 0; k < words->nelts; k++) {
            word = &APR_ARRAY_IDX(words, k, apr_table_entry_t);
            if (pay_conf_is_secret(one->connector, word->key)
                && !strncmp(word->val, FILE_PREFIX, prefix)) {
                add(places, word->val + prefix, store_host->url, 1);
            }
        }
    }
}

static void add_store_host(apr_array_header_t *places, const pay_store_host_t *store_host,
                           apr_pool_t *pconf)
{
    const apr_array_header_t *paths = pay_store_paths(store_host->url, pconf);
    const server_rec *host = APR_ARRAY_IDX(store_host->hosts, 0, const server_rec *);
    int i;

    /* Children look at these: the parent, as root, has no business in a directory of theirs. */
    for (i = 0; i < paths->nelts; i++) {
        add(places, APR_ARRAY_IDX(paths, i, const char *), store_host->url, 0);
    }
    add(places, store_host->key_path, store_host->url, 1);
    if (pay_conf_get(host)->mail_login_file) {
        add(places, pay_conf_get(host)->mail_login_file, store_host->url, 1);
    }
    add_secrets(places, store_host);
}

pay_fence_table_t *pay_fence_table_make(const apr_array_header_t *store_hosts, apr_pool_t *pconf)
{
    apr_array_header_t *places = apr_array_make(pconf, 8, sizeof(place_t));
    pay_fence_table_t *table;
    int i;

    for (i = 0; i < store_hosts->nelts; i++) {
        add_store_host(places, APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *), pconf);
    }
    if (places->nelts == 0) {
        return NULL;
    }
    table = apr_pcalloc(pconf, sizeof(*table));
    table->places = (place_t *)places->elts;
    table->count = places->nelts;
    table->rows = apr_pcalloc(pconf, (apr_size_t)places->nelts * sizeof(row_t));
    table->next = apr_pcalloc(pconf, (apr_size_t)places->nelts * sizeof(row_t));
    pthread_mutex_init(&table->looking, NULL);
    pthread_mutex_init(&table->lock, NULL);
    return table;
}
