/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/message.h"

#include "base/log.h"

#include <apr_strings.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STATUS_TEXT_SIZE 200

static void message_print(const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void message_print(const char *prefix, const char *format, va_list args)
{
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void ctl_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message_print("", format, args);
    va_end(args);
}

ctl_exit_t ctl_fail(ctl_exit_t code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message_print("paymentsctl: ", format, args);
    va_end(args);
    return code;
}

ctl_exit_t ctl_exit_of_status(apr_status_t status)
{
    switch (status) {
    case APR_NOTFOUND:
    case APR_EEXIST:
        return CTL_EXIT_REFUSED;
    case PAY_STORE_EUNKNOWN:
        return CTL_EXIT_UNKNOWN;
    case PAY_STORE_ESCHEMA:
    case PAY_STORE_ECORRUPT:
        return CTL_EXIT_NOT_VALID;
    default:
        return CTL_EXIT_ACCESS;
    }
}

ctl_exit_t ctl_fail_status(apr_status_t status, const char *what)
{
    char buffer[STATUS_TEXT_SIZE];
    const char *text = pay_store_status_text(status);

    if (!text) {
        text = apr_strerror(status, buffer, sizeof(buffer));
    }
    return ctl_fail(ctl_exit_of_status(status), "%s: %s", what, text);
}

static ctl_exit_t exit_of_problem(const pay_problem_t *problem)
{
    if (problem->error == PAY_ERR_INVALID) {
        return CTL_EXIT_ILLEGAL;
    }
    if (problem->status < 500) {
        return CTL_EXIT_REFUSED;
    }
    return problem->cause == APR_SUCCESS ? CTL_EXIT_ACCESS : ctl_exit_of_status(problem->cause);
}

/* Turns "/customer_note" into "--customer-note", as written on the command line. */
static const char *field_option(const char *field, apr_pool_t *p)
{
    static const struct {
        const char *field;
        const char *option;
    } others[] = {{"/startDate", "--from"},
                  {"/endDate", "--to"},
                  {"/url", "the URL"},
                  {"/key", "the key on standard input"},
                  {"/keyPrefix", "--key-prefix"},
                  {"/shop/name", "--shop-name"},
                  {"/shop/logo", "--shop-logo"},
                  {"/shop/text", "--shop-text"},
                  {"/returnHosts", "--return-host"},
                  {"/fees", "--fee"},
                  {"/merchantAddress", "--merchant-address"},
                  {"/testRecipients", "--test-recipient"},
                  {"/redirectUrl", "--redirect"},
                  {"/expiresAt", "--expires"}};
    apr_size_t i;
    char *option;
    char *c;

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(field, others[i].field) == 0) {
            return others[i].option;
        }
    }
    option = apr_pstrcat(p, "--", *field == '/' ? field + 1 : field, NULL);
    for (c = option; *c; c++) {
        if (*c == '_') {
            *c = '-';
        }
    }
    return option;
}

ctl_exit_t ctl_fail_problem(const pay_problem_t *problem, apr_pool_t *p)
{
    const char *text = problem->message;
    int i;

    for (i = 0; problem->fields && i < problem->fields->nelts; i++) {
        const pay_field_error_t *fault =
            &APR_ARRAY_IDX(problem->fields, i, const pay_field_error_t);

        text = apr_pstrcat(p, i ? text : "", i ? "; " : "", field_option(fault->field, p), ": ",
                           fault->reason, NULL);
    }
    return ctl_fail(exit_of_problem(problem), "%s", text);
}

ctl_exit_t ctl_fail_service(const pay_problem_t *problem, const char *what, apr_pool_t *p)
{
    return problem->cause == APR_SUCCESS ? ctl_fail_problem(problem, p)
                                         : ctl_fail_status(problem->cause, what);
}

static void log_print(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    char buffer[STATUS_TEXT_SIZE];

    (void)baton;
    if (level > PAY_LOG_WARNING) {
        return;
    }
    if (status == APR_SUCCESS) {
        ctl_fail(CTL_OK, "%s", text);
        return;
    }
    ctl_fail(CTL_OK, "%s: %s", text, apr_strerror(status, buffer, sizeof(buffer)));
}

void ctl_log_start(void)
{
    pay_log_set_sink(log_print, NULL);
}
