/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include "unit.h"

#include <string.h>

#define DEPTH_MANY 10000
#define MEMBERS_MANY 2000

static const char *nested(int depth, const char *open, const char *close)
{
    char *text = apr_palloc(unit_pool, (apr_size_t)depth * 2 * 8 + 16);
    char *end = text;
    int i;

    /* The object on top is the first level. */
    end += apr_snprintf(end, 16, "{\"a\":");
    for (i = 1; i < depth; i++) {
        memcpy(end, open, strlen(open));
        end += strlen(open);
    }
    *end++ = '1';
    for (i = 1; i < depth; i++) {
        memcpy(end, close, strlen(close));
        end += strlen(close);
    }
    *end++ = '}';
    *end = '\0';
    return text;
}

static const struct {
    const char *name;
    const char *text;
    apr_size_t len;          /* 0: all of it */
    const char *want_reason; /* a part of it; NULL: valid */
} parse_rows[] = {
    {"empty object", "{}", 0, NULL},
    {"blanks around", " \t\r\n{ } \n", 0, NULL},
    {"members", "{\"a\":1,\"b\":[{\"c\":null}],\"d\":{}}", 0, NULL},
    {"same name on two levels", "{\"a\":{\"a\":1}}", 0, NULL},
    {"same name in two objects", "{\"l\":[{\"a\":1},{\"a\":1}]}", 0, NULL},
    {"brackets in strings", "{\"a\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}", 0, NULL},
    {"quote in a string", "{\"a\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}", 0, NULL},
    {"surrogate pair", "{\"a\":\"\\ud83d\\ude00\"}", 0, NULL},
    {"integer of any length", "{\"a\":123456789012345678901234567890}", 0, NULL},
    {"tiny number", "{\"a\":1e-400}", 0, NULL},
    {"empty", "", 0, "ends too early"},
    {"blanks only", "  ", 0, "ends too early"},
    {"not closed", "{\"a\":1", 0, "ends too early"},
    {"string not closed", "{\"a\":\"x", 0, "ends too early"},
    {"cut by the length", "{\"a\":1}", 6, "ends too early"},
    {"array on top", "[]", 0, "not an object"},
    {"string on top", "\"a\"", 0, "not an object"},
    {"number on top", "1", 0, "not an object"},
    {"null on top", "null", 0, "not an object"},
    {"two objects", "{}{}", 0, "after the end"},
    {"closed twice", "{}}", 0, "after the end"},
    {"NUL behind", "{}\0", 3, "after the end"},
    {"trailing comma", "{\"a\":1,}", 0, "not valid JSON"},
    {"no quotes", "{a:1}", 0, "not valid JSON"},
    {"single quotes", "{'a':1}", 0, "not valid JSON"},
    {"comment", "{/**/}", 0, "not valid JSON"},
    {"wrong bracket", "{\"a\":[1}]", 0, "not valid JSON"},
    {"leading zeros", "{\"a\":00}", 0, "not valid JSON"},
    {"leading zero", "{\"a\":01}", 0, "not valid JSON"},
    {"plus", "{\"a\":+1}", 0, "not valid JSON"},
    {"no digits behind the point", "{\"a\":1.}", 0, "not valid JSON"},
    {"NaN", "{\"a\":NaN}", 0, "not valid JSON"},
    {"control character", "{\"a\":\"\n\"}", 0, "not valid JSON"},
    {"raw NUL in a string", "{\"a\":\"x\0\"}", 10, "not valid JSON"},
    {"byte order mark", "\xef\xbb\xbf{}", 0, "not valid JSON"},
    {"too large", "{\"a\":1e400}", 0, "too large"},
    {"too large and deeper", "{\"a\":[{\"b\":-1e400}]}", 0, "too large"},
    {"given twice", "{\"a\":1,\"a\":1}", 0, "given twice"},
    {"given twice deeper", "{\"b\":[{\"a\":1,\"a\":2}]}", 0, "given twice"},
    {"given twice, escaped", "{\"amount\":1,\"am\\u006funt\":2}", 0, "given twice"},
    {"escaped NUL", "{\"a\":\"x\\u0000\"}", 0, "NUL"},
    {"escaped NUL in a name", "{\"a\\u0000b\":1}", 0, "NUL"},
    {"lone high surrogate", "{\"a\":\"\\ud83d\"}", 0, "not valid JSON"},
    {"lone low surrogate", "{\"a\":\"\\ude00\"}", 0, "not valid JSON"},
    {"high surrogate twice", "{\"a\":\"\\ud83d\\ud83d\"}", 0, "not valid JSON"},
    {"stray byte", "{\"a\":\"\xff\"}", 0, "UTF-8"},
    {"overlong", "{\"a\":\"\xc0\xaf\"}", 0, "UTF-8"},
    {"raw surrogate", "{\"a\":\"\xed\xa0\x80\"}", 0, "UTF-8"},
    {"cut sequence", "{\"a\":\"\xe2\x82\"}", 0, "UTF-8"},
    {"stray byte outside strings", "{\xff}", 0, "UTF-8"},
};

