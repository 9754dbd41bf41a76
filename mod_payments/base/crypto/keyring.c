/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/keyring.h"

#include "base/crypto/crypto.h"
#include "base/crypto/secret_file.h"
#include "base/crypto/secret_memory.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define WHAT "master key"
#define VERSION "v1:"
#define HEX_LEN (2 * PAY_GCM_KEY_LEN)
#define LINE_LEN (HEX_LEN + 1)
#define TEXT_LEN_MAX                                                                               \
    1023 /* more than the largest ring's, so that one with a line too many is reported */
#define ID_LEN 8
#define PREFIX_LEN (sizeof(VERSION) - 1 + ID_LEN + 1)
#define FRAME_LEN (PAY_GCM_NONCE_LEN + PAY_GCM_TAG_LEN)
#define SEALED_LEN_MAX (PREFIX_LEN + (FRAME_LEN + PAY_KEYRING_TEXT_MAX + 2) / 3 * 4)

/*
 * Data in memory of its own that no core file contains: the keys, and their text while it is
 * parsed.
 */
typedef struct secret_t {
    int count;
    unsigned char key[PAY_KEYRING_KEYS_MAX][PAY_GCM_KEY_LEN]; /* the current one first */
    char text[TEXT_LEN_MAX + 1];
} secret_t;

struct pay_keyring_t {
    secret_t *secret;
    char id[PAY_KEYRING_KEYS_MAX][ID_LEN + 1];
};

static apr_status_t secret_make(secret_t **out, const char **reason, apr_pool_t *p)
{
    apr_status_t rv;
    void *memory;

    *out = NULL;
    rv = pay_secret_memory_make(&memory, sizeof(secret_t), p);
    if (rv != APR_SUCCESS) {
        *reason = apr_psprintf(
            p, "there is no memory for the " WHAT " that is kept out of core files: %s",
            strerror(rv));
        return rv;
    }
    *out = memory;
    return APR_SUCCESS;
}

static unsigned int hex_value(char digit)
{
    return apr_isdigit(digit) ? (unsigned int)(digit - '0')
                              : (unsigned int)(apr_tolower(digit) - 'a') + 10;
}

/* Parses lines of 64 hex digits into keys; wipes the text. */
static apr_status_t secret_parse(secret_t *secret, const char **reason, const char *path,
                                 apr_size_t len, apr_pool_t *p)
{
    const char *at = secret->text;
    const char *end = secret->text + len;
    apr_status_t rv = APR_SUCCESS;
    int i;

    secret->count = 0;
    while (at < end && rv == APR_SUCCESS) {
        if (secret->count == PAY_KEYRING_KEYS_MAX) {
            *reason = apr_psprintf(p, "the " WHAT " %s: want at most %d lines", path,
                                   PAY_KEYRING_KEYS_MAX);
            rv = APR_EINVAL;
        } else if (strspn(at, "0123456789abcdefABCDEF") != HEX_LEN
                   || (at + HEX_LEN < end && at[HEX_LEN] != '\n')) {
            *reason = apr_psprintf(p,
                                   "the " WHAT " %s: want 64 hex digits in line %d, as "
                                   "\"openssl rand -hex 32\" writes them",
                                   path, secret->count + 1);
            rv = APR_EINVAL;
        } else {
            for (i = 0; i < PAY_GCM_KEY_LEN; i++) {
                secret->key[secret->count][i] =
                    (unsigned char)(hex_value(at[2 * i]) << 4 | hex_value(at[2 * i + 1]));
            }
            secret->count++;
            at += LINE_LEN;
        }
    }
    if (rv == APR_SUCCESS && secret->count == 0) {
        *reason = apr_psprintf(p,
                               "the " WHAT " %s is empty: restore its content; if it is lost, "
                               "delete the file and set new secrets",
                               path);
        rv = APR_EINVAL;
    }
    pay_wipe(secret->text, sizeof(secret->text));
    return rv;
}

