/* SPDX-License-Identifier: Apache-2.0 */
#include "service/refund/record_file.h"

#include <apr_file_io.h>
#include <apr_strings.h>

#define BUFFER_SIZE (64 * 1024)
#define END_OF_FILE (-1)

/* The state of the splitter between two objects. */
typedef enum place_t {
    AT_START,
    AT_FIRST,   /* in an array, after its bracket: an object or the array's end */
    AT_ELEMENT, /* in an array, after a comma: an object */
    AT_COMMA,   /* in an array, after an object: a comma or the array's end */
    AT_LINE,    /* one a line, at the start of a line */
    AT_LINE_END /* one a line, after an object: the line's end */
} place_t;

struct pay_record_file_t {
    apr_file_t *file;
    apr_pool_t *pool;
    const char *fault;
    apr_status_t failed; /* of a read: the next result */
    place_t place;
    apr_uint64_t line;
    apr_size_t at; /* next byte of the buffer */
    apr_size_t end;
    char buffer[BUFFER_SIZE];
    char record[PAY_RECORD_MAX + 1];
};

apr_status_t pay_record_file_open(pay_record_file_t **out, const char *path, apr_pool_t *p)
{
    pay_record_file_t *file = apr_pcalloc(p, sizeof(*file));
    apr_finfo_t info;
    apr_status_t rv;

    *out = NULL;
    /* A pipe would block here, and could not be read twice. */
    rv = apr_stat(&info, path, APR_FINFO_TYPE, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (info.filetype != APR_REG) {
        return APR_EINVAL;
    }
    rv = apr_file_open(&file->file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT,
                       p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    file->pool = p;
    file->line = 1;
    *out = file;
    return APR_SUCCESS;
}

apr_status_t pay_record_file_rewind(pay_record_file_t *file)
{
    apr_off_t start = 0;

    file->fault = NULL;
    file->failed = APR_SUCCESS;
    file->place = AT_START;
    file->line = 1;
    file->at = 0;
    file->end = 0;
    return apr_file_seek(file->file, APR_SET, &start);
}

const char *pay_record_file_fault(const pay_record_file_t *file)
{
    return file->fault;
}

/* Returns the next byte, or END_OF_FILE, also if reading failed (file->failed is set then). */
static int next_byte(pay_record_file_t *file)
{
    apr_size_t got = BUFFER_SIZE;
    apr_status_t rv;

    if (file->at < file->end) {
        return (unsigned char)file->buffer[file->at++];
    }
    rv = apr_file_read(file->file, file->buffer, &got);
    if (rv != APR_SUCCESS) {
        file->failed = rv == APR_EOF ? APR_SUCCESS : rv;
        return END_OF_FILE;
    }
    file->at = 0;
    file->end = got;
    return (unsigned char)file->buffer[file->at++];
}

static apr_status_t fault_at(pay_record_file_t *file, apr_uint64_t line, const char *what)
{
    if (file->failed != APR_SUCCESS) {
        return file->failed;
    }
    file->fault = apr_psprintf(file->pool, "line %" APR_UINT64_T_FMT ": %s", line, what);
    return APR_EINVAL;
}

static int is_one_a_line(const pay_record_file_t *file)
{
    return file->place == AT_LINE || file->place == AT_LINE_END;
}

/* Copies an object, whose first brace was read, up to its last. */
static apr_status_t copy_object(pay_record_t *out, pay_record_file_t *file)
{
    int depth = 1, in_string = 0, escaped = 0, c;
    apr_size_t len = 0;

    out->line = file->line;
    file->record[len++] = '{';
    while (depth > 0) {
        c = next_byte(file);
        if (c == END_OF_FILE) {
            return fault_at(file, out->line, "The file ends inside the object.");
        }
        if (len == PAY_RECORD_MAX) {
            return fault_at(file, out->line, "The object is longer than 65536 bytes.");
        }
        file->record[len++] = (char)c;
        if (c == '\n') {
            if (is_one_a_line(file)) {
                return fault_at(file, out->line, "The object does not end on its line.");
            }
            file->line++;
        }
        if (in_string) {
            if (escaped) {
                escaped = 0;
            } else if (c == '\\') {
                escaped = 1;
            } else if (c == '"') {
                in_string = 0;
            }
        } else if (c == '"') {
            in_string = 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    file->record[len] = '\0';
    out->text = file->record;
    out->len = len;
    file->place = is_one_a_line(file) ? AT_LINE_END : AT_COMMA;
    return APR_SUCCESS;
}

/*
 * Returns the next byte that is not blank; passing a line's end allows the next object of one a
 * line.
 */
static int next_token(pay_record_file_t *file)
{
    int c;

    for (;;) {
        c = next_byte(file);
        if (c == '\n') {
            file->line++;
            if (file->place == AT_LINE_END) {
                file->place = AT_LINE;
            }
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return c;
        }
    }
}

static apr_status_t end_array(pay_record_file_t *file)
{
    if (next_token(file) != END_OF_FILE) {
        return fault_at(file, file->line, "There is text after the array.");
    }
    return file->failed != APR_SUCCESS ? file->failed : APR_EOF;
}

/* Accepts the file's first byte; later bytes depend on the place. */
static apr_status_t start(pay_record_t *out, pay_record_file_t *file, int c)
{
    if (c == '{') {
        file->place = AT_LINE;
        return copy_object(out, file);
    }
    if (c == '[') {
        file->place = AT_FIRST;
        return pay_record_file_next(out, file);
    }
    return fault_at(file, file->line,
                    c == END_OF_FILE ? "The file is empty."
                                     : "The file is neither a JSON array nor one object a line.");
}

apr_status_t pay_record_file_next(pay_record_t *out, pay_record_file_t *file)
{
    static const char *const wanted[] = {
        [AT_START] = "",
        [AT_FIRST] = "An object or the array's end is missing.",
        [AT_ELEMENT] = "An object is missing.",
        [AT_COMMA] = "A comma or the array's end is missing.",
        [AT_LINE] = "The line is not an object.",
        [AT_LINE_END] = "There is text after the object.",
    };
    int c;

    out->text = NULL;
    out->len = 0;
    out->line = 0;
    c = next_token(file);
    if (file->place == AT_START) {
        return start(out, file, c);
    }
    if (file->place == AT_COMMA && c == ',') {
        file->place = AT_ELEMENT;
        c = next_token(file);
    } else if ((file->place == AT_COMMA || file->place == AT_FIRST) && c == ']') {
        return end_array(file);
    }
    if (c == '{' && file->place != AT_COMMA && file->place != AT_LINE_END) {
        return copy_object(out, file);
    }
    if (c == END_OF_FILE && is_one_a_line(file)) {
        return file->failed != APR_SUCCESS ? file->failed : APR_EOF;
    }
    return fault_at(file, file->line, wanted[file->place]);
}
