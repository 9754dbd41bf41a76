/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_DESCRIPTOR_H
#define PAY_BASE_NET_DESCRIPTOR_H

/*
 * Keeps descriptors from programs that this process starts. We open all our own close-on-exec; this
 * is for those that a library opens on our behalf without it.
 */

/*
 * Call these around a library's call that opens a descriptor and the calls below that follow it: a
 * child that another thread forks in between has every descriptor except standard input, output and
 * error close-on-exec. posix_spawn, and with it popen, runs no handlers: programs that they start
 * at that very moment can inherit the new descriptor. May nest; several threads may be inside at
 * once.
 */
void pay_descriptor_guard_begin(void);
void pay_descriptor_guard_end(void);

/* Sets close-on-exec on `fd`; returns 0 or errno. */
int pay_descriptor_close_on_exec(int fd);

/*
 * Sets close-on-exec on both ends of every unnamed socket pair (AF_UNIX, stream) of this process.
 * libcurl makes these pairs, and no function of it returns their numbers.
 */
void pay_descriptor_pairs_close_on_exec(void);

#endif
