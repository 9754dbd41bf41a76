/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INHERITED_H
#define INHERITED_H

/*
 * The descriptors that a program started by this process would have open besides its standard
 * three.
 */

#include <fcntl.h>

#define INHERITED_FD_MAX 1024

/*
 * Returns the number; a test compares two of these, because its environment may have left some
 * open.
 */
static inline int inherited_count(void)
{
    int count = 0;
    int fd, flags;

    for (fd = 3; fd < INHERITED_FD_MAX; fd++) {
        flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

#endif
