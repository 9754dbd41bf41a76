/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/keyring.h"

#include "base/crypto/crypto.h"
#include "child_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HEX_1 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define ID_1 "630dcd29" /* of SHA-256 of HEX_1's bytes */
#define HEX_2 "FF0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1EFF"
#define HEX_3 "aa0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
#define CONTEXT "webhook shop 1 test"
#define SECRET "whsec_dGhlIHNlY3JldA=="
#define FOREIGN "AAECAwQFBgcICQoLMGqlfqa6plzlLd7D/4UhXsm643XNRpQDTiFE0kGqpCgGQ52r6nw="
#define LINE_LEN 65
#define MAKERS 4
#define ROUNDS 25
#define REGION_MAX (64UL << 20) /* examined of one region */

static const char *reason;
static int made;

static void write_key(const char *content, apr_size_t len)
{
    int fd = open(unit_file("master.key"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, len), len);
    close(fd);
}

static const char *read_key(void)
{
    char *content = apr_pcalloc(unit_pool, 2048);
    int fd = open(unit_file("master.key"), O_RDONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, content, 2047), 0);
    close(fd);
    return content;
}

static pay_keyring_t *load(int create)
{
    pay_keyring_t *ring;
    apr_status_t rv;

    rv = pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), create, geteuid(),
                          unit_pool);
    ck_assert_msg(rv == APR_SUCCESS, "%s", reason);
    ck_assert_ptr_nonnull(ring);
    ck_assert_ptr_null(reason);
    return ring;
}

static const char *seal(const pay_keyring_t *ring, const char *text)
{
    const char *sealed;

    ck_assert_int_eq(pay_keyring_seal(&sealed, ring, CONTEXT, text, unit_pool), APR_SUCCESS);
    return sealed;
}

static apr_status_t open_with(const pay_keyring_t *ring, const char *sealed)
{
    const char *text;
    apr_status_t rv;

    rv = pay_keyring_open(&text, ring, CONTEXT, sealed, unit_pool);
    if (rv == APR_SUCCESS) {
        ck_assert_str_eq(text, SECRET);
    } else {
        ck_assert_ptr_null(text);
    }
    return rv;
}

static const struct {
    const char *url;
    const char *want;
} path_rows[] = {
    {"lmdb:/var/x/store", "/var/x/store.key"},
    {"lmdb:/var/x/store//", "/var/x/store.key"},
    {"lmdb:/var/a:b/store", "/var/a:b/store.key"},
};

START_TEST(test_path)
{
    ck_assert_str_eq(pay_keyring_path(path_rows[_i].url, unit_pool), path_rows[_i].want);
}
END_TEST

