/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/url.h"
#include "base/text/time.h"
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/range.h"
#include "service/checkout/links.h"

#include <apr_strings.h>
#include <string.h>

#define PAGE_PATH "/payment/page/"
#define FIRST_TIME "0000-01-01T00:00:00Z"

typedef struct row_t {
    pay_link_t link;
    const char *site; /* in front of the page's path */
    apr_time_t now;
} row_t;

static const char *url_of(const row_t *row, apr_pool_t *p)
{
    return apr_pstrcat(p, row->site, PAGE_PATH, row->link.page_id, NULL);
}

static void url_get(ctl_value_t *value, const void *row)
{
    value->text = url_of(row, value->pool);
}

static void state_get(ctl_value_t *value, const void *row)
{
    const row_t *shown = row;

    value->text = pay_link_state_name(pay_link_state(&shown->link, shown->now));
}

/* That of an open link is the payer's to say. */
static void amount_get(ctl_value_t *value, const void *row)
{
    const pay_money_t *money = &((const row_t *)row)->link.money;

    value->number = money->amount_minor;
    value->currency = money->amount_minor > 0 ? money->currency : NULL;
}

static void amount_text_get(ctl_value_t *value, const void *row)
{
    const pay_money_t *money = &((const row_t *)row)->link.money;
    char text[PAY_MONEY_TEXT_MAX] = "open";

    if (money->amount_minor > 0) {
        pay_money_format(text, money->amount_minor, money->currency);
    }
    value->text = apr_pstrdup(value->pool, text);
}

static void payers_get(ctl_value_t *value, const void *row)
{
    value->text = ((const row_t *)row)->link.once ? "one payer, once" : "any number of payers";
}

static void reusable_get(ctl_value_t *value, const void *row)
{
    value->number = !((const row_t *)row)->link.once;
}

#define AT(member) CTL_FIELD(row_t, link.member)

/* CSV has the members of JSON, in their order. */
static const ctl_column_t columns[] = {
    {CTL_BOTH | CTL_CSV, "reference", "reference", CTL_TEXT, AT(reference)},
    {CTL_CSV, NULL, "title", CTL_TEXT, AT(title)},
    {CTL_CSV, NULL, "description", CTL_TEXT, AT(description)},
    {CTL_BOTH, "state", NULL, CTL_TEXT, .get = state_get},
    {CTL_DETAILS, "page", NULL, CTL_TEXT, .get = url_get},
    {CTL_BOTH, "amount", NULL, CTL_TEXT, .get = amount_text_get},
    {CTL_CSV, NULL, "amount", CTL_AMOUNT, .get = amount_get},
    {CTL_BOTH | CTL_CSV, "currency", "currency", CTL_TEXT, AT(money.currency)},
    {CTL_DETAILS, "title", NULL, CTL_TEXT, AT(title)},
    {CTL_DETAILS, "description", NULL, CTL_TEXT, AT(description)},
    {CTL_DETAILS, "paid by", NULL, CTL_TEXT, .get = payers_get},
    {CTL_BOTH, "paid", NULL, CTL_NUMBER, AT(paid)},
    {CTL_DETAILS, "payers return to", NULL, CTL_TEXT, AT(redirect_url)},
    {CTL_CSV, NULL, "reusable", CTL_BOOL, .get = reusable_get},
    {CTL_BOTH | CTL_CSV, "expires", "expiresAt", CTL_TIME, AT(expires_at)},
    {CTL_DETAILS | CTL_CSV, "disabled", "disabledAt", CTL_TIME, AT(disabled_at)},
    {CTL_BOTH | CTL_CSV, "created", "createdAt", CTL_TIME, AT(created_at)},
    {CTL_CSV, NULL, "paid", CTL_NUMBER, AT(paid)},
    {CTL_CSV, NULL, "url", CTL_TEXT, .get = url_get},
    {CTL_CSV, NULL, "state", CTL_TEXT, .get = state_get},
    {0},
};

static void link_json(pay_writer_t *w, const void *row)
{
    const row_t *shown = row;

    pay_link_to_json(w, NULL, &shown->link, url_of(shown, w->pool), shown->now);
}

static const ctl_view_t link_view = {.columns = columns, .json = link_json};

static const ctl_view_t link_detail_view = {.columns = columns, .is_details = 1, .json = link_json};

/* The scheme and host, and PaymentsBasePath, without the slash behind it. */
static ctl_exit_t site_read(const char **out, const ctl_t *ctl)
{
    const char *site = ctl->option[CTL_OPTION_SITE];
    const char *fault;
    pay_url_t *url;
    apr_status_t rv;
    size_t len;

    *out = "";
    if (!site) {
        return CTL_OK;
    }
    rv = pay_url_parse(&url, &fault, site, "https http", ctl->pool);
    if (rv != APR_SUCCESS || strpbrk(site, "?#")) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "--site: want the server's address, such as https://shop.example");
    }
    for (len = strlen(site); site[len - 1] == '/'; len--) {
        ;
    }
    *out = apr_pstrmemdup(ctl->pool, site, len);
    return CTL_OK;
}

