/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/template.h"

#include "base/text/html.h"
#include "model/text.h"

#include <apr_file_info.h>
#include <apr_file_io.h>
#include <apr_strings.h>
#include <string.h>

#define OUTPUT_FIRST 8192 /* bytes that are enough for most texts */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* One expansion. */
typedef struct expansion_t {
    const char *start;
    const char *at;
    int line; /* of `at` */
    pay_template_form_t form;
    const pay_template_value_t *values;
    int count;
    const pay_template_parts_t *parts; /* NULL: parts are not included */
    const char *part;                  /* the file of the part that `at` is in; NULL: no part */
    int part_line;                     /* of its {{>name}} */
    int part_hidden;                   /* 1: that is in a section whose value is empty */
    const char *section;               /* the name whose section is open; NULL: no section */
    int section_line;
    int hidden; /* 1: text is skipped: that name's value is empty, or the whole part is hidden */
    char *text; /* the output so far */
    apr_size_t len;
    apr_size_t size;
    const char *fault;
    apr_pool_t *pool;
} expansion_t;

/* ---- reading */

/*
 * Converts CRLF to LF in place; a CR elsewhere stays, and is refused with the other control
 * characters.
 */
static void unify_lines(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (*text != '\r' || text[1] != '\n') {
            *to++ = *text;
        }
    }
    *to = '\0';
}

