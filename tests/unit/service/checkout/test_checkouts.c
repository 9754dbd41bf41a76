/* SPDX-License-Identifier: Apache-2.0 */
#include "checkout_shop.h"
#include "limited.h"
#include "service/acquiring.h"

#define REFERENCE "checkout-00000001"

static void set_up(void)
{
    checkout_shop_open(unit_dir());
}

static const pay_charge_t *now(const pay_charge_t *charge)
{
    return checkout_page(charge).charge;
}

/* The fields at fault, or "" and *out. */
static const char *pay_by_card(const pay_charge_t **out, const pay_charge_t *charge,
                               const char *number)
{
    const pay_card_entry_t entry = {number, "12/34", "123"};
    const pay_page_t page = checkout_page(charge);
    const pay_problem_t *problem;

    problem = pay_checkout_pay_card(out, &shop->service, &page, &entry, unit_pool);
    return problem ? APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t).field : "";
}

/* ---- by card */

static const struct {
    const char *name;
    const char *number;
    const char *field;
    pay_checkout_stage_t stage;
    const char *code;
    int has_token;
} cards[] = {
    {"approved", "5555 5555 5555 4444", "", PAY_STAGE_APPROVED, "00", 1},
    {"declined", "1234567898765432", "", PAY_STAGE_DECLINED, "05", 0},
    {"insufficient funds", "4000000000009995", "", PAY_STAGE_DECLINED, "51", 0},
    {"expired card", "4000000000000069", "", PAY_STAGE_DECLINED, "54", 0},
    {"no answer", "4000000000000119", "", PAY_STAGE_WAITING, "", 0},
    {"asks for a code", "4000000000003220", "", PAY_STAGE_CODE, "", 0},
    {"a real one", "4111111111111111", "/number", PAY_STAGE_PAY, "", 0},
};

START_TEST(test_cards)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;
    const char *name = cards[_i].name;
    const char *field = pay_by_card(&out, charge, cards[_i].number);
    pay_token_t *token = NULL;

    ck_assert_msg(strcmp(field, cards[_i].field) == 0, "%s: %s", name, field);
    out = now(charge);
    ck_assert_msg(pay_checkout_stage(out, pay_time_now()) == cards[_i].stage, "%s", name);
    ck_assert_str_eq(out->code, cards[_i].code);
    ck_assert_msg((*out->token != '\0') == cards[_i].has_token, "%s", name);
    ck_assert_msg((*out->card.last4 != '\0') == !*field, "%s", name);
    if (cards[_i].has_token) {
        ck_assert_int_eq(STORE_REAL(token_get)(&token, shop->store, &test, out->token, unit_pool),
                         APR_SUCCESS);
        ck_assert_str_eq(token->email, "ada@shop.example");
    }
    store_is_clean();
}
END_TEST

/* The acquirer that gave no answer is queried, and its report issues the token. */
START_TEST(test_answer_that_comes_later)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;

    ck_assert_str_eq(pay_by_card(&out, charge, "4000000000000119"), "");
    shop_clock_set(NOW + SECOND);
    checkout_watchdog();
    out = now(charge);
    ck_assert_int_eq(out->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(strncmp(out->token, "tok_", 4), 0);
    store_is_clean();
}
END_TEST

static const struct {
    const char *name;
    const char *code;
    const char *field;
    pay_checkout_stage_t stage;
} codes[] = {
    {"right", "123456", "", PAY_STAGE_APPROVED},
    {"wrong", "123457", "", PAY_STAGE_DECLINED},
    {"longer", "1234567", "", PAY_STAGE_DECLINED},
    {"empty", "", "/code", PAY_STAGE_CODE},
    {"none", NULL, "/code", PAY_STAGE_CODE},
    {"33 digits", "123456789012345678901234567890123", "/code", PAY_STAGE_CODE},
};

