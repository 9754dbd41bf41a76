/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/email.h"

#include <string.h>

#define L16 "abcdefghijklmnop"
#define L63 L16 L16 L16 "abcdefghijklmno"
#define L64 L16 L16 L16 L16
#define DOMAIN_189                                                                                 \
    L63 "." L63 "."                                                                                \
        "abcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyz.abcdefg"

static const struct {
    const char *name;
    const char *text;
    const char *want; /* NULL: refused */
} email_cases[] = {
    {"plain", "ada@example.com", "ada@example.com"},
    {"upper case", "Ada.LOVELACE@Example.COM", "ada.lovelace@example.com"},
    {"blanks around", " \tada@example.com\t ", "ada@example.com"},
    {"all of atext", "a!#$%&'*+-/=?^_`{|}~9@example.com", "a!#$%&'*+-/=?^_`{|}~9@example.com"},
    {"UTF-8",
     "J\xc3\xbcrgen@b\xc3\xbc"
     "cher.example",
     "j\xc3\xbcrgen@b\xc3\xbc"
     "cher.example"},
    {"upper case beyond ASCII stays", "\xc3\x9c@example.com", "\xc3\x9c@example.com"},
    {"digits in the domain", "a@1.2x", "a@1.2x"},
    {"dash within a label", "a@my-shop.example", "a@my-shop.example"},
    {"longest local part", L64 "@example.com", L64 "@example.com"},
    {"local part one longer", L64 "a@example.com", NULL},
    {"longest label", "a@" L63 ".com", "a@" L63 ".com"},
    {"label one longer", "a@" L63 "x.com", NULL},
    {"longest", L64 "@" DOMAIN_189, L64 "@" DOMAIN_189},
    {"one longer", L64 "@" DOMAIN_189 "h", NULL},
    {"a card number is the local part", "4111111111111111@example.com",
     "4111111111111111@example.com"},
    {"empty", "", NULL},
    {"blanks only", "  ", NULL},
    {"no at sign", "example.com", NULL},
    {"two at signs", "a@b@example.com", NULL},
    {"no local part", "@example.com", NULL},
    {"no domain", "a@", NULL},
    {"domain without a dot", "a@localhost", NULL},
    {"dot at the end", "a@example.com.", NULL},
    {"dot at the start of the domain", "a@.example.com", NULL},
    {"two dots in the domain", "a@example..com", NULL},
    {"local part begins with a dot", ".a@example.com", NULL},
    {"local part ends with a dot", "a.@example.com", NULL},
    {"two dots in the local part", "a..b@example.com", NULL},
    {"label begins with a dash", "a@-example.com", NULL},
    {"label ends with a dash", "a@example-.com", NULL},
    {"underscore in the domain", "a@my_shop.com", NULL},
    {"IPv4 address", "a@192.0.2.1", NULL},
    {"address literal", "a@[192.0.2.1]", NULL},
    {"quoted string", "\"a b\"@example.com", NULL},
    {"name and address", "Ada <ada@example.com>", NULL},
    {"list", "a@example.com,b@example.com", NULL},
    {"list with blanks", "a@example.com b@example.com", NULL},
    {"comment", "a(x)@example.com", NULL},
    {"header injection", "a@example.com\r\nBcc: b@example.com", NULL},
    {"newline at the end", "a@example.com\n", NULL},
    {"control character", "a\x01@example.com", NULL},
    {"not UTF-8", "a\xff@example.com", NULL},
    {"surrogate", "a\xed\xa0\x80@example.com", NULL},
};

START_TEST(test_normalize)
{
    const char *out = "set";
    apr_status_t rv = pay_email_normalize(&out, email_cases[_i].text, unit_pool);

    if (!email_cases[_i].want) {
        ck_assert_msg(rv == APR_EINVAL, "%s", email_cases[_i].name);
        ck_assert_msg(out == NULL, "%s", email_cases[_i].name);
        return;
    }
    ck_assert_msg(rv == APR_SUCCESS, "%s", email_cases[_i].name);
    ck_assert_msg(!strcmp(out, email_cases[_i].want), "%s: %s", email_cases[_i].name, out);
}
END_TEST

START_TEST(test_longest_is_the_limit)
{
    ck_assert_uint_eq(strlen(L64 "@" DOMAIN_189), PAY_EMAIL_MAX);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_normalize, 0, UNIT_ROWS(email_cases));
    tcase_add_test(tcase, test_longest_is_the_limit);
}

UNIT_PROGRAM(add)