apr_status_t pay_template_read(const char **out, const char **fault, const char *path,
                               apr_pool_t *p)
{
    char *text;
    apr_size_t len = 0;
    int is_text;
    apr_file_t *file;
    apr_finfo_t info;
    apr_status_t rv;

    *out = NULL;
    *fault = NULL;
    rv = apr_stat(&info, path, APR_FINFO_TYPE | APR_FINFO_SIZE, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (info.filetype != APR_REG) { /* a pipe would block here */
        *fault = "It is not a regular file.";
        return APR_EGENERAL;
    }
    if (info.size > PAY_TEMPLATE_FILE_MAX) {
        *fault = "It is longer than 65536 bytes.";
        return APR_EGENERAL;
    }
    rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    text = apr_palloc(p, (apr_size_t)info.size + 1);
    rv = apr_file_read_full(file, text, (apr_size_t)info.size, &len);
    apr_file_close(file);
    if (rv != APR_SUCCESS && rv != APR_EOF) {
        return rv;
    }
    text[len] = '\0';
    is_text = strlen(text) == len;
    unify_lines(text);
    if (!is_text || !pay_text_is_plain(text, "\t\n")) {
        *fault = "It has control characters, or is not UTF-8.";
        return APR_EGENERAL;
    }
    *out = text;
    return APR_SUCCESS;
}

/* ---- writing */

static void set_fault(expansion_t *x, int line, const char *what)
{
    if (x->fault) {
        return;
    }
    x->fault = apr_psprintf(x->pool, "line %d: %s", line, what);
    if (x->part) {
        x->fault = apr_psprintf(x->pool, "line %d: %s: %s", x->part_line, x->part, x->fault);
    }
}

static void put(expansion_t *x, const char *bytes, apr_size_t len)
{
    apr_size_t size = x->size;
    char *larger;

    if (x->hidden || x->fault) {
        return;
    }
    if (x->len + len > PAY_TEMPLATE_OUTPUT_MAX) {
        set_fault(x, x->line, "The finished message is longer than 262144 bytes here.");
        return;
    }
    while (x->len + len > size) {
        size *= 2;
    }
    if (size != x->size) {
        larger = apr_palloc(x->pool, size + 1);
        memcpy(larger, x->text, x->len);
        x->text = larger;
        x->size = size;
    }
    memcpy(x->text + x->len, bytes, len);
    x->len += len;
}

static void put_text(expansion_t *x, const char *text)
{
    put(x, text, strlen(text));
}

static void put_value(expansion_t *x, const char *value)
{
    const char *escaped;

    value = pay_text_visible(value, x->pool);
    if (x->form != PAY_TEMPLATE_HTML) {
        put_text(x, value);
        return;
    }
    for (; *value; value++) {
        escaped = pay_html_entity(*value);
        if (escaped) {
            put_text(x, escaped);
        } else {
            put(x, value, 1);
        }
    }
}

/* Appends the template's own text up to `end`. */
static void put_literal(expansion_t *x, const char *end)
{
    const char *stop;

    while (x->at < end) {
        stop = memchr(x->at, '\n', (apr_size_t)(end - x->at));
        put(x, x->at, (apr_size_t)((stop ? stop : end) - x->at));
        x->at = stop ? stop + 1 : end;
        if (stop) {
            put_text(x, "\r\n"); /* the line end of e-mails */
            x->line++;
        }
    }
}

/* ---- names */

static const char *value_of(const expansion_t *x, const char *name)
{
    int i;

    for (i = 0; i < x->count; i++) {
        if (strcmp(x->values[i].name, name) == 0) {
            return x->values[i].value;
        }
    }
    return NULL;
}

static void open_section(expansion_t *x, const char *name, const char *value)
{
    if (x->section) {
        set_fault(x, x->line,
                  apr_psprintf(x->pool, "{{#%s}} is inside {{#%s}} of line %d.", name, x->section,
                               x->section_line));
        return;
    }
    x->section = name;
    x->section_line = x->line;
    x->hidden = x->part_hidden || !*value;
}

static void close_section(expansion_t *x, const char *name)
{
    if (!x->section || strcmp(x->section, name) != 0) {
        set_fault(x, x->line, apr_psprintf(x->pool, "{{/%s}} ends nothing.", name));
        return;
    }
    x->section = NULL;
    x->hidden = x->part_hidden;
}

/* The mark of a section or part in a line of its own removes the line. */
static void skip_line_end(expansion_t *x, const char *tag)
{
    if ((tag == x->start || tag[-1] == '\n') && *x->at == '\n') {
        x->at++;
        x->line++;
    }
}

static void expand_rest(expansion_t *x);

/* Puts the part; `line` is that of its {{>name}}, which x->at is behind. */
static void expand_part(expansion_t *x, const char *name, int line)
{
    const expansion_t outer = *x;
    const char *fault, *text;

    if (x->part || !x->parts) { /* a part that includes itself would have no end */
        set_fault(x, line, apr_psprintf(x->pool, "There is no {{>%s}} here.", name));
        return;
    }
    fault = x->parts->read(&text, &x->part, x->parts->baton, name, x->pool);
    if (fault) {
        x->part = NULL;
        set_fault(x, line, fault);
        return;
    }
    x->part_line = line;
    x->part_hidden = outer.hidden;
    x->section = NULL;
    x->start = x->at = text;
    x->line = 1;
    expand_rest(x);
    x->part = NULL;
    x->part_hidden = 0;
    x->section = outer.section;
    x->section_line = outer.section_line;
    x->hidden = outer.hidden;
    x->start = outer.start;
    x->at = outer.at;
    x->line = outer.line;
}

/* A {{name}}, or one of its sections' marks. */
static void expand_value(expansion_t *x, const char *tag, char mark, const char *name)
{
    const char *value = value_of(x, name);

    if (!value) {
        set_fault(x, x->line, apr_psprintf(x->pool, "There is no {{%s}} here.", name));
    } else if (mark == '#') {
        open_section(x, name, value);
        skip_line_end(x, tag);
    } else if (mark == '/') {
        close_section(x, name);
        skip_line_end(x, tag);
    } else {
        put_value(x, value);
    }
}

/* x->at stands at two braces. */
static void expand_tag(expansion_t *x)
{
    const int line = x->line;
    const char *tag = x->at;
    const char *name;
    char mark = tag[2];
    apr_size_t len;

    name = tag + (mark == '#' || mark == '/' || mark == '>' ? 3 : 2);
    len = strspn(name, NAME_CHARACTERS);
    if (len == 0 || len > PAY_TEMPLATE_NAME_MAX || strncmp(name + len, "}}", 2) != 0) {
        set_fault(x, x->line,
                  "Two opening braces do not begin a {{name}}, {{#name}}, {{/name}} or "
                  "{{>name}}.");
        return;
    }
    x->at = name + len + 2;
    name = apr_pstrmemdup(x->pool, name, len);
    if (mark == '>') {
        skip_line_end(x, tag);
        expand_part(x, name, line);
    } else {
        expand_value(x, tag, mark, name);
    }
}

/* The text from x->at to its end, where no section may be open. */
static void expand_rest(expansion_t *x)
{
    const char *tag;

    while (*x->at && !x->fault) {
        tag = strstr(x->at, "{{");
        put_literal(x, tag ? tag : x->at + strlen(x->at));
        if (tag) {
            expand_tag(x);
        }
    }
    if (x->section) {
        set_fault(x, x->section_line, apr_psprintf(x->pool, "{{#%s}} has no end.", x->section));
    }
}

const char *pay_template_expand(const char **out, const char *text, int line,
                                pay_template_form_t form, const pay_template_value_t *values,
                                int count, const pay_template_parts_t *parts, apr_pool_t *p)
{
    expansion_t x = {.start = text, .at = text, .line = line, .form = form, .pool = p};

    *out = NULL;
    x.values = values;
    x.count = count;
    x.parts = parts;
    x.size = OUTPUT_FIRST;
    x.text = apr_palloc(p, x.size + 1);
    expand_rest(&x);
    if (x.fault) {
        return x.fault;
    }
    x.text[x.len] = '\0';
    *out = x.text;
    return NULL;
}
