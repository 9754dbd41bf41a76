/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_FIXTURE_H
#define HISTORY_FIXTURE_H

/*
 * The common part of the tests of a window: the acquirer's books, and the window of the last 7
 * days.
 */

#include "books.h"

#include "service/history/window.h"

#define DAY apr_time_from_sec(24 * 3600)

static books_t *books;
static pay_history_window_t window;

static inline void set_up(void)
{
    till_set_up();
    books = books_make();
    window = (pay_history_window_t){.store = till->store,
                                    .scope = till->scopes[BOOKS_SCOPE],
                                    .acquirer = books_acquirer(books),
                                    .timeout = apr_time_from_sec(20),
                                    .from = TILL_NOW - 7 * DAY,
                                    .to = TILL_NOW};
}

static inline pay_history_news_t fetch(apr_status_t want)
{
    pay_history_news_t news;

    ck_assert_int_eq(pay_history_window_fetch(&news, &window, unit_pool), want);
    return news;
}

/* A second time nothing of it is new, or written. */
static inline void check_again(void)
{
    const char *before = till_snapshot();
    pay_history_news_t news;

    news = fetch(APR_SUCCESS);
    ck_assert_uint_eq(news.added, 0);
    ck_assert_uint_eq(news.changed, 0);
    ck_assert_str_eq(before, till_snapshot());
    till_check_clean();
}

#endif