START_TEST(test_parse)
{
    const char *name = parse_rows[_i].name;
    const char *want = parse_rows[_i].want_reason;
    apr_size_t len = parse_rows[_i].len ? parse_rows[_i].len : strlen(parse_rows[_i].text);
    const char *text = apr_pstrmemdup(unit_pool, parse_rows[_i].text, len);
    const pay_json_t *json;
    const char *reason = "unset";
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, text, len, unit_pool);
    ck_assert_msg(rv == (want ? APR_EINVAL : APR_SUCCESS), "%s: status %d", name, rv);
    ck_assert_msg((json != NULL) == !want, "%s: out is wrong", name);
    if (want) {
        ck_assert_msg(reason && strstr(reason, want) != NULL, "%s: '%s'", name, reason);
    } else {
        ck_assert_msg(!reason, "%s: '%s'", name, reason);
    }
}
END_TEST

static const struct {
    const char *name;
    int depth;
    const char *open;
    const char *close;
    apr_status_t want;
} depth_rows[] = {
    {"arrays at the limit", PAY_JSON_DEPTH_MAX, "[", "]", APR_SUCCESS},
    {"arrays one past it", PAY_JSON_DEPTH_MAX + 1, "[", "]", APR_EINVAL},
    {"objects at the limit", PAY_JSON_DEPTH_MAX, "{\"a\":", "}", APR_SUCCESS},
    {"objects one past it", PAY_JSON_DEPTH_MAX + 1, "{\"a\":", "}", APR_EINVAL},
    {"ten thousand arrays", DEPTH_MANY, "[", "]", APR_EINVAL},
    {"ten thousand objects", DEPTH_MANY, "{\"a\":", "}", APR_EINVAL},
    {"never closed", DEPTH_MANY, "[", "", APR_EINVAL},
};

START_TEST(test_depth)
{
    const char *text = nested(depth_rows[_i].depth, depth_rows[_i].open, depth_rows[_i].close);
    const pay_json_t *json;
    const char *reason;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, text, strlen(text), unit_pool);
    ck_assert_msg(rv == depth_rows[_i].want, "%s: status %d, %s", depth_rows[_i].name, rv, reason);
    if (rv != APR_SUCCESS) {
        ck_assert_msg(strstr(reason, "deeper than 32") != NULL, "%s: '%s'", depth_rows[_i].name,
                      reason);
    }
}
END_TEST

static const char document[] =
    "{ \"string\" : \"a\\u00e9\\n\", \"empty\":\"\", \"null\":null, \"true\":true,\n"
    "\"list\":[1,{\"number\":3}], \"object\":{\"string\":\"inner\",\"x:y\":7},"
    "\"odd \\\" : {\" : 5, \"am\\u006funt\"\t:\r\n 10.50 , \"last\":-0.1E+1}";

static const struct {
    const char *name;
    pay_json_type_t type;
    const char *string;
    const char *number;
} member_rows[] = {
    {"string", PAY_JSON_STRING, "a\xc3\xa9\n", NULL},
    {"empty", PAY_JSON_STRING, "", NULL},
    {"null", PAY_JSON_NULL, NULL, NULL},
    {"true", PAY_JSON_OTHER, NULL, NULL},
    {"list", PAY_JSON_OTHER, NULL, NULL},
    {"object", PAY_JSON_OTHER, NULL, NULL},
    {"odd \" : {", PAY_JSON_NUMBER, NULL, "5"},
    {"amount", PAY_JSON_NUMBER, NULL, "10.50"},
    {"last", PAY_JSON_NUMBER, NULL, "-0.1E+1"},
    {"number", PAY_JSON_ABSENT, NULL, NULL},
    {"x:y", PAY_JSON_ABSENT, NULL, NULL},
    {"", PAY_JSON_ABSENT, NULL, NULL},
    {"Amount", PAY_JSON_ABSENT, NULL, NULL},
};

