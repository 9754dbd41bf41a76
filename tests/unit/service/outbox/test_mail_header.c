/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail_header.h"

#include "unit.h"

#include <apr_base64.h>
#include <string.h>

#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define U14 "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"

static const char *put(const char *name, const char *value)
{
    apr_array_header_t *headers = apr_array_make(unit_pool, 1, sizeof(const char *));

    pay_mail_header_put(headers, name, value);
    ck_assert_int_eq(headers->nelts, 1);
    return APR_ARRAY_IDX(headers, 0, const char *);
}

static const struct {
    const char *name;
    const char *value;
    const char *want;
} put_rows[] = {
    {"plain", "a value", "X: a value"},
    {"empty", "", "X: "},
    {"LF", "a\nBcc: b@example.com", "X: aBcc: b@example.com"},
    {"CR", "a\rBcc: b@example.com", "X: aBcc: b@example.com"},
    {"CRLF", "a\r\n\r\nbody", "X: abody"},
    {"folded", "a\r\n b", "X: a b"},
    {"at both ends", "\r\na\r\n", "X: a"},
    {"nothing but", "\r\n\r\n", "X: "},
    {"other control characters", "a\x01\x0b\x0c\x1b\x7f\tb", "X: ab"},
    {"beyond ASCII",
     "a\xc3\xbc\xe2\x80\xa8\xc2\x85\xff"
     "b",
     "X: ab"},
};

START_TEST(test_put)
{
    ck_assert_msg(!strcmp(put("X", put_rows[_i].value), put_rows[_i].want), "%s",
                  put_rows[_i].name);
}
END_TEST

/* Every byte, at both ends and in the middle: only printable ones come through. */
START_TEST(test_put_every_byte)
{
    char value[] = {(char)_i, 'a', (char)_i, 'b', (char)_i, '\0'};
    const char *line = put("X", value);
    const char *c;

    for (c = line; *c; c++) {
        ck_assert(*c >= ' ' && *c <= '~');
    }
    ck_assert_uint_eq(strlen(line), strlen("X: ab") + (_i >= ' ' && _i <= '~' ? 3 : 0));
}
END_TEST

START_TEST(test_put_limit)
{
    char value[PAY_MAIL_LINE_MAX + 1];

    memset(value, 'a', sizeof(value));
    value[PAY_MAIL_LINE_MAX - 3] = '\0';
    ck_assert_uint_eq(strlen(put("X", value)), PAY_MAIL_LINE_MAX);
    value[PAY_MAIL_LINE_MAX - 3] = 'a';
    value[PAY_MAIL_LINE_MAX - 2] = '\0';
    ck_assert_uint_eq(strlen(put("X", value)), PAY_MAIL_LINE_MAX);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *want;
} text_rows[] = {
    {"empty", "", ""},
    {"plain", "Receipt from shop: NGN 10.00", "Receipt from shop: NGN 10.00"},
    {"long and plain", A50 A50, A50 A50},
    {"beyond ASCII", "Caf\xc3\xa9", "=?UTF-8?B?Q2Fmw6k=?="},
    {"control characters go", "a\r\nBcc: b\x7f\x01", "aBcc: b"},
    {"control characters go before encoding", "\xc3\xa9\r\nBcc: b", "=?UTF-8?B?w6lCY2M6IGI=?="},
    {"what looks encoded", "=?UTF-8?Q?a?=", "=?UTF-8?B?PT9VVEYtOD9RP2E/PQ==?="},
    {"an encoded-word's bytes", U14 U14 U14 "abc",
     "=?UTF-8?B?w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8YWJj?="},
    {"one more", U14 U14 U14 "abcd",
     "=?UTF-8?B?w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8YWJj?= "
     "=?UTF-8?B?ZA==?="},
    {"a character on the border", U14 U14 U14 "abcdef\xe2\x82\xac",
     "=?UTF-8?B?w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8w7zDvMO8YWJj?= "
     "=?UTF-8?B?ZGVm4oKs?="},
};

START_TEST(test_text)
{
    const char *out = pay_mail_header_text(text_rows[_i].text, 900, unit_pool);

    ck_assert_msg(!strcmp(out, text_rows[_i].want), "%s: %s", text_rows[_i].name, out);
}
END_TEST

/*
 * Decodes words between blanks; returns their number. Checks length, and that characters are
 * complete.
 */
static int decode(char *out, const char *words)
{
    char *copy = apr_pstrdup(unit_pool, words);
    char *rest, *word;
    int count = 0;
    int len;

    *out = '\0';
    for (word = apr_strtok(copy, " ", &rest); word; word = apr_strtok(NULL, " ", &rest)) {
        ck_assert_uint_le(strlen(word), 75);
        ck_assert_int_eq(strncmp(word, "=?UTF-8?B?", 10), 0);
        ck_assert_str_eq(word + strlen(word) - 2, "?=");
        word[strlen(word) - 2] = '\0';
        out += strlen(out);
        len = apr_base64_decode(out, word + 10);
        out[len] = '\0';
        ck_assert((*out & 0xc0) != 0x80);
        count++;
    }
    return count;
}