/* A new file: one line, readable by its owner alone, never changed. */
START_TEST(test_make)
{
    const pay_keyring_t *ring = load(1);
    const char *content = read_key();
    struct stat info;

    ck_assert_int_eq(made, 1);
    ck_assert_uint_eq(strlen(content), LINE_LEN);
    ck_assert_uint_eq(strspn(content, "0123456789abcdef"), LINE_LEN - 1);
    ck_assert_int_eq(stat(unit_file("master.key"), &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    ck_assert_int_eq(open_with(load(1), seal(ring, SECRET)), APR_SUCCESS);
    ck_assert_int_eq(made, 0);
    ck_assert_str_eq(read_key(), content);
}
END_TEST

START_TEST(test_missing)
{
    pay_keyring_t *ring;

    ck_assert(APR_STATUS_IS_ENOENT(
        pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 0, geteuid(), unit_pool)));
    ck_assert_ptr_null(ring);
    ck_assert_msg(strstr(reason, unit_file("master.key")) && strstr(reason, "master key"), "%s",
                  reason);
    ck_assert_int_eq(access(unit_file("master.key"), F_OK), -1);
}
END_TEST

#define LINES_2 HEX_1 "\n" HEX_2 "\n"

static const struct {
    const char *name;
    const char *content;
    apr_size_t len;   /* 0: the text's */
    const char *want; /* NULL: accepted */
} content_rows[] = {
    {"a line", HEX_1 "\n", 0, NULL},
    {"without a line feed", HEX_1, 0, NULL},
    {"capital digits", HEX_2 "\n", 0, NULL},
    {"four lines", LINES_2 LINES_2, 0, NULL},
    {"five lines", LINES_2 LINES_2 HEX_3 "\n", 0, "want at most 4 lines"},
    {"four lines and a byte", LINES_2 LINES_2 "\n", 0, "want at most 4 lines"},
    {"empty", "", 0, "is empty"},
    {"a digit less", HEX_1 "\n", 63, "want 64 hex digits in line 1"},
    {"a digit more", HEX_1 "0\n", 0, "want 64 hex digits in line 1"},
    {"no digit", "g" HEX_1, 64, "want 64 hex digits in line 1"},
    {"a carriage return", HEX_1 "\r\n", 0, "want 64 hex digits in line 1"},
    {"a blank", HEX_1 " \n", 0, "want 64 hex digits in line 1"},
    {"an empty line", HEX_1 "\n\n", 0, "want 64 hex digits in line 2"},
    {"a wrong second line", HEX_1 "\nsecret\n", 0, "want 64 hex digits in line 2"},
    {"NUL for a line feed", HEX_1 "\0" HEX_2, 129, "want 64 hex digits in line 1"},
    {"NUL at the end", HEX_1 "\n\0", 66, "want 64 hex digits in line 2"},
};

/* Accepted files, and sentences on refused ones, which repeat nothing of them. */
START_TEST(test_content)
{
    apr_size_t len = content_rows[_i].len ? content_rows[_i].len : strlen(content_rows[_i].content);
    pay_keyring_t *ring;
    apr_status_t rv;

    write_key(content_rows[_i].content, len);
    rv = pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1, geteuid(), unit_pool);
    ck_assert_int_eq(made, 0);
    if (!content_rows[_i].want) {
        ck_assert_msg(rv == APR_SUCCESS, "%s: %s", content_rows[_i].name, reason);
        return;
    }
    ck_assert_int_eq(rv, APR_EINVAL);
    ck_assert_ptr_null(ring);
    ck_assert_msg(strstr(reason, content_rows[_i].want), "%s: %s", content_rows[_i].name, reason);
    /* Four digits of the key may stand in the path, which has a process's number. */
    ck_assert_msg(!strstr(reason, "00010203") && !strstr(reason, "secret\n"), "%s", reason);
}
END_TEST

START_TEST(test_too_long)
{
    char content[1024];
    pay_keyring_t *ring;

    memset(content, 'a', sizeof(content));
    write_key(content, sizeof(content));
    ck_assert_int_eq(
        pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1, geteuid(), unit_pool),
        APR_EINVAL);
    ck_assert_msg(strstr(reason, "is longer than 1023 bytes"), "%s", reason);
}
END_TEST

/* Files that nobody else may have changed. */
START_TEST(test_file_refused)
{
    const char *target = apr_pstrcat(unit_pool, unit_file("master.key"), ".target", NULL);
    pay_keyring_t *ring;

    write_key(HEX_1, LINE_LEN - 1);
    ck_assert_int_eq(chmod(unit_file("master.key"), 0640), 0);
    ck_assert_int_eq(
        pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1, geteuid(), unit_pool),
        APR_EACCES);
    ck_assert_msg(strstr(reason, "open to others (mode 0640)"), "%s", reason);
    ck_assert_int_eq(chmod(unit_file("master.key"), 0600), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(unit_file("master.key"), 4711, (gid_t)-1), 0);
        ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1,
                                          geteuid(), unit_pool),
                         APR_EACCES);
        ck_assert_msg(strstr(reason, "belongs to user 4711"), "%s", reason);
        ck_assert_int_eq(
            pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1, 4711, unit_pool),
            APR_SUCCESS);
    }
    ck_assert_int_eq(rename(unit_file("master.key"), target), 0);
    ck_assert_int_eq(symlink(target, unit_file("master.key")), 0);
    ck_assert_int_eq(
        pay_keyring_load(&ring, &made, &reason, unit_file("master.key"), 1, geteuid(), unit_pool),
        APR_EACCES);
    ck_assert_msg(strstr(reason, "is a symbolic link"), "%s", reason);
}
END_TEST