START_TEST(test_codes)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;
    const pay_problem_t *problem;
    pay_page_t page;

    ck_assert_str_eq(pay_by_card(&out, charge, "4000000000003220"), "");
    page = checkout_page(charge);
    problem = pay_checkout_pay_code(&out, &shop->service, &page, codes[_i].code, unit_pool);
    ck_assert_msg((problem != NULL) == (*codes[_i].field != '\0'), "%s", codes[_i].name);
    out = now(charge);
    ck_assert_msg(pay_checkout_stage(out, pay_time_now()) == codes[_i].stage, "%s", codes[_i].name);
    ck_assert_int_eq(*out->token != '\0', codes[_i].stage == PAY_STAGE_APPROVED);
    store_is_clean();
}
END_TEST

START_TEST(test_code_that_nobody_asked_for)
{
    const pay_page_t page = checkout_page(checkout_new(PAY_TEST, REFERENCE));
    const pay_charge_t *out;

    ck_assert_ptr_null(pay_checkout_pay_code(&out, &shop->service, &page, "123456", unit_pool));
    ck_assert_int_eq(pay_checkout_stage(out, pay_time_now()), PAY_STAGE_PAY);
}
END_TEST

/* ---- by transfer */

static const struct {
    const char *name;
    const char *bank, *account;
    int faults;
} transfers[] = {
    {"the test account", "000", "0000000000", 0},
    {"another bank", "001", "0000000000", 1},
    {"another account", "000", "0000000001", 1},
    {"nothing", NULL, NULL, 2},
};

START_TEST(test_transfer)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;
    const pay_page_t page = checkout_page(charge);
    const pay_problem_t *problem = pay_checkout_pay_transfer(
        &out, &shop->service, &page, transfers[_i].bank, transfers[_i].account, unit_pool);

    ck_assert_msg((problem ? problem->fields->nelts : 0) == transfers[_i].faults, "%s",
                  transfers[_i].name);
    out = now(charge);
    ck_assert_int_eq(out->state, transfers[_i].faults ? PAY_CHARGE_PENDING : PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(out->channel,
                     transfers[_i].faults ? PAY_CHANNEL_CARD : PAY_CHANNEL_BANK_TRANSFER);
    ck_assert_str_eq(out->token, "");
    store_is_clean();
}
END_TEST

/* ---- what another window, or time, did meanwhile */

START_TEST(test_old_page)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;
    const pay_card_entry_t entry = {"5555555555554444", "12/34", "123"};
    const pay_page_t old = checkout_page(charge);

    ck_assert_str_eq(pay_by_card(&out, charge, "1234567898765432"), "");
    ck_assert_ptr_null(pay_checkout_pay_card(&out, &shop->service, &old, &entry, unit_pool));
    ck_assert_int_eq(out->state, PAY_CHARGE_FAILED);
    ck_assert_ptr_null(pay_checkout_cancel(&out, &shop->service, &old, unit_pool));
    ck_assert_int_eq(out->state, PAY_CHARGE_FAILED);
    store_is_clean();
}
END_TEST

START_TEST(test_cancel)
{
    const pay_charge_t *charge = checkout_new((pay_mode_t)_i, REFERENCE), *out;
    const pay_page_t page = checkout_page(charge);

    ck_assert_ptr_null(pay_checkout_cancel(&out, &shop->service, &page, unit_pool));
    ck_assert_int_eq(out->state, PAY_CHARGE_ABANDONED);
    ck_assert_int_eq(pay_checkout_stage(out, pay_time_now()), PAY_STAGE_CANCELLED);
    ck_assert_int_eq(out->due_at != 0, _i == PAY_LIVE); /* it may still be paid there */
    store_is_clean();
}
END_TEST

