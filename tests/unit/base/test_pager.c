/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pager.h"

#include "unit.h"

#include <string.h>

/* What a walk calls is noted as text: "|" for a batch, then the numbers of its rows. */

#define ROWS_MAX 8

typedef struct place_t {
    int number;
    char filler[sizeof(void *)]; /* larger than a pointer */
} place_t;

typedef struct list_t {
    int size;      /* rows of a batch */
    int count;     /* rows in all */
    int by_value;  /* 1: arrays of place_t, 0: of pointers */
    int fails_at;  /* the row at which list fails; 0: never */
    int stops_at;  /* the row whose work returns `stop`; 0: none */
    int ends_done; /* 1: `done` is set with the last batch */
    apr_status_t stop;
    int done;
    int listed; /* batches */
    char log[64];
} list_t;

static void note(list_t *list, const char *text)
{
    const apr_size_t len = strlen(list->log);

    ck_assert_uint_lt(len + strlen(text), sizeof(list->log));
    apr_cpystrn(list->log + len, text, sizeof(list->log) - len);
}

static apr_status_t batch_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    list_t *list = baton;
    int next = after ? ((const place_t *)after)->number + 1 : 1;
    int i;

    list->listed++;
    if (list->fails_at && next >= list->fails_at) {
        return APR_EGENERAL;
    }
    note(list, "|");
    *rows =
        apr_array_make(p, ROWS_MAX, list->by_value ? (int)sizeof(place_t) : (int)sizeof(place_t *));
    for (i = 0; i < list->size && next <= list->count; i++, next++) {
        place_t *place = apr_pcalloc(p, sizeof(*place));

        place->number = next;
        if (list->by_value) {
            APR_ARRAY_PUSH(*rows, place_t) = *place;
        } else {
            APR_ARRAY_PUSH(*rows, place_t *) = place;
        }
    }
    list->done = list->ends_done && next > list->count;
    return APR_SUCCESS;
}

static apr_status_t row_note(void *baton, const void *row, apr_pool_t *p)
{
    list_t *list = baton;
    const place_t *place = row;

    note(list, apr_psprintf(p, "%d", place->number));
    return place->number == list->stops_at ? list->stop : APR_SUCCESS;
}

static const struct {
    const char *name;
    list_t list;
    apr_status_t want;
    const char *log;
} rows[] = {
    {"no row", {.size = 2, .count = 0}, APR_SUCCESS, "|"},
    {"less than a batch", {.size = 2, .count = 1}, APR_SUCCESS, "|1|"},
    {"whole batches", {.size = 2, .count = 4}, APR_SUCCESS, "|12|34|"},
    {"a short batch at the end", {.size = 2, .count = 5}, APR_SUCCESS, "|12|34|5|"},
    {"rows in the array", {.size = 2, .count = 5, .by_value = 1}, APR_SUCCESS, "|12|34|5|"},
    {"a list that says it is done", {.size = 2, .count = 4, .ends_done = 1}, APR_SUCCESS, "|12|34"},
    {"done at once", {.size = 2, .count = 0, .ends_done = 1}, APR_SUCCESS, "|"},
    {"the work ends it",
     {.size = 2, .count = 5, .stops_at = 3, .stop = APR_EOF},
     APR_SUCCESS,
     "|12|3"},
    {"the work fails",
     {.size = 2, .count = 5, .stops_at = 2, .stop = APR_EINVAL},
     APR_EINVAL,
     "|12"},
    {"the list fails", {.size = 2, .count = 5, .fails_at = 3}, APR_EGENERAL, "|12"},
    {"the first batch fails", {.size = 2, .count = 5, .fails_at = 1}, APR_EGENERAL, ""},
};

START_TEST(test_walk)
{
    list_t list = rows[_i].list;
    const pay_pager_t pager = {batch_list, row_note, list.ends_done ? &list.done : NULL};
    apr_status_t rv = pay_pager_walk(&pager, &list, unit_pool);

    ck_assert_msg(rv == rows[_i].want, "%s: %d", rows[_i].name, rv);
    ck_assert_msg(strcmp(list.log, rows[_i].log) == 0, "%s: %s", rows[_i].name, list.log);
}
END_TEST

/* A batch that is empty does not end a list that says when it is done. */
static apr_status_t gap_list(apr_array_header_t **rows_out, void *baton, const void *after,
                             apr_pool_t *p)
{
    list_t *list = baton;
    place_t *place = apr_pcalloc(p, sizeof(*place));

    (void)after;
    *rows_out = apr_array_make(p, 1, sizeof(place_t *));
    if (++list->listed == 3) {
        place->number = 7;
        APR_ARRAY_PUSH(*rows_out, place_t *) = place;
        list->done = 1;
    }
    return APR_SUCCESS;
}

START_TEST(test_empty_batches)
{
    list_t list = {.size = 1};
    const pay_pager_t pager = {gap_list, row_note, &list.done};

    ck_assert_int_eq(pay_pager_walk(&pager, &list, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(list.log, "7");
    ck_assert_int_eq(list.listed, 3);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_walk, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_empty_batches);
}

UNIT_PROGRAM(add)
