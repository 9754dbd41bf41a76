/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/files.h"

#include "base/log.h"
#include "base/net/descriptor.h"

#include <apr_strings.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <unistd.h>

#define FILE_MODE 0600
#define FD_PATH_LEN 32
#define HEADER_MAP_BYTES (64 * 1024) /* the first commit records the real size of the map */
#define ENTRIES_MAX 16               /* a directory with more entries is not empty */

/* Checks the file `name`: APR_SUCCESS for a regular file, ENOENT, or the reason for a refusal. */
static apr_status_t file_check(int *fd, struct stat *info, int dir_fd, const char *name,
                               const char *path, pay_lmdb_reason_t *reason)
{
    memset(info, 0, sizeof(*info));
    /* O_PATH: unlike any other close, closing it does not drop the locks of an environment. */
    *fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, info) != 0) {
        apr_status_t rv = errno;

        if (rv != ENOENT) {
            pay_lmdb_place_explain(reason, path, rv);
        }
        if (*fd >= 0) {
            close(*fd);
            *fd = -1;
        }
        return rv;
    }
    /* It may have got another name while another user owned the directory. */
    if (!S_ISREG(info->st_mode) || (geteuid() == 0 && info->st_nlink != 1)) {
        pay_lmdb_reason_set(reason, "store %s: %s is not a plain file with one name", path, name);
        close(*fd);
        *fd = -1;
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

/* LMDB opens the data file without close-on-exec, and only that file. */
int pay_lmdb_files_map(struct MDB_env *mdb, const char *path, unsigned int flags)
{
    int fd;
    int rc;

    pay_descriptor_guard_begin();
    rc = mdb_env_open(mdb, path, flags, FILE_MODE);
    if (!rc) {
        rc = mdb_env_get_fd(mdb, &fd);
    }
    if (!rc) {
        rc = pay_descriptor_close_on_exec(fd);
    }
    pay_descriptor_guard_end();
    return rc;
}

/* Lets LMDB write the header of an empty environment into the file that `name` leads to. */
static int header_write(const char *name)
{
    MDB_env *mdb;
    int rc;

    rc = mdb_env_create(&mdb);
    if (rc) {
        return rc;
    }
    rc = mdb_env_set_mapsize(mdb, HEADER_MAP_BYTES);
    if (!rc) {
        rc = pay_lmdb_files_map(mdb, name, MDB_NOSUBDIR | MDB_NOLOCK);
    }
    mdb_env_close(mdb);
    return rc;
}

/*
 * LMDB writes a new file's header and does not sync it: a power failure could leave half of it,
 * which is neither a store nor an empty file. Here the file gets its name only after its header is
 * durable. EEXIST: another process was faster. Other codes: this file system does not support it.
 */
static int data_make(int dir_fd)
{
    char name[FD_PATH_LEN];
    int fd, rc;

    fd = openat(dir_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, FILE_MODE);
    if (fd < 0) {
        return errno;
    }
    apr_snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    rc = header_write(name);
    if (!rc && fsync(fd) != 0) {
        rc = errno;
    }
    if (!rc && linkat(AT_FDCWD, name, dir_fd, PAY_LMDB_DATA_FILE, AT_SYMLINK_FOLLOW) != 0) {
        rc = errno;
    }
    close(fd);
    return rc;
}

/* The name must survive a power failure like the committed data. */
static apr_status_t name_sync(int dir_fd, const char *path, pay_lmdb_reason_t *reason)
{
    apr_status_t rv;

    if (fsync(dir_fd) == 0) {
        return APR_SUCCESS;
    }
    rv = errno;
    pay_lmdb_reason_set(reason, "store %s: its directory cannot be synced: %s", path, strerror(rv));
    return rv;
}

static apr_status_t file_make(int dir_fd, const char *name, const char *path,
                              pay_lmdb_reason_t *reason)
{
    struct stat directory;
    apr_status_t rv;
    int fd;

    if (fstat(dir_fd, &directory) != 0) {
        return errno;
    }
    if (geteuid() != directory.st_uid) {
        pay_lmdb_reason_set(reason,
                            "store %s belongs to user %u: another user does not create %s, "
                            "because the server could not open it",
                            path, (unsigned int)directory.st_uid, name);
        return APR_EACCES;
    }
    if (strcmp(name, PAY_LMDB_DATA_FILE) == 0) {
        int rc = data_make(dir_fd);

        if (!rc || rc == EEXIST) {
            return name_sync(dir_fd, path, reason);
        }
    }
    fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0) {
        if (errno == EEXIST) {
            return APR_SUCCESS; /* another process was faster */
        }
        rv = errno;
        pay_lmdb_reason_set(reason, "store %s: %s cannot be created: %s", path, name, strerror(rv));
        return rv;
    }
    close(fd);
    return name_sync(dir_fd, path, reason);
}

