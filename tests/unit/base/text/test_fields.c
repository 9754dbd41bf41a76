/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/fields.h"

#include "unit.h"

#include <string.h>

#define SIXTEEN "a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=0&k=1&l=2&m=3&n=4&o=5&p=6"

static const struct {
    const char *name;
    const char *text;
    apr_size_t len;   /* 0: the text's */
    const char *want; /* "name[value]" of each; NULL: refused */
} forms[] = {
    {"nothing", "", 0, ""},
    {"one", "a=1", 0, "a[1]"},
    {"two", "a=1&b=2", 0, "a[1]b[2]"},
    {"a value of none", "a=&b", 0, "a[]b[]"},
    {"empty ones between", "&&a=1&&b=2&", 0, "a[1]b[2]"},
    {"only ampersands", "&&&", 0, ""},
    {"an equals sign in a value", "a=1=2", 0, "a[1=2]"},
    {"encoded", "%61%3d=+%2B%26%3D%25", 0, "a=[ +&=%]"},
    {"hex digits of either case", "a=%c3%BC", 0, "a[\xc3\xbc]"},
    {"what is decoded is not decoded again", "a=%2526", 0, "a[%26]"},
    {"names by case", "a=1&A=2", 0, "a[1]A[2]"},
    {"as many as may be", SIXTEEN, 0,
     "a[1]b[2]c[3]d[4]e[5]f[6]g[7]h[8]i[9]j[0]k[1]l[2]m[3]n[4]o[5]p[6]"},
    {"one more", SIXTEEN "&q=7", 0, NULL},
    {"one more, of none", SIXTEEN "&q", 0, NULL},
    {"twice", "a=1&a=2", 0, NULL},
    {"twice, spelt otherwise", "a=1&%61=2", 0, NULL},
    {"without a name", "=1", 0, NULL},
    {"NUL", "a=%00", 0, NULL},
    {"NUL in a name", "a%00b=1", 0, NULL},
    {"NUL as it is", "a=1\0b", 5, NULL},
    {"a percent sign at the end", "a=%", 0, NULL},
    {"one digit at the end", "a=%4", 0, NULL},
    {"one digit before the next", "a=%4&b=1", 0, NULL},
    {"digits across fields", "a=%&41=1", 0, NULL},
    {"no hex digits", "a=%zz", 0, NULL},
    {"the second is none", "a=%4g", 0, NULL},
};

START_TEST(test_parse)
{
    apr_size_t len = forms[_i].len ? forms[_i].len : strlen(forms[_i].text);
    char *text = memcpy(malloc(len + 1), forms[_i].text, len);
    const char *got = "";
    pay_fields_t fields;
    apr_status_t rv;
    int i;

    rv = pay_fields_parse(&fields, text, len);
    ck_assert_msg(rv == (forms[_i].want ? APR_SUCCESS : APR_EINVAL), "%s: %d", forms[_i].name, rv);
    for (i = 0; i < fields.count; i++) {
        got = apr_pstrcat(unit_pool, got, fields.name[i], "[", fields.value[i], "]", NULL);
    }
    ck_assert_msg(strcmp(got, forms[_i].want ? forms[_i].want : "") == 0, "%s: %s", forms[_i].name,
                  got);
    pay_fields_wipe(&fields);
    ck_assert_int_eq(fields.count, 0);
    for (i = 0; i < (int)len; i++) {
        ck_assert_msg(text[i] == '\0', "%s: byte %d is left", forms[_i].name, i);
    }
    free(text);
}
END_TEST

START_TEST(test_length)
{
    char *text = malloc(PAY_FIELDS_LEN_MAX + 2);
    pay_fields_t fields;

    memset(text, 'a', PAY_FIELDS_LEN_MAX + 1);
    ck_assert_int_eq(pay_fields_parse(&fields, text, PAY_FIELDS_LEN_MAX + 1), APR_EINVAL);
    ck_assert_int_eq(pay_fields_parse(&fields, text, PAY_FIELDS_LEN_MAX), APR_SUCCESS);
    ck_assert_uint_eq(strlen(fields.name[0]), PAY_FIELDS_LEN_MAX);
    free(text);
}
END_TEST

START_TEST(test_get)
{
    char text[] = "a=1&b=";
    pay_fields_t fields;

    ck_assert_int_eq(pay_fields_parse(&fields, text, strlen(text)), APR_SUCCESS);
    ck_assert_str_eq(pay_fields_get(&fields, "a"), "1");
    ck_assert_str_eq(pay_fields_get(&fields, "b"), "");
    ck_assert_ptr_null(pay_fields_get(&fields, "c"));
    pay_fields_wipe(&fields);
    ck_assert_ptr_null(pay_fields_get(&fields, "a"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(forms));
    tcase_add_test(tcase, test_length);
    tcase_add_test(tcase, test_get);
}

UNIT_PROGRAM(add)
