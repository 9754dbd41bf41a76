/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_DESCRIPTOR_H
#define PAY_BASE_NET_DESCRIPTOR_H

/*
 * What a program that this process starts must not inherit. All that we open ourselves is opened
 * close-on-exec; this is for what a library opens on our behalf without it.
 */

/*
 * Around a library's call that opens something, and the calls below that follow it: what another
 * thread forks in between has everything but its standard input, output and error close-on-exec.
 * posix_spawn, and with it popen, runs no handlers: programs started by these at that very moment
 * can inherit what is being opened. May nest, and be entered by several threads at once.
 */
void pay_descriptor_guard_begin(void);
void pay_descriptor_guard_end(void);

/* Sets close-on-exec on `fd`; 0 or errno. */
int pay_descriptor_close_on_exec(int fd);

/*
 * Sets it on both ends of every unnamed socket pair (AF_UNIX, stream) that this process has made.
 * libcurl makes such pairs, and no function of it gives their numbers.
 */
void pay_descriptor_pairs_close_on_exec(void);

#endif