/* Also one with a card, for which nobody typed the code. */
START_TEST(test_expires)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE), *out;

    if (_i) {
        ck_assert_str_eq(pay_by_card(&out, charge, "4000000000003220"), "");
    }
    shop_clock_set(NOW + LIFETIME - SECOND);
    checkout_watchdog();
    ck_assert_int_eq(now(charge)->state, PAY_CHARGE_PENDING);
    shop_clock_set(NOW + LIFETIME);
    if (_i) {
        const pay_page_t page = checkout_page(charge);

        ck_assert_ptr_null(pay_checkout_pay_code(&out, &shop->service, &page, "123456", unit_pool));
    } else {
        ck_assert_str_eq(pay_by_card(&out, charge, "5555555555554444"), "");
    }
    ck_assert_int_eq(out->state, PAY_CHARGE_PENDING); /* too late, whoever comes first */
    checkout_watchdog();
    out = now(charge);
    ck_assert_int_eq(out->state, PAY_CHARGE_ABANDONED);
    ck_assert_int_eq(pay_checkout_stage(out, pay_time_now()), PAY_STAGE_EXPIRED);
    ck_assert_int_eq(out->due_at, 0);
    store_is_clean();
}
END_TEST

/* ---- whose page it is */

START_TEST(test_page_of_another_account)
{
    const pay_charge_t *charge = checkout_new(PAY_TEST, REFERENCE);
    pay_page_t page;

    shop->service.account_name = "another";
    ck_assert_str_eq(
        pay_page_get(&page, &shop->service, charge->checkout->page_id, unit_pool)->code, "N2");
    shop->service.account_name = NULL;
    ck_assert_ptr_null(pay_page_get(&page, &shop->service, charge->checkout->page_id, unit_pool));
    ck_assert_str_eq(page.account->name, "demo");
    ck_assert_str_eq(pay_page_get(&page, &shop->service, "no page", unit_pool)->code, "N2");
    ck_assert_ptr_null(page.charge);
}
END_TEST

/* ---- Live Mode: back from the acquirer's page */

static const struct {
    const char *name;
    char says;
    pay_charge_state_t want;
} comebacks[] = {
    {"paid", '+', PAY_CHARGE_SUCCESSFUL},     {"declined", '-', PAY_CHARGE_FAILED},
    {"not decided", 'P', PAY_CHARGE_PENDING}, {"unknown there", 'A', PAY_CHARGE_PENDING},
    {"no answer", 'U', PAY_CHARGE_PENDING},
};

START_TEST(test_return)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;
    const pay_page_t page = checkout_page(charge);
    pay_token_t *token;

    script_say(comebacks[_i].says);
    script.outcome.token = "acq_token";
    ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    ck_assert_msg(out->state == comebacks[_i].want, "%s", comebacks[_i].name);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(STORE_REAL(token_get)(&token, shop->store, &live, "acq_token", unit_pool),
                     comebacks[_i].want == PAY_CHARGE_SUCCESSFUL ? APR_SUCCESS : APR_NOTFOUND);
    ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    store_is_clean();
}
END_TEST

/* ---- whoever has the page's address can ask: no more than there is room for */

static void no_place_for_work(void)
{
    shop->service.slots = slots_of(4);
    while (pay_slots_take(shop->service.slots, 99) >= 0) {
    }
}

static void no_place_for_calls(void)
{
    acquirer.slots = slots_of(4);
    while (pay_slots_take(acquirer.slots, 99) >= 0) {
    }
}

static void it_asked_for_patience(void)
{
    acquirer.breaker = pay_breaker_init(apr_palloc(unit_pool, pay_breaker_size()));
    pay_breaker_hold(acquirer.breaker, 60000);
}

static void it_refused_our_key(void)
{
    acquirer.breaker = pay_breaker_init(apr_palloc(unit_pool, pay_breaker_size()));
    pay_breaker_fault(acquirer.breaker);
}

static void asked_for_the_last_time(void)
{
    int days;

    script_say('P');
    shop_clock_set(NOW + LIFETIME);
    checkout_watchdog();
    for (days = 1; days <= 8; days++) {
        shop_clock_set(NOW + days * DAY);
        checkout_watchdog();
    }
    ck_assert_int_eq(charge_of(REFERENCE)->due_at, 0);
}

static const struct {
    const char *name;
    void (*arrange)(void);
} unasked[] = {
    {"no place for work", no_place_for_work},         {"no place for a call", no_place_for_calls},
    {"it asked for patience", it_asked_for_patience}, {"it refused our key", it_refused_our_key},
    {"closed for good", asked_for_the_last_time},
};

