/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <apr_file_io.h>

/*
 * Runs the target over the named files, over those in the named directories, or over standard
 * input. Each name is printed before its file is run: the last one is the one that failed.
 */

#define INPUT_MAX (1024 * 1024) /* bytes of a file that are read */

static void run_file(const char *path, apr_pool_t *p)
{
    static uint8_t buffer[INPUT_MAX];
    apr_size_t len = 0;
    apr_file_t *file;
    apr_status_t rv;

    puts(path);
    fflush(stdout);
    rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, p);
    CHECK(rv == APR_SUCCESS);
    rv = apr_file_read_full(file, buffer, sizeof(buffer), &len);
    CHECK(rv == APR_SUCCESS || rv == APR_EOF);
    apr_file_close(file);
    (void)LLVMFuzzerTestOneInput(buffer, len);
}

static int is_directory(const char *path, apr_pool_t *p)
{
    apr_finfo_t info;
    apr_status_t rv;

    rv = apr_stat(&info, path, APR_FINFO_TYPE, p);
    return rv == APR_SUCCESS && info.filetype == APR_DIR;
}

static int run_directory(const char *path, apr_pool_t *p)
{
    apr_finfo_t info;
    apr_dir_t *dir;
    int count = 0;

    CHECK(apr_dir_open(&dir, path, p) == APR_SUCCESS);
    while (apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        if (info.name[0] != '.') {
            run_file(apr_pstrcat(p, path, "/", info.name, NULL), p);
            count++;
        }
    }
    apr_dir_close(dir);
    return count;
}

int main(int argc, char **argv)
{
    apr_pool_t *pool;
    int count = 0, i;

    CHECK(apr_initialize() == APR_SUCCESS);
    CHECK(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 1; i < argc; i++) {
        if (is_directory(argv[i], pool)) {
            count += run_directory(argv[i], pool);
        } else {
            run_file(argv[i], pool);
            count++;
        }
    }
    if (argc < 2) {
        run_file("/dev/stdin", pool);
        count++;
    }
    printf("replayed %d\n", count);
    apr_pool_destroy(pool);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
