/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((off_t)1 << 20) /* bytes that are written at a time */
#define BLOCK ((size_t)1 << 16)
#define LEFT_MIN                                                                                   \
    (STEP / 2) /* where fewer lie behind the last page in use, the next step is due                \
                */

/* Where no file may grow further: the end of the map, or of what this process may write, beyond
 * which a write would end it (SIGXFSZ). */
static off_t end_of(const MDB_envinfo *info)
{
    off_t end = (off_t)info->me_mapsize;
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)end) {
        end = (off_t)limit.rlim_cur;
    }
    return end;
}

/* Writes one step, or as much of it as there is room for. */
static void write_zeros(int fd, off_t from, off_t to)
{
    static const char zeros[BLOCK];
    ssize_t written;

    while (from < to) {
        written = pwrite(fd, zeros, to - from < (off_t)BLOCK ? (size_t)(to - from) : BLOCK, from);
        if (written <= 0) {
            return;
        }
        from += written;
    }
}

void pay_lmdb_ahead(const pay_lmdb_env_t *env, apr_int64_t reserve)
{
    MDB_env *mdb = env->mdb;
    mdb_filehandle_t fd;
    MDB_envinfo info;
    struct stat file;
    MDB_stat stat;
    apr_int64_t disk_free;
    off_t used, end;

    if (mdb_env_info(mdb, &info) != 0 || mdb_env_stat(mdb, &stat) != 0
        || mdb_env_get_fd(mdb, &fd) != 0 || fstat(fd, &file) != 0) {
        return;
    }
    used = (off_t)(info.me_last_pgno + 1) * (off_t)stat.ms_psize;
    if (file.st_size < used || file.st_size - used >= LEFT_MIN) {
        return;
    }
    end = end_of(&info);
    disk_free = pay_lmdb_space_disk_free(env->path);
    if (file.st_size + STEP <= end && disk_free - STEP >= reserve) {
        write_zeros(fd, file.st_size, file.st_size + STEP);
    }
}
