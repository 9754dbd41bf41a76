/* SPDX-License-Identifier: Apache-2.0 */

/* paymentsctl: accounts, keys, money, notifications and the store, from a shell. */

#include "ctl/commands.h"
#include "ctl/help.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <stdlib.h>
#include <sys/stat.h>

static ctl_exit_t command_run(ctl_t *ctl)
{
    ctl_exit_t failed;

    ctl->json = ctl->option[CTL_OPTION_JSON] != NULL;
    failed = ctl_option_format(ctl);
    if (failed) {
        return failed;
    }
    if (!ctl->option[CTL_OPTION_STORE]) {
        ctl->option[CTL_OPTION_STORE] = getenv("PAYMENTS_STORE");
    }
    if (!ctl->option[CTL_OPTION_STORE]) {
        return ctl_fail(CTL_EXIT_USAGE, "no store is given; use -s lmdb:DIR or set PAYMENTS_STORE");
    }
    if (ctl->command->open != CTL_OPEN_CREATE) { /* a creating command checks its arguments first */
        failed = ctl_open(ctl);
        if (failed) {
            return failed;
        }
    }
    return ctl->command->run(ctl);
}

/* Runs the command whose last word is argv[0]. */
static ctl_exit_t command_read(ctl_t *ctl, int argc, const char *const *argv)
{
    ctl_exit_t failed;

    failed = ctl_options_command(ctl, argc, argv);
    if (failed) {
        return failed;
    }
    if (ctl->option[CTL_OPTION_HELP]) {
        ctl_help_command(ctl->command);
        return CTL_OK;
    }
    return command_run(ctl);
}

/* Joins the first two words: "webhook secret". */
static const char *words_join(const char *const *words, int count, apr_pool_t *p)
{
    const char *text = words[0];
    int i;

    for (i = 1; i < count; i++) {
        text = apr_pstrcat(p, text, " ", words[i], NULL);
    }
    return text;
}

static ctl_exit_t word_missing(const ctl_t *ctl, const char *const *words, int count)
{
    const char *before;

    if (count == 0) {
        return ctl_fail(CTL_EXIT_USAGE, "no command is given; see 'paymentsctl --help'");
    }
    before = words_join(words, count, ctl->pool);
    return ctl_fail(CTL_EXIT_USAGE, "%s wants a verb; see 'paymentsctl %s --help'", before, before);
}

/* Reports that the last of `words` belongs to no command. */
static ctl_exit_t word_unknown(const ctl_t *ctl, const char *const *words, int count)
{
    const char *before = count > 1 ? words_join(words, count - 1, ctl->pool) : "";

    return ctl_fail(CTL_EXIT_USAGE, "unknown command %s; see 'paymentsctl %s%s--help'",
                    words_join(words, count, ctl->pool), before, *before ? " " : "");
}

/* Each level reads the options after its word: the program's name, the noun, the verb. */
static ctl_exit_t line_read(ctl_t *ctl, int argc, const char *const *argv)
{
    const char *words[CTL_WORDS_MAX];
    ctl_exit_t failed;
    int count, known, next;

    for (count = 0; count < CTL_WORDS_MAX; argc -= next, argv += next) {
        failed = ctl_options_global(&next, ctl, argc, argv);
        if (failed) {
            return failed;
        }
        if (ctl->option[CTL_OPTION_HELP]) {
            ctl_help_some(words, count);
            return CTL_OK;
        }
        if (next == argc) {
            return word_missing(ctl, words, count);
        }
        words[count++] = argv[next];
        ctl->command = ctl_command_find(&known, words, count);
        if (ctl->command) {
            return command_read(ctl, argc - next, argv + next);
        }
        if (!known) {
            break;
        }
    }
    return word_unknown(ctl, words, count);
}

int main(int argc, const char *const *argv)
{
    ctl_t ctl = {.command = NULL};
    ctl_exit_t code;
    apr_status_t rv;

    ctl_core_disable();
    umask(S_IRWXG | S_IRWXO);
    rv = apr_app_initialize(&argc, &argv, NULL);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot start");
    }
    atexit(apr_terminate);
    apr_pool_create(&ctl.pool, NULL);
    ctl_log_start();
    code = line_read(&ctl, argc, argv);
    if (ctl_output_flush() && code == CTL_OK) {
        code = ctl_fail(CTL_EXIT_ACCESS, "cannot write to standard output");
    }
    apr_pool_destroy(ctl.pool); /* closes the store, still as its owner */
    ctl_caller_resume();        /* leak checkers cannot inspect a process of mixed users */
    return code;
}