/* The form of sealed texts is stored: it does not change. */
START_TEST(test_form)
{
    unsigned char *frame;
    const char *sealed, *again;
    apr_size_t len;

    write_key(HEX_1, LINE_LEN - 1);
    sealed = seal(load(0), SECRET);
    again = seal(load(0), SECRET);
    ck_assert_int_eq(strncmp(sealed, "v1:" ID_1 ":", 12), 0);
    ck_assert_int_eq(pay_base64_decode(&frame, &len, sealed + 12, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(len, PAY_GCM_NONCE_LEN + strlen(SECRET) + PAY_GCM_TAG_LEN);
    ck_assert_str_ne(sealed, again);
    /* Made by another program: AES-256-GCM of Python's cryptography, bound to "v1:ID:CONTEXT". */
    ck_assert_int_eq(open_with(load(0), "v1:" ID_1 ":" FOREIGN), APR_SUCCESS);
}
END_TEST

START_TEST(test_lengths)
{
    const pay_keyring_t *ring = load(1);
    char *text = apr_palloc(unit_pool, PAY_KEYRING_TEXT_MAX + 2);
    const char *sealed, *opened;

    ck_assert_int_eq(pay_keyring_open(&opened, ring, CONTEXT, seal(ring, ""), unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(opened, "");
    memset(text, 'x', PAY_KEYRING_TEXT_MAX + 1);
    text[PAY_KEYRING_TEXT_MAX + 1] = '\0';
    ck_assert_int_eq(pay_keyring_seal(&sealed, ring, CONTEXT, text, unit_pool), APR_EINVAL);
    ck_assert_ptr_null(sealed);
    text[PAY_KEYRING_TEXT_MAX] = '\0';
    sealed = seal(ring, text);
    ck_assert_int_eq(pay_keyring_open(&opened, ring, CONTEXT, sealed, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(opened, text);
    sealed = apr_pstrcat(unit_pool, sealed, "AAAA", NULL);
    ck_assert_int_eq(pay_keyring_open(&opened, ring, CONTEXT, sealed, unit_pool), APR_EINVAL);
}
END_TEST

/* Another byte anywhere, a byte less or more, another context: it does not open. */
START_TEST(test_tampered)
{
    const pay_keyring_t *ring = load(1);
    const char *sealed = seal(ring, SECRET);
    char *copy = apr_pstrdup(unit_pool, sealed);
    apr_size_t len = strlen(sealed);
    const char *text;
    apr_size_t i;
    int byte;

    for (i = 0; i < len; i++) {
        for (byte = 1; byte < 256; byte++) {
            copy[i] = (char)byte;
            ck_assert_msg((open_with(ring, copy) == APR_SUCCESS) == (copy[i] == sealed[i]),
                          "byte %" APR_SIZE_T_FMT " as %d", i, byte);
        }
        copy[i] = sealed[i];
    }
    for (i = 0; i < len; i++) {
        ck_assert_int_ne(open_with(ring, apr_pstrmemdup(unit_pool, sealed, i)), APR_SUCCESS);
    }
    ck_assert_int_eq(open_with(ring, apr_pstrcat(unit_pool, sealed, "A", NULL)), APR_EINVAL);
    ck_assert_int_eq(pay_keyring_open(&text, ring, "webhook shop 1 live", sealed, unit_pool),
                     APR_EINVAL);
    ck_assert_int_eq(pay_keyring_open(&text, ring, "", sealed, unit_pool), APR_EINVAL);
    ck_assert_int_eq(open_with(ring, sealed), APR_SUCCESS);
}
END_TEST

/* A rotation: both keys open until the old one goes. */
START_TEST(test_rotate)
{
    const pay_keyring_t *old_ring, *both, *new_ring;
    const char *old_sealed, *new_sealed, *first;

    old_ring = load(1);
    old_sealed = seal(old_ring, SECRET);
    first = read_key();
    ck_assert_int_eq(pay_keyring_is_current(old_ring, old_sealed), 1);
    ck_assert_int_eq(pay_keyring_add(&reason, unit_file("master.key"), unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(strlen(read_key()), 2 * LINE_LEN);
    ck_assert_str_eq(read_key() + LINE_LEN, first);

    both = load(0);
    new_sealed = seal(both, SECRET);
    ck_assert_int_eq(open_with(both, old_sealed), APR_SUCCESS);
    ck_assert_int_eq(open_with(both, new_sealed), APR_SUCCESS);
    ck_assert_int_eq(pay_keyring_is_current(both, old_sealed), 0);
    ck_assert_int_eq(pay_keyring_is_current(both, new_sealed), 1);
    ck_assert_int_eq(open_with(old_ring, new_sealed), APR_NOTFOUND);

    ck_assert_int_eq(pay_keyring_prune(&reason, unit_file("master.key"), both, unit_pool),
                     APR_SUCCESS);
    new_ring = load(0);
    ck_assert_uint_eq(strlen(read_key()), LINE_LEN);
    ck_assert_int_eq(open_with(new_ring, new_sealed), APR_SUCCESS);
    ck_assert_int_eq(open_with(new_ring, old_sealed), APR_NOTFOUND);
    ck_assert_int_eq(pay_keyring_is_current(new_ring, ""), 0);
    ck_assert_int_eq(pay_keyring_is_current(new_ring, "v1:"), 0);
}
END_TEST

/* A key that another process has just made and sealed under is not lost. */
START_TEST(test_prune_after_another)
{
    const pay_keyring_t *ring;

    load(1);
    ck_assert_int_eq(pay_keyring_add(&reason, unit_file("master.key"), unit_pool), APR_SUCCESS);
    ring = load(0);
    ck_assert_int_eq(pay_keyring_add(&reason, unit_file("master.key"), unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_keyring_prune(&reason, unit_file("master.key"), ring, unit_pool),
                     APR_EBUSY);
    ck_assert_msg(strstr(reason, "was changed by another process"), "%s", reason);
    ck_assert_uint_eq(strlen(read_key()), 3 * LINE_LEN);
}
END_TEST

START_TEST(test_full)
{
    const char *content;
    int i;

    load(1);
    for (i = 1; i < PAY_KEYRING_KEYS_MAX; i++) {
        ck_assert_int_eq(pay_keyring_add(&reason, unit_file("master.key"), unit_pool), APR_SUCCESS);
    }
    content = read_key();
    ck_assert_uint_eq(strlen(content), PAY_KEYRING_KEYS_MAX * LINE_LEN);
    ck_assert_int_eq(pay_keyring_add(&reason, unit_file("master.key"), unit_pool), APR_ENOSPC);
    ck_assert_msg(strstr(reason, "holds 4 keys"), "%s", reason);
    ck_assert_str_eq(read_key(), content);
    load(0);
}
END_TEST

START_TEST(test_change_missing)
{
    ck_assert(APR_STATUS_IS_ENOENT(pay_keyring_add(&reason, unit_file("master.key"), unit_pool)));
    ck_assert_ptr_nonnull(reason);
    ck_assert_int_eq(access(unit_file("master.key"), F_OK), -1);
}
END_TEST

static int load_once(const char *path, int ready_fd)
{
    pay_keyring_t *ring;

    (void)!write(ready_fd, "x", 1);
    if (pay_keyring_load(&ring, &made, &reason, path, 1, geteuid(), unit_pool) != APR_SUCCESS) {
        return 2;
    }
    return made;
}

/* All that start at once on a new store seal under one key. */
START_TEST(test_make_at_once)
{
    pid_t makers[MAKERS];
    int round, i, total;

    for (round = 0; round < ROUNDS; round++) {
        (void)unlink(unit_file("master.key"));
        for (i = 0; i < MAKERS; i++) {
            makers[i] = fixture_fork(load_once, unit_file("master.key"));
        }
        for (i = 0, total = 0; i < MAKERS; i++) {
            total += fixture_wait(makers[i]);
        }
        ck_assert_int_eq(total, 1);
        ck_assert_uint_eq(strlen(read_key()), LINE_LEN);
        load(0);
        ck_assert_int_eq(made, 0);
    }
}
END_TEST

/* Children use the ring that their parent loaded, even if they cannot read the file. */
START_TEST(test_fork)
{
    const pay_keyring_t *ring = load(1);
    const char *sealed = seal(ring, SECRET);
    const char *text;
    pid_t pid;

    ck_assert_int_eq(unlink(unit_file("master.key")), 0);
    pid = fork();
    if (pid == 0) {
        if (pay_keyring_open(&text, ring, CONTEXT, sealed, unit_pool) != APR_SUCCESS
            || strcmp(text, SECRET) != 0) {
            _exit(1);
        }
        _exit(pay_keyring_seal(&text, ring, CONTEXT, SECRET, unit_pool) != APR_SUCCESS);
    }
    ck_assert_int_eq(fixture_wait(pid), 0);
}
END_TEST

/* Loads and uses a ring without knowing its key, then waits to be examined. */
static int hold(const char *path, int ready_fd)
{
    const char *sealed, *text;
    pay_keyring_t *ring;

    if (pay_keyring_load(&ring, &made, &reason, path, 1, geteuid(), unit_pool) != APR_SUCCESS
        || pay_keyring_seal(&sealed, ring, CONTEXT, SECRET, unit_pool) != APR_SUCCESS
        || pay_keyring_open(&text, ring, CONTEXT, sealed, unit_pool) != APR_SUCCESS) {
        return 1;
    }
    (void)!write(ready_fd, "x", 1);
    pause();
    return 0;
}

/* Counts `needle` in the region of the process. */
static int count_in(pid_t pid, unsigned long from, unsigned long to, const void *needle, size_t len)
{
    size_t size = to - from < REGION_MAX ? to - from : REGION_MAX;
    char *memory = malloc(size);
    const char *at;
    ssize_t got;
    int count = 0;
    int fd = open(apr_psprintf(unit_pool, "/proc/%d/mem", (int)pid), O_RDONLY);

    ck_assert_ptr_nonnull(memory);
    ck_assert_int_ge(fd, 0);
    got = pread(fd, memory, size, (off_t)from);
    close(fd);
    at = got > 0 ? memmem(memory, (size_t)got, needle, len) : NULL;
    while (at) {
        count++;
        at = memmem(at + 1, (size_t)(memory + got - at - 1), needle, len);
    }
    free(memory);
    return count;
}

/* Counts the key's bytes and its hex digits in the heap (out[0]) and in memory that core files omit
 * (out[1]). */
static void count_key(int out[2], pid_t pid, const char *hex)
{
    FILE *smaps = fopen(apr_psprintf(unit_pool, "/proc/%d/smaps", (int)pid), "r");
    unsigned char key[PAY_GCM_KEY_LEN];
    unsigned long from = 0, to = 0, first, last;
    char line[1024];
    int is_heap = 0, is_hidden;
    unsigned int byte;
    int i;

    ck_assert_ptr_nonnull(smaps);
    for (i = 0; i < PAY_GCM_KEY_LEN; i++) {
        ck_assert_int_eq(sscanf(hex + (size_t)2 * i, "%2x", &byte), 1);
        key[i] = (unsigned char)byte;
    }
    out[0] = out[1] = 0;
    while (fgets(line, sizeof(line), smaps)) {
        if (strncmp(line, "VmFlags:", 8) != 0) {
            if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
                from = first;
                to = last;
                is_heap = strstr(line, "[heap]") != NULL;
            }
            continue;
        }
        is_hidden = strstr(line, " dd") != NULL;
        if (is_heap || is_hidden) {
            out[is_hidden] += count_in(pid, from, to, key, sizeof(key))
                              + count_in(pid, from, to, hex, LINE_LEN - 1);
        }
    }
    fclose(smaps);
}

/* The key is once in memory that core files omit, and neither it nor its text in a pool. */
START_TEST(test_not_dumped)
{
    pid_t pid = fixture_fork(hold, unit_file("master.key"));
    int count[2];

    count_key(count, pid, read_key());
    kill(pid, SIGKILL);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
    ck_assert_int_eq(count[1], 1);
    ck_assert_int_eq(count[0], 0);
}
END_TEST

static int release(const char *path, int ready_fd)
{
    pay_keyring_t *ring;

    if (pay_keyring_load(&ring, &made, &reason, path, 1, geteuid(), unit_pool) != APR_SUCCESS) {
        return 1;
    }
    apr_pool_destroy(unit_pool);
    (void)!write(ready_fd, "x", 1);
    pause();
    return 0;
}

START_TEST(test_wiped_with_pool)
{
    pid_t pid = fixture_fork(release, unit_file("master.key"));
    int count[2];

    count_key(count, pid, read_key());
    kill(pid, SIGKILL);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
    ck_assert_int_eq(count[0] + count[1], 0);
}
END_TEST

/* Into memory of the caller that is one byte too small, just large enough, or larger. */
START_TEST(test_open_into)
{
    const pay_keyring_t *ring = load(1);
    const char *sealed = seal(ring, SECRET), *empty = seal(ring, "");
    char text[sizeof(SECRET) + 2];
    int size;

    for (size = 1; size <= (int)sizeof(text); size++) {
        memset(text, 'x', sizeof(text));
        ck_assert_int_eq(
            pay_keyring_open_into(text, (apr_size_t)size, ring, CONTEXT, sealed, unit_pool),
            size < (int)sizeof(SECRET) ? APR_EINVAL : APR_SUCCESS);
        ck_assert_str_eq(text, size < (int)sizeof(SECRET) ? "" : SECRET);
        ck_assert_int_eq(text[sizeof(text) - 1], 'x');
        ck_assert_int_eq(
            pay_keyring_open_into(text, (apr_size_t)size, ring, CONTEXT, empty, unit_pool),
            APR_SUCCESS);
        ck_assert_str_eq(text, "");
    }
    ck_assert_int_eq(
        pay_keyring_open_into(text, sizeof(text), ring, "elsewhere", sealed, unit_pool),
        APR_EINVAL);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(pay_keyring_open_into(text, sizeof(text), ring, CONTEXT, "v1:", unit_pool),
                     APR_EINVAL);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(
        pay_keyring_open_into(text, sizeof(text), ring, CONTEXT, "v1:00000000:" FOREIGN, unit_pool),
        APR_NOTFOUND);
    ck_assert_str_eq(text, "");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_path, 0, UNIT_ROWS(path_rows));
    tcase_add_test(tcase, test_make);
    tcase_add_test(tcase, test_missing);
    tcase_add_loop_test(tcase, test_content, 0, UNIT_ROWS(content_rows));
    tcase_add_test(tcase, test_too_long);
    tcase_add_test(tcase, test_file_refused);
    tcase_add_test(tcase, test_form);
    tcase_add_test(tcase, test_lengths);
    tcase_add_test(tcase, test_tampered);
    tcase_add_test(tcase, test_open_into);
    tcase_add_test(tcase, test_rotate);
    tcase_add_test(tcase, test_prune_after_another);
    tcase_add_test(tcase, test_full);
    tcase_add_test(tcase, test_change_missing);
    tcase_add_test(tcase, test_make_at_once);
    tcase_add_test(tcase, test_fork);
    tcase_add_test(tcase, test_not_dumped);
    tcase_add_test(tcase, test_wiped_with_pool);
}

UNIT_PROGRAM(add)
