/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/network.h"

#include <apr_strings.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESS_LEN 16

/* Every address is stored as IPv6: those of IPv4 as ::ffff:a.b.c.d. */
typedef struct network_t {
    unsigned char base[ADDRESS_LEN];
    int bits; /* of the base that count */
} network_t;

/* clang-format off */
#define V4(a, b, c, d, bits) {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, 96 + (bits)}
#define V6(a, b, c, d, e, f, bits) {{a, b, c, d, e, f}, bits}
/* clang-format on */

/* The ranges of public unicast addresses; the IANA has allocated no others of IPv6. */
static const network_t public_networks[] = {
    V4(0, 0, 0, 0, 0),
    V6(0x20, 0, 0, 0, 0, 0, 3),
};

/* Ranges within these that are not public. */
static const network_t special_networks[] = {
    V4(0, 0, 0, 0, 8),                    /* this network */
    V4(10, 0, 0, 0, 8),                   /* private */
    V4(100, 64, 0, 0, 10),                /* shared by the customers of a provider */
    V4(127, 0, 0, 0, 8),                  /* loopback */
    V4(169, 254, 0, 0, 16),               /* link-local, where clouds keep their credentials */
    V4(172, 16, 0, 0, 12),                /* private */
    V4(192, 0, 0, 0, 24),                 /* protocol assignments */
    V4(192, 0, 2, 0, 24),                 /* documentation */
    V4(192, 88, 99, 0, 24),               /* 6to4 relays */
    V4(192, 168, 0, 0, 16),               /* private */
    V4(198, 18, 0, 0, 15),                /* benchmarks */
    V4(198, 51, 100, 0, 24),              /* documentation */
    V4(203, 0, 113, 0, 24),               /* documentation */
    V4(224, 0, 0, 0, 3),                  /* multicast, reserved, broadcast */
    V6(0x20, 0x01, 0, 0, 0, 0, 23),       /* protocol assignments, Teredo among them */
    V6(0x20, 0x01, 0x0d, 0xb8, 0, 0, 32), /* documentation */
    V6(0x20, 0x02, 0, 0, 0, 0, 16),       /* 6to4 */
    V6(0x3f, 0xff, 0, 0, 0, 0, 20),       /* documentation */
};

static const network_t mapped = V4(0, 0, 0, 0, 0);
/* The gateway from IPv6 to IPv4: the last four bytes are the address that it connects to. */
static const network_t translated = V6(0, 0x64, 0xff, 0x9b, 0, 0, 96);

static int network_has(const network_t *network, const unsigned char address[ADDRESS_LEN])
{
    int bytes = network->bits / 8;
    int rest = network->bits % 8;

    if (memcmp(network->base, address, (apr_size_t)bytes) != 0) {
        return 0;
    }
    return rest == 0 || ((network->base[bytes] ^ address[bytes]) >> (8 - rest)) == 0;
}

static int any_has(const network_t *networks, int count, const unsigned char address[ADDRESS_LEN])
{
    int i;

    for (i = 0; i < count; i++) {
        if (network_has(&networks[i], address)) {
            return 1;
        }
    }
    return 0;
}

#define ANY_HAS(table, address) any_has(table, (int)(sizeof(table) / sizeof((table)[0])), address)

static void v4_put(unsigned char out[ADDRESS_LEN], const void *four)
{
    memcpy(out, mapped.base, ADDRESS_LEN - 4);
    memcpy(out + ADDRESS_LEN - 4, four, 4);
}

/* Parses digits alone, at most `max`. */
static int bits_parse(int *out, const char *text, int max)
{
    apr_size_t len = strlen(text);

    *out = 0;
    if (len == 0 || len > 3 || strspn(text, "0123456789") != len || (text[0] == '0' && len > 1)) {
        return 0;
    }
    for (; *text; text++) {
        *out = *out * 10 + (*text - '0');
    }
    return *out <= max;
}

/* Returns 1 if no bit of the base is set beyond those that count: 10.1.2.3/8 is a typing error. */
static int base_exact(const network_t *network)
{
    int bit;

    for (bit = network->bits; bit < ADDRESS_LEN * 8; bit++) {
        if (network->base[bit / 8] & (0x80 >> bit % 8)) {
            return 0;
        }
    }
    return 1;
}

/* `word` is cut at its slash. */
static int network_parse(network_t *out, char *word)
{
    unsigned char four[4];
    char *slash = strchr(word, '/');
    int bits;

    if (slash) {
        *slash++ = '\0';
    }
    if (inet_pton(AF_INET, word, four) == 1) {
        v4_put(out->base, four);
        bits = 32;
    } else if (inet_pton(AF_INET6, word, out->base) == 1) {
        bits = 128;
    } else {
        return 0;
    }
    out->bits = bits;
    if (slash && !bits_parse(&out->bits, slash, bits)) {
        return 0;
    }
    out->bits += 128 - bits;
    return base_exact(out);
}

apr_status_t pay_network_list(apr_array_header_t **out, const char **word, const char *text,
                              apr_pool_t *p)
{
    static const char blanks[] = " \t";

    *out = NULL;
    *word = NULL;
    *out = apr_array_make(p, 4, sizeof(network_t));
    text += strspn(text, blanks);
    while (*text) {
        apr_size_t len = strcspn(text, blanks);
        network_t network = {{0}, 0};

        if (!network_parse(&network, apr_pstrmemdup(p, text, len))) {
            *out = NULL;
            *word = apr_pstrmemdup(p, text, len);
            return APR_EINVAL;
        }
        APR_ARRAY_PUSH(*out, network_t) = network;
        text += len;
        text += strspn(text, blanks);
    }
    return APR_SUCCESS;
}

/* Returns 0 if the family is neither of the two. */
static int address_read(unsigned char out[ADDRESS_LEN], const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    switch (address->sa_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof(v4));
        v4_put(out, &v4.sin_addr);
        return 1;
    case AF_INET6:
        memcpy(&v6, address, sizeof(v6));
        memcpy(out, &v6.sin6_addr, ADDRESS_LEN);
        return 1;
    default:
        return 0;
    }
}

int pay_network_permits(const struct sockaddr *address, const apr_array_header_t *allowed)
{
    unsigned char bytes[ADDRESS_LEN];
    unsigned char meant[ADDRESS_LEN];
    const network_t *list = allowed ? (const network_t *)allowed->elts : NULL;
    int count = allowed ? allowed->nelts : 0;

    if (!address_read(bytes, address)) {
        return 0;
    }
    memcpy(meant, bytes, ADDRESS_LEN);
    if (network_has(&translated, bytes)) {
        v4_put(meant, bytes + ADDRESS_LEN - 4);
    }
    if (any_has(list, count, bytes) || any_has(list, count, meant)) {
        return 1;
    }
    return ANY_HAS(public_networks, meant) && !ANY_HAS(special_networks, meant);
}
