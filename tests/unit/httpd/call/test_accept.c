/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/accept.h"

#include "unit.h"

#define JSON "application/json"
#define TEXT_JSON "text/json"
#define PLAIN "text/plain"

static const struct {
    const char *accept;
    const char *want; /* NULL: 406 */
} accept_rows[] = {
    {NULL, JSON},
    {"", JSON},
    {"  ", JSON},
    {"*/*", JSON},
    {JSON, JSON},
    {"Application/JSON", JSON},
    {"application/*", JSON},
    {"text/*", TEXT_JSON},
    {TEXT_JSON, TEXT_JSON},
    {PLAIN, PLAIN},
    {"text/html", NULL},
    {"text", NULL},
    {"application/jsonx", NULL},
    {"application/jso", NULL},
    {"applications/*", NULL},
    {"*/json", NULL},
    {"text/html,text/plain", PLAIN},
    {"text/json;q=0.1, text/plain;q=0.2, text/*;q=0.9", PLAIN},
    {"a/b", NULL},
    {"*/*x", NULL},
    {"text/x", NULL},
    {"textx*", NULL},
    {"application/json;v=\"\\", JSON},
    {"application/json;xq=0", JSON},
    {"application/json;q", JSON},
    {"application/json;qx=0, text/plain;q=0.9", JSON},
    {"application/json;q=0.", NULL},
    {"application/json;q=0x5", NULL},
    {"text/*;q=0.5, text/plain;q=0.4, text/json;q=0.6", TEXT_JSON},
    {"text/plain;q=0.5, text/plain;q=0.5, text/*;q=0.9, application/json;q=0.7", TEXT_JSON},
    {"text/html, */*;q=0.1", JSON},
    {"text/plain, application/json", JSON},
    {"application/json;q=0.5, text/plain", PLAIN},
    {"application/json;q=0.5, text/plain;q=0.5", JSON},
    {"application/json;q=0.50, text/plain;q=0.501", PLAIN},
    {"application/json;q=0.501, text/plain;q=0.5", JSON},
    {"application/json;q=0", NULL},
    {"application/json;q=0.000", NULL},
    {"application/json;q=0.001", JSON},
    {"*/*, application/json;q=0", TEXT_JSON},
    {"*/*;q=0", NULL},
    {"*/*;q=0, text/plain", PLAIN},
    {"text/*;q=0, */*", JSON},
    {"text/plain;q=0.2, text/*;q=0.9, application/json;q=0.5", TEXT_JSON},
    {"application/json;q=0.1, application/json;q=0.9, text/plain;q=0.5", JSON},
    {"application/json;q=0.9, application/json;q=0.1, text/plain;q=0.5", JSON},
    {"application/json;q=2, text/plain;q=1", JSON},
    {"application/json;q=1.9, text/plain", JSON},
    {"text/plain;q=1.000, application/json;q=0.999", PLAIN},
    {"application/json;q=0.9999, text/plain", PLAIN},
    {"application/json;version=1;q=0.1, text/plain;q=0.2", PLAIN},
    {"application/json;v=\"a;q=0,b\", text/plain;q=0.9", JSON},
    {"application/json;v=\"\\\";q=0\";Q=0.1, text/plain;q=0.2", PLAIN},
    {"application/json ; q=0.1 , text/plain ;q=0.2", PLAIN},
    {"\ttext/plain", PLAIN},
    {",,text/plain,", PLAIN},
};

START_TEST(test_accept)
{
    const char *accept = accept_rows[_i].accept, *want = accept_rows[_i].want;
    const char *got = pay_accept_choose(accept);

    ck_assert_msg(want ? got && !strcmp(got, want) : !got, "%s: %s", accept, got);
}
END_TEST

static const struct {
    const char *type;
    int want;
} type_rows[] = {
    {JSON, 1},
    {"APPLICATION/Json", 1},
    {TEXT_JSON, 1},
    {"application/json; charset=utf-8", 1},
    {"application/json;charset=utf-8", 1},
    {"application/json \t; x", 1},
    {" application/json", 1},
    {"application/problem+json", 1},
    {"application/a+JSON", 1},
    {NULL, 0},
    {"", 0},
    {PLAIN, 0},
    {"application/*", 0},
    {"*/*", 0},
    {"text/*", 0},
    {"application/json x", 0},
    {"application/json, text/plain", 0},
    {"application/+json", 0},
    {"application/x", 0},
    {"text/a+json", 0},
    {"application/a/b+json", 0},
    {"application/a,b+json", 0},
    {"application/a+jsonx", 0},
    {"application/x-www-form-urlencoded", 0},
};

START_TEST(test_content_type)
{
    ck_assert_msg(pay_accept_is_json(type_rows[_i].type) == type_rows[_i].want, "%s",
                  type_rows[_i].type);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_accept, 0, UNIT_ROWS(accept_rows));
    tcase_add_loop_test(tcase, test_content_type, 0, UNIT_ROWS(type_rows));
}

UNIT_PROGRAM(add)