static apr_status_t secret_read(secret_t *secret, const char **reason, const char *path,
                                apr_uid_t owner, apr_pool_t *p)
{
    apr_status_t rv;
    apr_size_t len;

    rv = pay_secret_file_read(&len, reason, secret->text, sizeof(secret->text), WHAT, path, owner,
                              p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return secret_parse(secret, reason, path, len, p);
}

/* Prints the keys as the lines of a file; *len is their length. */
static void secret_print(secret_t *secret, apr_size_t *len)
{
    static const char digits[] = "0123456789abcdef";
    char *at = secret->text;
    int i, j;

    for (i = 0; i < secret->count; i++) {
        for (j = 0; j < PAY_GCM_KEY_LEN; j++) {
            *at++ = digits[secret->key[i][j] >> 4];
            *at++ = digits[secret->key[i][j] & 0x0f];
        }
        *at++ = '\n';
    }
    *len = (apr_size_t)(at - secret->text);
}

static apr_status_t key_make(unsigned char *key, const char **reason, apr_pool_t *p)
{
    apr_status_t rv = pay_random_bytes(key, PAY_GCM_KEY_LEN);

    if (rv != APR_SUCCESS) {
        *reason = apr_pstrdup(p, "no random bytes for a " WHAT);
    }
    return rv;
}

/* APR_EEXIST: another process was faster. */
static apr_status_t file_make(const char **reason, const char *path, secret_t *secret,
                              apr_pool_t *p)
{
    apr_status_t rv;
    apr_size_t len;

    secret->count = 1;
    rv = key_make(secret->key[0], reason, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    secret_print(secret, &len);
    return pay_secret_file_make(reason, WHAT, path, secret->text, len, p);
}

const char *pay_keyring_path(const char *store_url, apr_pool_t *p)
{
    const char *colon = strchr(store_url, ':');
    const char *path = colon ? colon + 1 : store_url;
    apr_size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/') {
        len--;
    }
    return apr_pstrcat(p, apr_pstrmemdup(p, path, len), ".key", NULL);
}

apr_status_t pay_keyring_load(pay_keyring_t **out, int *made, const char **reason, const char *path,
                              int create, apr_uid_t owner, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    pay_keyring_t *ring;
    secret_t *secret;
    apr_status_t rv;
    int i;

    *out = NULL;
    *made = 0;
    *reason = NULL;
    rv = secret_make(&secret, reason, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = secret_read(secret, reason, path, owner, p);
    if (APR_STATUS_IS_ENOENT(rv) && create) {
        rv = file_make(reason, path, secret, p);
        *made = rv == APR_SUCCESS;
        if (rv == APR_SUCCESS || APR_STATUS_IS_EEXIST(rv)) {
            rv = secret_read(secret, reason, path, owner, p);
        }
    }
    if (rv != APR_SUCCESS) {
        pay_secret_memory_free(secret, p);
        return rv;
    }
    ring = apr_pcalloc(p, sizeof(*ring));
    ring->secret = secret;
    for (i = 0; i < secret->count && rv == APR_SUCCESS; i++) {
        rv = pay_sha256(digest, secret->key[i], PAY_GCM_KEY_LEN);
        apr_cpystrn(ring->id[i], pay_hex(digest, ID_LEN / 2, p), sizeof(ring->id[i]));
    }
    pay_wipe_traces();
    if (rv == APR_SUCCESS) {
        rv = pay_secret_memory_seal(secret);
    }
    if (rv != APR_SUCCESS) {
        *reason = apr_psprintf(p, "the " WHAT " %s cannot be used", path);
        pay_secret_memory_free(secret, p);
        return rv;
    }
    *out = ring;
    return APR_SUCCESS;
}

/*
 * The data that the tag authenticates beside the text: the first part of the sealed text, and the
 * context.
 */
static const char *bound_text(const char *id, const char *context, apr_pool_t *p)
{
    return apr_pstrcat(p, VERSION, id, ":", context, NULL);
}

apr_status_t pay_keyring_seal(const char **sealed, const pay_keyring_t *ring, const char *context,
                              const char *text, apr_pool_t *p)
{
    const char *bound = bound_text(ring->id[0], context, p);
    apr_size_t len = strlen(text);
    unsigned char *frame;
    apr_status_t rv;

    *sealed = NULL;
    if (len > PAY_KEYRING_TEXT_MAX) {
        return APR_EINVAL;
    }
    frame = apr_palloc(p, FRAME_LEN + len);
    rv = pay_random_bytes(frame, PAY_GCM_NONCE_LEN);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_gcm_seal(frame + PAY_GCM_NONCE_LEN, ring->secret->key[0], frame, bound, strlen(bound),
                      text, len);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *sealed =
        apr_pstrcat(p, VERSION, ring->id[0], ":", pay_base64(frame, FRAME_LEN + len, p), NULL);
    return APR_SUCCESS;
}

/* Returns the number of the key that `sealed` names, from `first` on; -1: not in the ring. */
static int key_find(const pay_keyring_t *ring, const char *sealed, int first)
{
    const char *id = sealed + sizeof(VERSION) - 1;
    int i;

    for (i = first; i < ring->secret->count; i++) {
        if (!strncmp(id, ring->id[i], ID_LEN)) {
            return i;
        }
    }
    return -1;
}

apr_status_t pay_keyring_open_into(char *text, apr_size_t size, const pay_keyring_t *ring,
                                   const char *context, const char *sealed, apr_pool_t *p)
{
    apr_status_t rv = APR_NOTFOUND;
    unsigned char *frame;
    const char *bound;
    apr_size_t len;
    int i;

    assert(size > 0);
    text[0] = '\0';
    if (strncmp(sealed, VERSION, sizeof(VERSION) - 1) != 0 || strlen(sealed) > SEALED_LEN_MAX
        || strspn(sealed + sizeof(VERSION) - 1, "0123456789abcdef") != ID_LEN
        || sealed[PREFIX_LEN - 1] != ':'
        || pay_base64_decode(&frame, &len, sealed + PREFIX_LEN, p) != APR_SUCCESS || len < FRAME_LEN
        || len - FRAME_LEN >= size) {
        return APR_EINVAL;
    }
    /* Two keys of one ring may share an id, although they hardly ever do. */
    for (i = key_find(ring, sealed, 0); i >= 0 && rv != APR_SUCCESS;
         i = key_find(ring, sealed, i + 1)) {
        bound = bound_text(ring->id[i], context, p);
        rv = pay_gcm_open((unsigned char *)text, ring->secret->key[i], frame, bound, strlen(bound),
                          frame + PAY_GCM_NONCE_LEN, len - PAY_GCM_NONCE_LEN);
    }
    text[rv == APR_SUCCESS ? len - FRAME_LEN : 0] = '\0';
    return rv;
}

apr_status_t pay_keyring_open(const char **text, const pay_keyring_t *ring, const char *context,
                              const char *sealed, apr_pool_t *p)
{
    const apr_size_t size = strlen(sealed) + 1; /* longer than its content */
    char *opened = apr_palloc(p, size);
    apr_status_t rv;

    rv = pay_keyring_open_into(opened, size, ring, context, sealed, p);
    *text = rv == APR_SUCCESS ? opened : NULL;
    return rv;
}

int pay_keyring_is_current(const pay_keyring_t *ring, const char *sealed)
{
    return strlen(sealed) > PREFIX_LEN && !strncmp(sealed, VERSION, sizeof(VERSION) - 1)
           && sealed[PREFIX_LEN - 1] == ':' && key_find(ring, sealed, 0) == 0;
}

/* Reads the file under `lock`, changes its keys and replaces it; `keep` NULL: adds a key. */
static apr_status_t file_change(const char **reason, int lock, const char *path,
                                const pay_keyring_t *keep, apr_pool_t *p)
{
    secret_t *secret;
    apr_status_t rv;
    apr_size_t len;

    rv = secret_make(&secret, reason, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = secret_read(secret, reason, path, PAY_SECRET_FILE_ANY_OWNER, p);
    if (rv == APR_SUCCESS && keep
        && !pay_bytes_equal(secret->key[0], keep->secret->key[0], PAY_GCM_KEY_LEN)) {
        *reason = apr_psprintf(p,
                               "the " WHAT " %s was changed by another process meanwhile: try "
                               "again",
                               path);
        rv = APR_EBUSY;
    } else if (rv == APR_SUCCESS && keep) {
        secret->count = 1;
    } else if (rv == APR_SUCCESS && secret->count == PAY_KEYRING_KEYS_MAX) {
        *reason = apr_psprintf(p,
                               "the " WHAT " %s holds %d keys, the maximum: old keys are removed "
                               "when nothing is sealed under them",
                               path, PAY_KEYRING_KEYS_MAX);
        rv = APR_ENOSPC;
    } else if (rv == APR_SUCCESS) {
        memmove(secret->key[1], secret->key[0], (size_t)secret->count * PAY_GCM_KEY_LEN);
        secret->count++;
        rv = key_make(secret->key[0], reason, p);
    }
    if (rv == APR_SUCCESS) {
        secret_print(secret, &len);
        rv = pay_secret_file_replace(reason, lock, WHAT, path, secret->text, len, p);
    }
    pay_secret_memory_free(secret, p);
    pay_wipe_traces();
    return rv;
}

static apr_status_t file_change_alone(const char **reason, const char *path,
                                      const pay_keyring_t *keep, apr_pool_t *p)
{
    apr_status_t rv;
    int lock;

    rv = pay_secret_file_lock(&lock, reason, WHAT, path, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = file_change(reason, lock, path, keep, p);
    pay_secret_file_unlock(lock);
    return rv;
}

apr_status_t pay_keyring_add(const char **reason, const char *path, apr_pool_t *p)
{
    return file_change_alone(reason, path, NULL, p);
}

apr_status_t pay_keyring_prune(const char **reason, const char *path, const pay_keyring_t *ring,
                               apr_pool_t *p)
{
    assert(ring);
    return file_change_alone(reason, path, ring, p);
}