static void link_print(const ctl_t *ctl, const pay_link_t *link, const char *site)
{
    const row_t row = {*link, site, pay_time_now()};

    ctl_row_print(ctl, &link_detail_view, &row);
}

/* A bare date is a day of the account's zone, which belongs to the time whole. */
static ctl_exit_t expires_read(apr_time_t *out, const ctl_t *ctl, const pay_account_t *account)
{
    const char *text = ctl->option[CTL_OPTION_EXPIRES];
    const pay_timezone_t *zone;
    pay_time_range_t range;
    ctl_exit_t failed;

    *out = 0;
    if (!text) {
        return CTL_OK;
    }
    failed = ctl_zone_load(&zone, ctl, account);
    if (failed) {
        return failed;
    }
    if (pay_refund_range_parse(&range, FIRST_TIME, text, zone, 0, ctl->pool)) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--expires: want yyyy-MM-dd or an RFC 3339 time");
    }
    *out = range.to;
    return CTL_OK;
}

/* What all commands on links begin with. */
static ctl_exit_t place_read(const char **site, pay_scope_t *scope, pay_account_t **account,
                             ctl_t *ctl)
{
    ctl_exit_t failed;

    failed = site_read(site, ctl);
    return failed ? failed : ctl_scope_find(scope, account, ctl);
}

ctl_exit_t ctl_link_create(ctl_t *ctl)
{
    pay_link_form_t form = {.reference = ctl->option[CTL_OPTION_REFERENCE],
                            .title = ctl->option[CTL_OPTION_TITLE],
                            .description = ctl->option[CTL_OPTION_DESCRIPTION],
                            .redirect_url = ctl->option[CTL_OPTION_REDIRECT],
                            .amount = ctl->option[CTL_OPTION_AMOUNT],
                            .currency = ctl->option[CTL_OPTION_CURRENCY],
                            .once = ctl->option[CTL_OPTION_ONCE] != NULL};
    const pay_problem_t *problem;
    const pay_link_t *link;
    pay_account_t *account;
    const char *site;
    pay_scope_t scope;
    ctl_exit_t failed;

    failed = place_read(&site, &scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = expires_read(&form.expires_at, ctl, account);
    if (failed) {
        return failed;
    }
    problem = pay_link_make(&link, &ctl->service, account, scope.mode, &form, ctl->pool);
    if (problem) {
        return ctl_fail_problem(problem, ctl->pool);
    }
    link_print(ctl, link, site);
    return CTL_OK;
}

/* Show and disable: the link of the second argument. */
static ctl_exit_t link_work(ctl_t *ctl, int disable)
{
    const pay_problem_t *problem;
    const pay_link_t *link;
    pay_account_t *account;
    const char *site;
    pay_scope_t scope;
    ctl_exit_t failed;

    failed = place_read(&site, &scope, &account, ctl);
    if (failed) {
        return failed;
    }
    problem = disable ? pay_link_disable(&link, &ctl->service, &scope, ctl->arg[1], ctl->pool)
                      : pay_link_find(&link, ctl->service.store, &scope, ctl->arg[1], ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s has no such payment link in %s mode; 'paymentsctl link list' "
                        "lists them",
                        account->name, pay_mode_name(scope.mode));
    }
    if (problem) {
        return ctl_fail_problem(problem, ctl->pool);
    }
    link_print(ctl, link, site);
    return CTL_OK;
}

ctl_exit_t ctl_link_show(ctl_t *ctl)
{
    return link_work(ctl, 0);
}

ctl_exit_t ctl_link_disable(ctl_t *ctl)
{
    return link_work(ctl, 1);
}

typedef struct listing_t {
    ctl_t *ctl;
    pay_scope_t scope;
    const char *site;
    ctl_list_t *list;
} listing_t;

/* By reference. */
static apr_status_t links_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    const listing_t *listing = baton;
    const pay_link_t *last = after;

    return pay_store_link_list(rows, listing->ctl->service.store, &listing->scope,
                               last ? last->reference : NULL, PAY_STORE_ROWS_MAX, p);
}

static apr_status_t link_row(void *baton, const void *link, apr_pool_t *p)
{
    const listing_t *listing = baton;
    const row_t row = {*(const pay_link_t *)link, listing->site, pay_time_now()};

    (void)p;

    ctl_list_row(listing->list, &row);
    return APR_SUCCESS;
}

ctl_exit_t ctl_link_list(ctl_t *ctl)
{
    static const pay_pager_t pager = {.list = links_list, .each = link_row};
    listing_t listing = {.ctl = ctl};
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    failed = place_read(&listing.site, &listing.scope, &account, ctl);
    if (failed) {
        return failed;
    }
    listing.list = ctl_list_open(ctl, &link_view, limit);
    rv = ctl_list_walk(listing.list, &pager, &listing);
    return ctl_list_end(listing.list, rv, "cannot list the payment links");
}
