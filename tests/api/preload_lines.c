/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into paymentsctl: each line of standard input is a command, which it runs after its own
 * options, as if it had been called so. Most of the cost of a call is the start of its process. The
 * first command that fails is the last, and its status is the result.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 32
#define LINE_LEN_MAX 4096
#define BLANKS " \n"
#define EXPORTED __attribute__((visibility("default")))

typedef int main_t(int argc, char **argv, char **env);
typedef int start_t(main_t *program, int argc, char **argv, void (*begin)(void), void (*end)(void),
                    void (*unload)(void), void *stack_end);

/* Declared as libc's own, which no header declares. */
EXPORTED start_t __libc_start_main;

static main_t *real_main;

static int line_run(char *line, int argc, char **argv, char **env)
{
    char *args[ARGS_MAX + 1], *rest = NULL, *word;
    int count;

    for (count = 0; count < argc && count < ARGS_MAX; count++) {
        args[count] = argv[count];
    }
    for (word = strtok_r(line, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) {
        if (count == ARGS_MAX) {
            fprintf(stderr, "preload_lines: a command of too many words\n");
            return EXIT_FAILURE;
        }
        args[count++] = word;
    }
    args[count] = NULL;
    return real_main(count, args, env);
}

static int lines_run(int argc, char **argv, char **env)
{
    char line[LINE_LEN_MAX];
    int status = EXIT_SUCCESS;

    while (status == EXIT_SUCCESS && fgets(line, sizeof(line), stdin)) {
        status = line_run(line, argc, argv, env);
    }
    return status;
}

int __libc_start_main(main_t *program, int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void *stack_end)
{
    start_t *real;

    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return real(lines_run, argc, argv, begin, end, unload, stack_end);
}