START_TEST(test_member)
{
    const char *name = member_rows[_i].name;
    const pay_json_t *json;
    const char *reason, *string, *number;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, document, strlen(document), unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_uint_eq(pay_json_count(json), 9);
    ck_assert_msg(pay_json_type(json, name) == member_rows[_i].type, "%s: type", name);
    string = pay_json_string(json, name);
    number = pay_json_number(json, name);
    ck_assert_pstr_eq(string, member_rows[_i].string);
    ck_assert_pstr_eq(number, member_rows[_i].number);
}
END_TEST

static const char *const literals[] = {
    "0",   "-0",     "0.5",  "0.1e1", "1e-400",          "123456789012345678901234567890.10",
    "1E5", "1e+005", "0.10", "-12",   "999999999999.99",
};

/* The literal comes out as it went in, also as the last member and with nothing around it. */
START_TEST(test_literal)
{
    const char *text = apr_psprintf(unit_pool, "{\"x\":%s,\"n\":%s}", literals[_i], literals[_i]);
    const pay_json_t *json;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    ck_assert_pstr_eq(pay_json_number(json, "x"), literals[_i]);
    ck_assert_pstr_eq(pay_json_number(json, "n"), literals[_i]);
}
END_TEST

/* Numbers are matched to names by order: that must hold when the object's hash grows. */
START_TEST(test_many_members)
{
    const pay_json_t *json;
    const char *reason, *name;
    char *text = apr_palloc(unit_pool, MEMBERS_MANY * 32);
    char *end = text;
    int i;

    *end++ = '{';
    for (i = 0; i < MEMBERS_MANY; i++) {
        end += apr_snprintf(end, 32, "%s\"m%d\":%s%d", i ? "," : "", i * 7919 % MEMBERS_MANY,
                            i % 3 ? "" : "0.", i + 1);
    }
    *end++ = '}';
    *end = '\0';
    ck_assert_int_eq(pay_json_parse(&json, &reason, text, (apr_size_t)(end - text), unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(pay_json_count(json), MEMBERS_MANY);
    for (i = 0; i < MEMBERS_MANY; i++) {
        name = apr_psprintf(unit_pool, "m%d", i * 7919 % MEMBERS_MANY);
        ck_assert_pstr_eq(pay_json_number(json, name),
                          apr_psprintf(unit_pool, "%s%d", i % 3 ? "" : "0.", i + 1));
    }
}
END_TEST

static const char nested_document[] =
    "{\"a\":{ \"n\" : 10.50 ,\"s\":\"}{\",\"in\":{\"n\":1e2,\"t\":true}} , \"n\":-7,"
    "\"list\":[{\"n\":3}],\"f\":false,\"t\":true,\"null\":null,\"e\":{}}";

/* Objects inside have members and literals of their own. */
START_TEST(test_object)
{
    apr_size_t len = strlen(nested_document);
    char *text = apr_pstrmemdup(unit_pool, nested_document, len);
    const pay_json_t *json, *a, *in, *empty;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, len, unit_pool), APR_SUCCESS);
    memset(text, 'x', len); /* nothing of the text is needed any more */
    ck_assert_str_eq(pay_json_number(json, "n"), "-7");
    a = pay_json_object(json, "a", unit_pool);
    ck_assert_ptr_nonnull(a);
    ck_assert_uint_eq(pay_json_count(a), 3);
    ck_assert_str_eq(pay_json_number(a, "n"), "10.50");
    ck_assert_str_eq(pay_json_string(a, "s"), "}{");
    in = pay_json_object(a, "in", unit_pool);
    ck_assert_ptr_nonnull(in);
    ck_assert_str_eq(pay_json_number(in, "n"), "1e2");
    ck_assert_int_eq(pay_json_bool(in, "t"), 1);
    empty = pay_json_object(json, "e", unit_pool);
    ck_assert_ptr_nonnull(empty);
    ck_assert_uint_eq(pay_json_count(empty), 0);
    ck_assert_ptr_null(pay_json_number(json, "a"));
}
END_TEST

static const struct {
    const char *name;
    const char *text; /* of its member "x", or NULL if there is no such object */
} first_rows[] = {
    {"list", "one"}, {"empty", NULL}, {"words", NULL}, {"object", NULL}, {"none", NULL},
};

