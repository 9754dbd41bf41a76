/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd or paymentsctl: names resolve as in the file PAYMENTS_NAMES, and no
 * connection leaves this machine. A line is a name and its answers, one for each lookup, the last
 * one from there on; an answer is addresses with commas between them: "shop.test 192.0.2.1
 * 127.0.0.1,::1". A connection to an address other than loopback is refused, and its address
 * appended to the file PAYMENTS_DIALLED. Other names are left alone.
 */

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES_MAX 16
#define LINE_MAX_LEN 1000
#define EXPORTED __attribute__((visibility("default")))

typedef int getaddrinfo_t(const char *name, const char *service, const struct addrinfo *hints,
                          struct addrinfo **out);
typedef int connect_t(int fd, const struct sockaddr *to, socklen_t len);

static getaddrinfo_t *real_getaddrinfo;
static connect_t *real_connect;
static char lines[LINES_MAX][LINE_MAX_LEN];
static atomic_int lookups[LINES_MAX];

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("PAYMENTS_NAMES");
    FILE *file = path ? fopen(path, "re") : NULL;
    int i;

    *(void **)&real_getaddrinfo = dlsym(RTLD_NEXT, "getaddrinfo");
    *(void **)&real_connect = dlsym(RTLD_NEXT, "connect");
    for (i = 0; file && i < LINES_MAX && fgets(lines[i], LINE_MAX_LEN, file); i++) {
        lines[i][strcspn(lines[i], "\n")] = '\0';
    }
    if (file) {
        (void)fclose(file);
    }
}

/*
 * Returns the answer to this lookup of `name`, cut out of a copy of its line; NULL: it is another
 * name's.
 */
static char *answer_to(char copy[LINE_MAX_LEN], const char *name)
{
    const size_t len = name ? strlen(name) : 0;
    char *answer;
    int i, number;

    for (i = 0; len > 0 && i < LINES_MAX; i++) {
        if (strncmp(lines[i], name, len) == 0 && lines[i][len] == ' ') {
            memcpy(copy, lines[i], LINE_MAX_LEN);
            answer = copy + len + 1;
            for (number = lookups[i]++; number > 0 && strchr(answer, ' '); number--) {
                answer = strchr(answer, ' ') + 1;
            }
            answer[strcspn(answer, " ")] = '\0';
            return answer;
        }
    }
    return NULL;
}

EXPORTED int getaddrinfo(const char *restrict name, const char *restrict service,
                         const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    char copy[LINE_MAX_LEN];
    char *address = answer_to(copy, name), *end;
    struct addrinfo **last = out;
    int rc = EAI_NONAME;

    if (!address) {
        return real_getaddrinfo(name, service, hints, out);
    }
    *out = NULL;
    for (; address; address = end) {
        end = strchr(address, ',');
        if (end) {
            *end++ = '\0';
        }
        rc = real_getaddrinfo(address, service, hints, last);
        while (rc == 0 && *last) {
            last = &(*last)->ai_next;
        }
    }
    return *out ? 0 : rc;
}

static int is_loopback(const struct sockaddr *to)
{
    const struct sockaddr_in *v4 = (const void *)to;
    const struct sockaddr_in6 *v6 = (const void *)to;

    if (to->sa_family == AF_INET) {
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    return to->sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void note(const struct sockaddr *to)
{
    const struct sockaddr_in *v4 = (const void *)to;
    const struct sockaddr_in6 *v6 = (const void *)to;
    const char *path = getenv("PAYMENTS_DIALLED");
    const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    char text[INET6_ADDRSTRLEN + 1];
    size_t len;

    if (fd < 0) {
        return;
    }
    (void)inet_ntop(to->sa_family,
                    to->sa_family == AF_INET ? (const void *)&v4->sin_addr : &v6->sin6_addr, text,
                    INET6_ADDRSTRLEN);
    len = strlen(text);
    text[len] = '\n';
    (void)!write(fd, text, len + 1);
    (void)close(fd);
}

EXPORTED int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    if (is_loopback(to)) {
        return real_connect(fd, to, len);
    }
    note(to);
    errno = ENETUNREACH;
    return -1;
}