/*
 * Returns 1 if the directory contains only what a file system or an earlier store may leave there,
 * or what another process that creates the same store has made meanwhile.
 */
static int directory_is_empty(int dir_fd)
{
    static const char *const harmless[] = {".", "..", "lost+found", PAY_LMDB_LOCK_FILE,
                                           PAY_LMDB_DATA_FILE};
    const struct dirent *entry;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int empty = dir != NULL;
    int seen;
    size_t i;

    if (!dir && fd >= 0) {
        close(fd);
    }
    for (seen = 0; empty && seen < ENTRIES_MAX; seen++) {
        entry = readdir(dir);
        if (!entry) {
            break;
        }
        for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
            if (strcmp(entry->d_name, harmless[i]) == 0) {
                break;
            }
        }
        empty = i < sizeof(harmless) / sizeof(harmless[0]);
    }
    if (dir) {
        closedir(dir);
    }
    return empty;
}

apr_status_t pay_lmdb_files_none(int dir_fd, const char *path, pay_lmdb_reason_t *reason)
{
    if (directory_is_empty(dir_fd)) {
        return APR_SUCCESS;
    }
    pay_lmdb_reason_set(reason,
                        "%s holds other files and no store: name an empty directory, or one that "
                        "does not exist yet",
                        path);
    return APR_ENOTEMPTY;
}

apr_status_t pay_lmdb_files_open(int *lock_fd, ino_t *data_ino, int dir_fd, const char *path,
                                 int create, pay_lmdb_reason_t *reason)
{
    struct stat info;
    apr_status_t rv;
    int fd = -1;
    int found;

    *lock_fd = -1;
    *data_ino = 0;
    rv = file_check(&fd, &info, dir_fd, PAY_LMDB_DATA_FILE, path, reason);
    found = rv == APR_SUCCESS;
    if (rv == ENOENT && !create) {
        pay_lmdb_reason_set(reason,
                            "%s holds no store: correct the path, or let the server's start or "
                            "\"paymentsctl -s lmdb:%s account create NAME\" create one",
                            path, path);
        return rv;
    }
    if (rv == ENOENT && pay_lmdb_files_none(dir_fd, path, reason) != APR_SUCCESS) {
        return APR_ENOTEMPTY;
    }
    if (rv == ENOENT) {
        rv = file_make(dir_fd, PAY_LMDB_DATA_FILE, path, reason);
        if (rv == APR_SUCCESS) {
            pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                    PAYLOGNO(00116) "store %s: created a new, empty store; if there was one "
                                    "before, look for it before anything is charged",
                    path);
        }
        if (rv == APR_SUCCESS) {
            rv = file_check(&fd, &info, dir_fd, PAY_LMDB_DATA_FILE, path, reason);
        }
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    close(fd);
    if (found && info.st_size == 0) {
        pay_lmdb_reason_set(reason,
                            "store %s: data.mdb is empty, which a store never is: restore a "
                            "backup, or delete the file if nothing was ever stored there",
                            path);
        return APR_EGENERAL; /* LMDB would create a new store from it */
    }
    *data_ino = info.st_ino;

    rv = file_check(&fd, &info, dir_fd, PAY_LMDB_LOCK_FILE, path, reason);
    if (rv == ENOENT) {
        rv = file_make(dir_fd, PAY_LMDB_LOCK_FILE, path, reason);
    } else if (rv == APR_SUCCESS) {
        close(fd);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *lock_fd = openat(dir_fd, PAY_LMDB_LOCK_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*lock_fd < 0) {
        rv = errno;
        pay_lmdb_place_explain(reason, path, rv);
    }
    return rv;
}

int pay_lmdb_files_is_shared(int lock_fd)
{
    /* LMDB holds a read lock on the first byte while an environment is open. */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

    return fcntl(lock_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int pay_lmdb_files_hold(int lock_fd)
{
    /* Belongs to the open file, not to the process; shared, like LMDB's own lock on this byte. */
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

    return fcntl(lock_fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

void pay_lmdb_files_claim(int lock_fd)
{
    /* LMDB locks the byte at the offset of the process id. */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = getpid(), .l_len = 1};

    (void)fcntl(lock_fd, F_SETLK, &lock);
}