START_TEST(test_first)
{
    static const char text[] = "{\"list\":[{\"n\":3,\"x\":\"one\"},{\"x\":\"two\"}],\"empty\":[],"
                               "\"words\":[\"x\"],\"object\":{\"x\":\"one\"}}";
    const pay_json_t *json, *first;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    first = pay_json_first(json, first_rows[_i].name, unit_pool);
    ck_assert_msg((first != NULL) == (first_rows[_i].text != NULL), "%s", first_rows[_i].name);
    if (first) {
        ck_assert_pstr_eq(pay_json_string(first, "x"), first_rows[_i].text);
        ck_assert_ptr_null(pay_json_number(first, "n"));
    }
}
END_TEST

static const struct {
    const char *name;
    int boolean;
} bool_rows[] = {{"t", 1},  {"f", 0},     {"null", -1}, {"n", -1},
                 {"a", -1}, {"list", -1}, {"none", -1}, {"", -1}};

START_TEST(test_bool)
{
    const char *name = bool_rows[_i].name;
    const pay_json_t *json;
    const char *reason;

    ck_assert_int_eq(
        pay_json_parse(&json, &reason, nested_document, strlen(nested_document), unit_pool),
        APR_SUCCESS);
    ck_assert_msg(pay_json_bool(json, name) == bool_rows[_i].boolean, "%s", name);
    ck_assert_msg((pay_json_object(json, name, unit_pool) != NULL) == (strcmp(name, "a") == 0),
                  "%s", name);
}
END_TEST

/* Neither in the value nor in the object's own text; the rest stays. */
START_TEST(test_wipe)
{
    static const char text[] = "{\"a\":\"stays\",\"confirm\":{\"password\":\"secret\",\"n\":1},"
                               "\"text\":\"x\"}";
    const pay_json_t *json, *confirm;
    const char *reason, *given, *password;

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    confirm = pay_json_object(json, "confirm", unit_pool);
    given = pay_json_object_text(json, "confirm");
    password = pay_json_string(confirm, "password");
    ck_assert_str_eq(password, "secret");
    ck_assert_ptr_nonnull(strstr(given, "secret"));
    pay_json_wipe(json, "confirm");
    ck_assert_mem_eq(password, "\0\0\0\0\0\0", 7);
    ck_assert_str_eq(given, "");
    ck_assert_str_eq(pay_json_string(json, "a"), "stays");
    pay_json_wipe(json, "text"); /* no object */
    pay_json_wipe(json, "none");
    ck_assert_str_eq(pay_json_string(json, "text"), "x");
}
END_TEST

static const struct {
    const char *name, *text, *want;
} without_rows[] = {
    {"in order", "{\"b\":[1, 2],\"a\":{\"d\":null,\"c\":true}}",
     "{\"a\":{\"c\":true,\"d\":null},\"b\":[1.0,2.0]}"},
    {"without the member", "{\"confirm\":{\"a\":1}, \"a\":\"x\"}", "{\"a\":\"x\"}"},
    {"that of the top only", "{\"a\":{\"confirm\":1}}", "{\"a\":{\"confirm\":1.0}}"},
    {"nothing else", "{\"confirm\":{}}", "{}"},
};

START_TEST(test_text_without)
{
    const char *text = without_rows[_i].text;
    const pay_json_t *json;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    ck_assert_str_eq(pay_json_text_without(json, "confirm", unit_pool), without_rows[_i].want);
    ck_assert_uint_ge(pay_json_count(json), 1); /* it still has everything */
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_wipe);
    tcase_add_loop_test(tcase, test_text_without, 0, UNIT_ROWS(without_rows));
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(parse_rows));
    tcase_add_loop_test(tcase, test_depth, 0, UNIT_ROWS(depth_rows));
    tcase_add_loop_test(tcase, test_member, 0, UNIT_ROWS(member_rows));
    tcase_add_loop_test(tcase, test_literal, 0, UNIT_ROWS(literals));
    tcase_add_test(tcase, test_many_members);
    tcase_add_test(tcase, test_object);
    tcase_add_loop_test(tcase, test_first, 0, UNIT_ROWS(first_rows));
    tcase_add_loop_test(tcase, test_bool, 0, UNIT_ROWS(bool_rows));
}

UNIT_PROGRAM(add)