static const char *const characters[] = {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

/* Characters of two, three and four bytes, at each offset to the border of an encoded-word. */
START_TEST(test_text_characters)
{
    const char *text, *words;
    char back[1000];
    int lead, i;

    for (lead = 0; lead < 8; lead++) {
        text = apr_pstrndup(unit_pool, "abcdefgh", (apr_size_t)lead);
        for (i = 0; i < 100; i++) {
            text = apr_pstrcat(unit_pool, text, characters[_i], NULL);
        }
        words = pay_mail_header_text(text, 900, unit_pool);
        ck_assert_int_ge(decode(back, words), (int)strlen(text) / 45);
        ck_assert_str_eq(back, text);
    }
}
END_TEST

/* Text without room is left out from a character's border on. */
START_TEST(test_text_room)
{
    const char *text = "";
    const char *words;
    char back[5000];
    apr_size_t room;
    int i;

    for (i = 0; i < 1000; i++) {
        text = apr_pstrcat(unit_pool, text, characters[_i], NULL);
    }
    for (room = 0; room < 1000; room += 37) {
        words = pay_mail_header_text(text, room, unit_pool);
        ck_assert_uint_le(strlen(words), room);
        ck_assert_uint_ge(strlen(words) + 76, room);
        decode(back, words);
        ck_assert_int_eq(strncmp(text, back, strlen(back)), 0);
        ck_assert_uint_eq(strlen(back) % strlen(characters[_i]), 0);
    }
    ck_assert_str_eq(pay_mail_header_text("abcdef", 5, unit_pool), "abcde");
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *want;
} mailbox_rows[] = {
    {"plain", "my-shop", "\"my-shop\" <a@b.example>"},
    {"empty", "", "\"\" <a@b.example>"},
    {"specials", "Shop, Ltd. <x@y.example>", "\"Shop, Ltd. <x@y.example>\" <a@b.example>"},
    {"quotes", "a\"b\\c", "\"a\\\"b\\\\c\" <a@b.example>"},
    {"line break", "a\r\nBcc: b", "\"aBcc: b\" <a@b.example>"},
    {"beyond ASCII", "Caf\xc3\xa9", "=?UTF-8?B?Q2Fmw6k=?= <a@b.example>"},
    {"what looks encoded", "=?x", "=?UTF-8?B?PT94?= <a@b.example>"},
};

START_TEST(test_mailbox)
{
    const char *out = pay_mail_header_mailbox(mailbox_rows[_i].text, "a@b.example", unit_pool);

    ck_assert_msg(!strcmp(out, mailbox_rows[_i].want), "%s: %s", mailbox_rows[_i].name, out);
}
END_TEST

/* However long a name is, the address keeps its place in the line. */
START_TEST(test_mailbox_long)
{
    static const char *const parts[] = {"\"", "\xc3\xbc"};
    const char *name = "";
    const char *line;
    char address[255];
    int i;

    memset(address, 'a', sizeof(address));
    memcpy(address + 60, "@b", 2);
    address[254] = '\0';
    for (i = 0; i < 2000; i++) {
        name = apr_pstrcat(unit_pool, name, parts[_i], NULL);
    }
    line = put("Reply-To", pay_mail_header_mailbox(name, address, unit_pool));
    ck_assert_uint_le(strlen(line), PAY_MAIL_LINE_MAX);
    ck_assert_str_eq(line + strlen(line) - strlen(address) - 3,
                     apr_pstrcat(unit_pool, " <", address, ">", NULL));
}
END_TEST

static const struct {
    apr_time_t seconds;
    const char *want;
} date_rows[] = {
    {0, "Thu, 01 Jan 1970 00:00:00 +0000"},
    {1795267800, "Sat, 21 Nov 2026 13:30:00 +0000"},
    {951782399, "Mon, 28 Feb 2000 23:59:59 +0000"},
    {951868799, "Tue, 29 Feb 2000 23:59:59 +0000"},
    {4102444800, "Fri, 01 Jan 2100 00:00:00 +0000"},
};

START_TEST(test_date)
{
    ck_assert_str_eq(
        pay_mail_header_date(apr_time_from_sec(date_rows[_i].seconds) + 999999, unit_pool),
        date_rows[_i].want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_put, 0, UNIT_ROWS(put_rows));
    tcase_add_loop_test(tcase, test_put_every_byte, 1, 256);
    tcase_add_test(tcase, test_put_limit);
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(text_rows));
    tcase_add_loop_test(tcase, test_text_characters, 0, UNIT_ROWS(characters));
    tcase_add_loop_test(tcase, test_text_room, 0, UNIT_ROWS(characters));
    tcase_add_loop_test(tcase, test_mailbox, 0, UNIT_ROWS(mailbox_rows));
    tcase_add_loop_test(tcase, test_mailbox_long, 0, 2);
    tcase_add_loop_test(tcase, test_date, 0, UNIT_ROWS(date_rows));
}

UNIT_PROGRAM(add)
