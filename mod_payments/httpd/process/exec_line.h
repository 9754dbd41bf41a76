/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_EXEC_LINE_H
#define PAY_HTTPD_PROCESS_EXEC_LINE_H

#include <apr_errno.h>
#include <apr_pools.h>

/*
 * Reads the first line that a program writes, without its end, into `text` of `size` bytes, with a
 * NUL; *len is its length. The program gets no input, no arguments and an empty environment, and
 * PAY_EXEC_TIME_MAX_S to write the line: the parent process waits, for all virtual hosts.
 * APR_TIMEUP: it took longer, and is ended. APR_EGENERAL: it wrote no line, or cannot be run.
 * APR_ENOSPC: the line is longer.
 */
#define PAY_EXEC_TIME_MAX_S 10
apr_status_t pay_exec_line(apr_size_t *len, char *text, apr_size_t size, const char *program,
                           apr_pool_t *p);

/*
 * Returns NULL if only root and this process's user can change the program at that path, or make
 * the path lead to another one; else a sentence that begins with `what`, names it and says what to
 * do. Files that the program itself loads are not checked.
 */
const char *pay_exec_fault(const char *what, const char *program, apr_pool_t *p);

#endif