START_TEST(test_return_asks_nobody)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;
    pay_charge_state_t state;
    pay_page_t page;

    unasked[_i].arrange();
    page = checkout_page(charge);
    state = page.charge->state;
    script.queries = 0;
    script_say('+');
    ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    ck_assert_msg(script.queries == 0, "%s", unasked[_i].name);
    ck_assert_msg(out->state == state, "%s", unasked[_i].name);
}
END_TEST

/* As a charge would be tried: once it was left alone for long enough; it is not a probe. */
START_TEST(test_return_asks_again)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;
    const pay_page_t page = checkout_page(charge);
    const pay_problem_t *problem;
    pay_acquiring_t acquiring;

    acquirer.breaker = pay_breaker_init(apr_palloc(unit_pool, pay_breaker_size()));
    pay_breaker_hold(acquirer.breaker, 1);
    while (pay_breaker_state(acquirer.breaker) == PAY_BREAKER_OPEN && script.queries == 0) {
        script_say('P');
        ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    }
    ck_assert_int_eq(script.queries, 1);
    problem = pay_acquiring_enter_own(&acquiring, &acquirer, unit_pool);
    ck_assert_ptr_null(problem);
    pay_acquiring_leave(&acquiring);
}
END_TEST

/* It was closed meanwhile: a decline ends the queries. */
START_TEST(test_return_of_a_closed_one)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;
    pay_page_t page;

    script_say('P');
    shop_clock_set(NOW + LIFETIME);
    checkout_watchdog();
    page = checkout_page(charge);
    ck_assert_int_eq(page.charge->state, PAY_CHARGE_ABANDONED);
    script_say(_i ? '+' : '-');
    ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    ck_assert_int_eq(out->state, _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_ABANDONED);
    ck_assert_int_eq(out->due_at, 0);
    ck_assert_int_eq(pay_checkout_told(out, NOW + LIFETIME),
                     _i ? PAY_STAGE_APPROVED : PAY_STAGE_EXPIRED);
    store_is_clean();
}
END_TEST

/* The places are released. */
START_TEST(test_return_leaves_its_places)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;
    const pay_page_t page = checkout_page(charge);

    shop->service.slots = slots_of(4);
    acquirer.slots = slots_of(4);
    script_say('U');
    ck_assert_ptr_null(pay_checkout_return(&out, &shop->service, &page, unit_pool));
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(pay_slots_count(shop->service.slots), 0);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
}
END_TEST

/* No card is accepted there. */
START_TEST(test_card_in_live_mode)
{
    const pay_charge_t *charge = checkout_new(PAY_LIVE, REFERENCE), *out;

    ck_assert_str_eq(pay_by_card(&out, charge, "5555555555554444"), "");
    ck_assert_int_eq(now(charge)->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(script.calls + script.queries, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_cards, 0, UNIT_ROWS(cards));
    tcase_add_test(tcase, test_answer_that_comes_later);
    tcase_add_loop_test(tcase, test_codes, 0, UNIT_ROWS(codes));
    tcase_add_test(tcase, test_code_that_nobody_asked_for);
    tcase_add_loop_test(tcase, test_transfer, 0, UNIT_ROWS(transfers));
    tcase_add_test(tcase, test_old_page);
    tcase_add_loop_test(tcase, test_cancel, 0, PAY_MODE_COUNT);
    tcase_add_loop_test(tcase, test_expires, 0, 2);
    tcase_add_test(tcase, test_page_of_another_account);
    tcase_add_loop_test(tcase, test_return, 0, UNIT_ROWS(comebacks));
    tcase_add_loop_test(tcase, test_return_asks_nobody, 0, UNIT_ROWS(unasked));
    tcase_add_test(tcase, test_return_asks_again);
    tcase_add_loop_test(tcase, test_return_of_a_closed_one, 0, 2);
    tcase_add_test(tcase, test_return_leaves_its_places);
    tcase_add_test(tcase, test_card_in_live_mode);
}

UNIT_PROGRAM(add)
