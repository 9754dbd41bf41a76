/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "service/outbox/template.h"

#include <apr_file_io.h>
#include <string.h>
#include <sys/stat.h>

#define N8 "abcdefgh"
#define N32 N8 N8 N8 N8
#define BRACES                                                                                     \
    "line 5: Two opening braces do not begin a {{name}}, {{#name}}, {{/name}} or {{>name}}."

static const pay_template_value_t values[] = {
    {"name", "Ada"},
    {"none", ""},
    {"markup", "<a href=\"x\" title='y'>R&D</a>"},
    {"controls", "a\r\nBcc: x\x01\x7f\tb\xc2\x85"},
    {"wide", "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"broken", "a\xff\xc3(\xe2\x82z\xf0\x9f\x98"},
    {"turned", "a\xe2\x80\xae"
               "b\xe2\x81\xa6"
               "c\xe2\x80\xa8"
               "d\xe2\x80\xa7\xe2\x81\xaa"},
    {"braces", "{{name}} {{#name}}"},
    {N32, "long"},
};

static const struct {
    const char *name;
    const char *text;
} parts[] = {
    {"empty", ""},
    {"line", "a {{name}}\n"},
    {"cut", "a {{name}}"},
    {"section", "{{#name}}\nb\n{{/name}}\n"},
    {"hides", "b{{#none}}{{name}}{{/none}}c"},
    {"strange", "\n{{nobody}}"},
    {"open", "{{#name}}"},
    {"ends", "\n{{/name}}"},
    {"itself", "{{>itself}}"},
    {"nested", "a\n{{>line}}"},
    {N32, "long"},
};

static const char *part_read(const char **text, const char **file, void *baton, const char *name,
                             apr_pool_t *p)
{
    int i;

    (void)baton;
    *file = apr_pstrcat(p, "part ", name, NULL);
    for (i = 0; i < UNIT_ROWS(parts); i++) {
        if (strcmp(parts[i].name, name) == 0) {
            *text = parts[i].text;
            return NULL;
        }
    }
    return apr_pstrcat(p, *file, ": No such file.", NULL);
}

static const pay_template_parts_t reader = {part_read, NULL};

static const struct {
    const char *name;
    const char *text;
    const char *want; /* NULL: a fault */
    const char *fault;
    pay_template_form_t form;
} rows[] = {
    {"empty", "", "", NULL, PAY_TEMPLATE_TEXT},
    {"no names", "a {b} }} c", "a {b} }} c", NULL, PAY_TEMPLATE_TEXT},
    {"a name", "Hello {{name}}!", "Hello Ada!", NULL, PAY_TEMPLATE_TEXT},
    {"names side by side", "{{name}}{{name}}", "AdaAda", NULL, PAY_TEMPLATE_TEXT},
    {"an empty value", "a{{none}}b", "ab", NULL, PAY_TEMPLATE_TEXT},
    {"lines end as in e-mails", "a\nb\n\n{{name}}\n", "a\r\nb\r\n\r\nAda\r\n", NULL,
     PAY_TEMPLATE_TEXT},
    {"markup in text", "{{markup}}", "<a href=\"x\" title='y'>R&D</a>", NULL, PAY_TEMPLATE_TEXT},
    {"markup in HTML", "<b>{{markup}}</b>",
     "<b>&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;R&amp;D&lt;/a&gt;</b>", 0,
     PAY_TEMPLATE_HTML},
    {"control characters in text", "{{controls}}", "aBcc: xb", NULL, PAY_TEMPLATE_TEXT},
    {"control characters in HTML", "{{controls}}", "aBcc: xb", 0, PAY_TEMPLATE_HTML},
    {"beyond ASCII", "{{wide}}", "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80", NULL,
     PAY_TEMPLATE_TEXT},
    {"beyond ASCII in HTML", "{{wide}}", "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80", 0,
     PAY_TEMPLATE_HTML},
    {"not UTF-8", "{{broken}}.", "a(z.", NULL, PAY_TEMPLATE_TEXT},
    {"directions and line breaks", "{{turned}}", "abcd\xe2\x80\xa7", NULL, PAY_TEMPLATE_TEXT},
    {"a value is no template", "{{braces}}", "{{name}} {{#name}}", NULL, PAY_TEMPLATE_TEXT},
    {"longest name", "{{" N32 "}}", "long", NULL, PAY_TEMPLATE_TEXT},
    {"a section", "a{{#name}}b{{/name}}c", "abc", NULL, PAY_TEMPLATE_TEXT},
    {"a hidden section", "a{{#none}}b{{name}}{{/none}}c", "ac", NULL, PAY_TEMPLATE_TEXT},
    {"sections one after another", "{{#name}}1{{/name}}{{#none}}2{{/none}}{{#name}}3{{/name}}",
     "13", NULL, PAY_TEMPLATE_TEXT},
    {"a section's marks on lines of their own", "a\n{{#name}}\nb\n{{/name}}\nc", "a\r\nb\r\nc", 0,
     0},
    {"a hidden section on lines of its own", "a\n{{#none}}\nb\n\n{{/none}}\nc\n", "a\r\nc\r\n", 0,
     0},
    {"a section at both ends", "{{#name}}\nb\n{{/name}}", "b\r\n", NULL, PAY_TEMPLATE_TEXT},
    {"a mark within a line keeps it", "{{#name}}b\n{{/name}}.\n", "b\r\n.\r\n", NULL,
     PAY_TEMPLATE_TEXT},
    {"a name on a line of its own keeps it", "{{none}}\n{{name}}\n", "\r\nAda\r\n", NULL,
     PAY_TEMPLATE_TEXT},
    {"unknown name", "a\nb {{nobody}}", NULL, "line 6: There is no {{nobody}} here.",
     PAY_TEMPLATE_TEXT},
    {"unknown name in a hidden section", "{{#none}}\n\n{{nobody}}{{/none}}", NULL,
     "line 7: There is no {{nobody}} here.", PAY_TEMPLATE_TEXT},
    {"unknown section", "{{#nobody}}", NULL, "line 5: There is no {{nobody}} here.",
     PAY_TEMPLATE_TEXT},
    {"unknown end", "{{/nobody}}", NULL, "line 5: There is no {{nobody}} here.", PAY_TEMPLATE_TEXT},
    {"capitals", "{{Name}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"blanks", "{{ name }}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"no name", "{{}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"no section's name", "{{#}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"three braces", "{{{name}}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"one brace ends it", "{{name}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"the text ends in it", "{{", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"the text ends in its mark", "{{#", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"name one longer", "{{" N32 "i}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"sections in each other", "{{#name}}\n{{#none}}{{/none}}{{/name}}", NULL,
     "line 6: {{#none}} is inside {{#name}} of line 5.", PAY_TEMPLATE_TEXT},
    {"the same in itself", "{{#name}}{{#name}}", NULL,
     "line 5: {{#name}} is inside {{#name}} of line 5.", PAY_TEMPLATE_TEXT},
    {"no end", "\n{{#name}}\n\n", NULL, "line 6: {{#name}} has no end.", PAY_TEMPLATE_TEXT},
    {"no start", "{{/name}}", NULL, "line 5: {{/name}} ends nothing.", PAY_TEMPLATE_TEXT},
    {"another's end", "{{#name}}{{/none}}", NULL, "line 5: {{/none}} ends nothing.",
     PAY_TEMPLATE_TEXT},
    {"a part", "<{{>cut}}>", "<a Ada>", NULL, PAY_TEMPLATE_TEXT},
    {"an empty part", "<{{>empty}}>", "<>", NULL, PAY_TEMPLATE_TEXT},
    {"a part on a line of its own", "x\n{{>line}}\ny", "x\r\na Ada\r\ny", NULL, PAY_TEMPLATE_TEXT},
    {"a part twice", "{{>cut}}{{>cut}}", "a Adaa Ada", NULL, PAY_TEMPLATE_TEXT},
    {"a part with a section", "{{>section}}\n.", "b\r\n.", NULL, PAY_TEMPLATE_TEXT},
    {"a part in a section", "{{#name}}{{>cut}}{{/name}}.", "a Ada.", NULL, PAY_TEMPLATE_TEXT},
    {"a part with a section in one", "{{#name}}{{>section}}!{{/name}}.", "b\r\n!.", NULL,
     PAY_TEMPLATE_TEXT},
    {"a part in a hidden section", "{{#none}}{{>section}}{{>hides}}!{{/none}}.", ".", NULL,
     PAY_TEMPLATE_TEXT},
    {"a hidden section in a part", "{{>hides}}", "bc", NULL, PAY_TEMPLATE_TEXT},
    {"longest name of a part", "{{>" N32 "}}", "long", NULL, PAY_TEMPLATE_TEXT},
    {"name of a part one longer", "{{>" N32 "i}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"a part of another directory", "{{>../line}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"a part with an extension", "{{>line.html}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"a part without a name", "{{>}}", NULL, BRACES, PAY_TEMPLATE_TEXT},
    {"no such part", "\n{{>gone}}\n", NULL, "line 6: part gone: No such file.", PAY_TEMPLATE_TEXT},
    {"a fault in a part", "\n\n{{>strange}}\n", NULL,
     "line 7: part strange: line 2: There is no {{nobody}} here.", PAY_TEMPLATE_TEXT},
    {"a fault behind a part", "{{>line}}\n{{nobody}}", NULL, "line 6: There is no {{nobody}} here.",
     PAY_TEMPLATE_TEXT},
    {"a part without its section's end", "{{>open}}{{/name}}", NULL,
     "line 5: part open: line 1: {{#name}} has no end.", PAY_TEMPLATE_TEXT},
    {"a part with another's end", "{{#name}}{{>ends}}", NULL,
     "line 5: part ends: line 2: {{/name}} ends nothing.", PAY_TEMPLATE_TEXT},
    {"a part of itself", "{{>itself}}", NULL,
     "line 5: part itself: line 1: There is no {{>itself}} here.", PAY_TEMPLATE_TEXT},
    {"a part of a part", "{{>nested}}", NULL,
     "line 5: part nested: line 2: There is no {{>line}} here.", PAY_TEMPLATE_TEXT},
    {"no section from before a part", "{{#name}}{{>cut}}", NULL, "line 5: {{#name}} has no end.",
     PAY_TEMPLATE_TEXT},
    {"two ends", "{{#name}}{{/name}}\n{{/name}}", NULL, "line 6: {{/name}} ends nothing.",
     PAY_TEMPLATE_TEXT},
};

START_TEST(test_expand)
{
    const char *out = "set";
    const char *fault = pay_template_expand(&out, rows[_i].text, 5, rows[_i].form, values,
                                            UNIT_ROWS(values), &reader, unit_pool);

    if (!rows[_i].want) {
        ck_assert_msg(fault && !strcmp(fault, rows[_i].fault), "%s: %s", rows[_i].name,
                      fault ? fault : "none");
        ck_assert_ptr_null(out);
        return;
    }
    ck_assert_msg(!fault, "%s: %s", rows[_i].name, fault);
    ck_assert_msg(!strcmp(out, rows[_i].want), "%s: %s", rows[_i].name, out);
}
END_TEST

static char *repeat(const char *text, apr_size_t times)
{
    apr_size_t len = strlen(text);
    char *out = apr_palloc(unit_pool, len * times + 1);
    apr_size_t i;

    for (i = 0; i < times; i++) {
        memcpy(out + i * len, text, len);
    }
    out[len * times] = '\0';
    return out;
}

/* A text without parts, such as a subject, includes none. */
START_TEST(test_no_parts)
{
    const char *out = "set";
    const char *fault =
        pay_template_expand(&out, "{{>line}}", 1, PAY_TEMPLATE_TEXT, NULL, 0, NULL, unit_pool);

    ck_assert_str_eq(fault, "line 1: There is no {{>line}} here.");
    ck_assert_ptr_null(out);
}
END_TEST

/* The output may be as long as its limit, not one byte longer, whatever it is made of. */
START_TEST(test_output_limit)
{
    pay_template_value_t value = {"name", repeat("<", PAY_TEMPLATE_OUTPUT_MAX / 4)};
    const char *out, *fault;

    fault = pay_template_expand(&out, "{{name}}", 1, PAY_TEMPLATE_HTML, &value, 1, NULL, unit_pool);
    ck_assert_ptr_null(fault);
    ck_assert_uint_eq(strlen(out), PAY_TEMPLATE_OUTPUT_MAX);
    ck_assert_int_eq(memcmp(out + PAY_TEMPLATE_OUTPUT_MAX - 8, "&lt;&lt;", 8), 0);
    fault =
        pay_template_expand(&out, "\n{{name}}", 1, PAY_TEMPLATE_HTML, &value, 1, NULL, unit_pool);
    ck_assert_str_eq(fault, "line 2: The finished message is longer than 262144 bytes here.");
    ck_assert_ptr_null(out);
    fault =
        pay_template_expand(&out, "{{name}}.", 1, PAY_TEMPLATE_HTML, &value, 1, NULL, unit_pool);
    ck_assert_ptr_nonnull(fault);
    /* The content of a hidden section does not count. */
    value.value = "";
    fault = pay_template_expand(&out,
                                apr_pstrcat(unit_pool, "{{#name}}",
                                            repeat("x", PAY_TEMPLATE_OUTPUT_MAX + 1), "{{/name}}",
                                            NULL),
                                1, PAY_TEMPLATE_TEXT, &value, 1, NULL, unit_pool);
    ck_assert_ptr_null(fault);
    ck_assert_str_eq(out, "");
}
END_TEST

static const char *write_file(const char *bytes, apr_size_t len)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/template", NULL);
    apr_file_t *file;

    ck_assert_int_eq(apr_file_open(&file, path, APR_FOPEN_WRITE | APR_FOPEN_CREATE,
                                   APR_FPROT_OS_DEFAULT, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(apr_file_write_full(file, bytes, len, NULL), APR_SUCCESS);
    ck_assert_int_eq(apr_file_close(file), APR_SUCCESS);
    return path;
}

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *name;
    const char *bytes;
    apr_size_t len;
    const char *want; /* NULL: refused */
} files[] = {
    {"empty", BYTES(""), ""},
    {"lines", BYTES("a\nb\n"), "a\nb\n"},
    {"lines of another system", BYTES("a\r\nb\r\n"), "a\nb\n"},
    {"tabs", BYTES("a\tb"), "a\tb"},
    {"UTF-8", BYTES("\xc3\xbc"), "\xc3\xbc"},
    {"a CR alone", BYTES("a\rb\n"), NULL},
    {"two CRs", BYTES("a\r\r\n"), NULL},
    {"a CR at the end", BYTES("a\r"), NULL},
    {"NUL", BYTES("a\0b"), NULL},
    {"NUL at the end", BYTES("a\0"), NULL},
    {"a NUL behind a CRLF", BYTES("a\r\n\0"), NULL},
    {"escape", BYTES("\x1b[0m"), NULL},
    {"not UTF-8", BYTES("\xfc"), NULL},
    {"cut UTF-8", BYTES("a\xc3"), NULL},
};

START_TEST(test_read)
{
    const char *out = "set", *fault = "set";
    const char *path = write_file(files[_i].bytes, files[_i].len);
    apr_status_t rv = pay_template_read(&out, &fault, path, unit_pool);

    if (!files[_i].want) {
        ck_assert_msg(rv == APR_EGENERAL, "%s", files[_i].name);
        ck_assert_str_eq(fault, "It has control characters, or is not UTF-8.");
        ck_assert_ptr_null(out);
        return;
    }
    ck_assert_msg(rv == APR_SUCCESS, "%s", files[_i].name);
    ck_assert_ptr_null(fault);
    ck_assert_msg(!strcmp(out, files[_i].want), "%s: %s", files[_i].name, out);
}
END_TEST

START_TEST(test_read_limit)
{
    const char *text = repeat("x", PAY_TEMPLATE_FILE_MAX + 1);
    const char *out, *fault;

    ck_assert_int_eq(
        pay_template_read(&out, &fault, write_file(text, PAY_TEMPLATE_FILE_MAX), unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(strlen(out), PAY_TEMPLATE_FILE_MAX);
    ck_assert_int_eq(
        pay_template_read(&out, &fault, write_file(text, PAY_TEMPLATE_FILE_MAX + 1), unit_pool),
        APR_EGENERAL);
    ck_assert_str_eq(fault, "It is longer than 65536 bytes.");
    ck_assert_ptr_null(out);
}
END_TEST

/* Neither a pipe without a writer nor a directory blocks. */
START_TEST(test_read_no_file)
{
    const char *dir = unit_dir();
    const char *fifo = apr_pstrcat(unit_pool, dir, "/fifo", NULL);
    const char *out = "set", *fault = "set";

    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(pay_template_read(&out, &fault, fifo, unit_pool), APR_EGENERAL);
    ck_assert_str_eq(fault, "It is not a regular file.");
    ck_assert_ptr_null(out);
    ck_assert_int_eq(pay_template_read(&out, &fault, dir, unit_pool), APR_EGENERAL);
    ck_assert_str_eq(fault, "It is not a regular file.");
    ck_assert(APR_STATUS_IS_ENOENT(
        pay_template_read(&out, &fault, apr_pstrcat(unit_pool, dir, "/none", NULL), unit_pool)));
    ck_assert_ptr_null(fault);
    ck_assert_ptr_null(out);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_expand, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_no_parts);
    tcase_add_test(tcase, test_output_limit);
    tcase_add_loop_test(tcase, test_read, 0, UNIT_ROWS(files));
    tcase_add_test(tcase, test_read_limit);
    tcase_add_test(tcase, test_read_no_file);
}

UNIT_PROGRAM(add)
