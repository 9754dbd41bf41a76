/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recipients.h"

#include "unit.h"

#define A17                                                                                        \
    "a1@b.example a2@b.example a3@b.example a4@b.example a5@b.example a6@b.example "               \
    "a7@b.example a8@b.example a9@b.example a10@b.example a11@b.example a12@b.example "            \
    "a13@b.example a14@b.example a15@b.example a16@b.example"

static const struct {
    const char *name, *text;
    const char *list; /* NULL: refused */
} lists[] = {
    {"nobody", "", ""},
    {"only blanks", "   ", ""},
    {"an address", "Ada@Shop.Example", "ada@shop.example"},
    {"a domain", "@Shop.Example", "@shop.example"},
    {"both, and again", " @a.example ada@b.example @A.example", "@a.example ada@b.example"},
    {"sixteen", A17, A17},
    {"the sixteenth again", A17 " a16@b.example", A17},
    {"seventeen", A17 " @b.example", NULL},
    {"no address", "ada", NULL},
    {"a domain without a dot", "@localhost", NULL},
    {"a star", "@*.example", NULL},
    {"all", "@", NULL},
    {"two in one", "a@b.example,c@d.example", NULL},
    {"one of them wrong", "a@b.example <c@d.example>", NULL},
};

START_TEST(test_read)
{
    const char *list = NULL;
    const int ok = pay_recipients_read(&list, lists[_i].text, unit_pool);

    ck_assert_msg(ok == (lists[_i].list != NULL), "%s", lists[_i].name);
    ck_assert_msg(!strcmp(list, ok ? lists[_i].list : ""), "%s: %s", lists[_i].name, list);
}
END_TEST

static const struct {
    const char *address;
    int has;
} asked[] = {
    {"ada@shop.example", 1},      {"bob@test.example", 1},   {"bob@shop.example", 0},
    {"bob@x.test.example", 0},    {"bob@xtest.example", 0},  {"da@shop.example", 0},
    {"ada@shop.example.evil", 0}, {"a@b@test.example", 1},   {"", 0},
    {"test.example", 0},          {"ada+1@shop.example", 0},
};

START_TEST(test_has)
{
    ck_assert_msg(pay_recipients_has("ada@shop.example @test.example", asked[_i].address)
                      == asked[_i].has,
                  "%s", asked[_i].address);
    ck_assert_int_eq(pay_recipients_has("", asked[_i].address), 0);
}
END_TEST

static const struct {
    const char *address, *mailbox;
} mailboxes[] = {
    {"ada@shop.example", "ada@shop.example"},     {"ada+1@shop.example", "ada@shop.example"},
    {"ada+1+2@shop.example", "ada@shop.example"}, {"+1@shop.example", "+1@shop.example"},
    {"ada@sh+op.example", "ada@sh+op.example"},   {"ada+1", "ada+1"},
};

START_TEST(test_mailbox)
{
    ck_assert_str_eq(pay_recipients_mailbox(mailboxes[_i].address, unit_pool),
                     mailboxes[_i].mailbox);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_read, 0, UNIT_ROWS(lists));
    tcase_add_loop_test(tcase, test_has, 0, UNIT_ROWS(asked));
    tcase_add_loop_test(tcase, test_mailbox, 0, UNIT_ROWS(mailboxes));
}

UNIT_PROGRAM(add)
