/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/id.h"

#include "base/crypto/crypto.h"

#include <apr_strings.h>
#include <assert.h>

#define BITS_PER_CHAR 5
#define BITS_MAX 320
#define BODY_LEN_MAX (BITS_MAX / BITS_PER_CHAR)

apr_status_t pay_id_make(const char **out, const char *prefix, int bits, apr_pool_t *p)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[BODY_LEN_MAX];
    char body[BODY_LEN_MAX + 1];
    int len = bits / BITS_PER_CHAR;
    apr_status_t rv;
    int i;

    assert(bits > 0);
    assert(bits <= BITS_MAX);
    assert(bits % BITS_PER_CHAR == 0);
    *out = NULL;
    rv = pay_random_bytes(random, (apr_size_t)len);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < len; i++) {
        body[i] = alphabet[random[i] % 32];
    }
    body[len] = '\0';
    *out = apr_pstrcat(p, prefix, body, NULL);
    return APR_SUCCESS;
}
