/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/outcome.h"
#include "model/refund.h"
#include "model/refund_tag.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define TAG "abcdefghijklmnopqrstuv09"
_Static_assert(sizeof(TAG) - 1 == PAY_TAG_LEN, "a tag of its length");

static const struct {
    const char *name;
    const char *text;
    const char *note, *tag; /* the parts after the split */
} split_cases[] = {
    {"behind a note", "late [payments:" TAG "]", "late", TAG},
    {"alone", "[payments:" TAG "]", "", TAG},
    {"two: the last one counts", "[payments:" TAG "] [payments:000000000000000000000000]",
     "[payments:" TAG "]", "000000000000000000000000"},
    {"none", "late", "late", ""},
    {"nothing", "", "", ""},
    {"not at the end", "[payments:" TAG "] late", "[payments:" TAG "] late", ""},
    {"no blank before it", "late[payments:" TAG "]", "late[payments:" TAG "]", ""},
    {"a letter too few", "late [payments:bcdefghijklmnopqrstuv09]",
     "late [payments:bcdefghijklmnopqrstuv09]", ""},
    {"a letter too many", "late [payments:" TAG "0]", "late [payments:" TAG "0]", ""},
    {"a capital", "late [payments:Abcdefghijklmnopqrstuv09]",
     "late [payments:Abcdefghijklmnopqrstuv09]", ""},
    {"not closed", "late [payments:" TAG ")", "late [payments:" TAG ")", ""},
    {"another word", "late [payment_:" TAG "]", "late [payment_:" TAG "]", ""},
};

START_TEST(test_split)
{
    const char *note = split_cases[_i].text;
    const char *tag = pay_refund_tag_split(&note, unit_pool);

    ck_assert_msg(!strcmp(tag, split_cases[_i].tag), "%s: tag %s", split_cases[_i].name, tag);
    ck_assert_msg(!strcmp(note, split_cases[_i].note), "%s: note %s", split_cases[_i].name, note);
}
END_TEST

/* A joined note is split again, and fits. */
START_TEST(test_join)
{
    static const char *const letters[] = {"a", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    const char *note = "", *joined, *tag;
    int i;

    for (i = 0; i <= PAY_NOTE_MAX; i++) {
        joined = pay_refund_tag_join(i ? note : NULL, TAG, unit_pool);
        ck_assert_uint_le(pay_text_length(joined), PAY_NOTE_MAX);
        tag = pay_refund_tag_split(&joined, unit_pool);
        ck_assert_str_eq(tag, TAG);
        ck_assert_msg(!strncmp(note, joined, strlen(joined)), "%d characters", i);
        note = apr_pstrcat(unit_pool, note, letters[_i], NULL);
    }
    ck_assert_uint_eq(pay_text_length(joined), PAY_NOTE_MAX - sizeof(" [payments:" TAG "]") + 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_split, 0, UNIT_ROWS(split_cases));
    tcase_add_loop_test(tcase, test_join, 0, 3);
}

UNIT_PROGRAM(add)
