/* Files read and written whole, and folders that only this user can write to. Errors are errno values: the callers know
 * which of them matter (to the disk cache none does). Temporary files are named ".<16 hex digits>.tmp"; the disk cache
 * relies on that to sweep what a killed process left. Used by the disk cache, the .npy reader and writer, and the CPU
 * compiler. */
#include "base/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Fills the buffer from the file until it is full or the file ends. */
static int read_up_to(int fd, char *buffer, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = read(fd, buffer + *got, size - *got);
        if (n == 0) {
            return 0;
        }
        if (n > 0) {
            *got += (size_t)n;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* Reads to the end, whatever size the file was said to have: it may be growing, and /proc says 0. */
static int read_all(int fd, size_t expected, void **data, size_t *bytes)
{
    char *buffer = NULL;
    size_t capacity = 0, length = 0, got = 0;
    int error = 0;
    do {
        size_t need = capacity == 0 ? expected : capacity + 1;
        if (need > SIZE_MAX - 2 || !krf__grow(&buffer, &capacity, need + 2, 1)) {
            error = ENOMEM;
            goto done;
        }
        error = read_up_to(fd, buffer + length, capacity - 1 - length, &got);
        if (error != 0) {
            goto done;
        }
        length += got;
    } while (length == capacity - 1);
    buffer[length] = '\0';
    *data = buffer;
    *bytes = length;
    buffer = NULL;
done:
    krf__mem_free(buffer);
    return error;
}

int krf__file_read(int at, const char *name, bool nofollow, void **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    /* O_NONBLOCK: opening a pipe must not wait for a writer. It means nothing for regular files. */
    int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (nofollow ? O_NOFOLLOW : 0));
    if (fd < 0) {
        return errno;
    }
    struct stat about;
    int error = fstat(fd, &about) != 0 ? errno : 0;
    if (error == 0 && !S_ISREG(about.st_mode)) {
        error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    }
    if (error == 0 && (uintmax_t)about.st_size > SIZE_MAX / 4) {
        error = EFBIG;
    }
    if (error == 0) {
        error = read_all(fd, (size_t)about.st_size, data, bytes);
    }
    close(fd);
    return error;
}

static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return n == 0 ? EIO : errno;
        }
    }
    return 0;
}

/* Writes the pieces. A file size limit (ulimit -f) sends SIGXFSZ, which would end the user's program: it is held back
 * on this thread, and what was raised meanwhile is taken away. The error (EFBIG) remains. */
static int write_pieces(int fd, const krf__piece *pieces, size_t count)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);

    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = write_all(fd, pieces[i].data, pieces[i].bytes);
    }

    if (!sigismember(&before, SIGXFSZ)) {
        const struct timespec now = {0};
        while (error == EFBIG && sigtimedwait(&blocked, NULL, &now) < 0 && errno == EINTR) {
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return error;
}

/* A number that is unlikely to be in use for a name. O_EXCL, not this, guards against two files of one name. */
static uint64_t any_number(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid();
    }
    return number;
}

/* Creates a temporary file in the folder of `name`, so that renaming it never crosses file systems. */
static int open_temporary(int at, const char *name, mode_t mode, char **temporary, int *fd)
{
    const char *slash = strrchr(name, '/');
    size_t folder = slash != NULL ? (size_t)(slash - name) + 1 : 0;
    size_t size = folder + sizeof ".0123456789abcdef.tmp";
    char *text = krf__malloc(size);
    if (text == NULL) {
        return ENOMEM;
    }
    memcpy(text, name, folder);
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(text + folder, size - folder, ".%016" PRIx64 ".tmp", any_number());
        *fd = openat(at, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (*fd >= 0) {
            *temporary = text;
            return 0;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    int error = errno;
    krf__mem_free(text);
    return error;
}

static int publish(int at, const char *name, mode_t mode, bool exactly, const krf__piece *pieces, size_t count)
{
    char *temporary = NULL;
    int fd = -1;
    int error = open_temporary(at, name, exactly ? 0600 : mode, &temporary, &fd);
    if (error != 0) {
        return error;
    }
    error = write_pieces(fd, pieces, count);
    if (error == 0 && exactly && fchmod(fd, mode) != 0) {
        error = errno;
    }
    if (close(fd) != 0 && error == 0 && errno != EINTR) { /* network file systems report a full disk here */
        error = errno;
    }
    if (error == 0 && renameat(at, temporary, at, name) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlinkat(at, temporary, 0);
    }
    krf__mem_free(temporary);
    return error;
}

int krf__file_publish(int at, const char *name, const krf__piece *pieces, size_t count)
{
    return publish(at, name, 0600, false, pieces, count);
}

int krf__file_publish_new(const char *path, const krf__piece *pieces, size_t count)
{
    return publish(AT_FDCWD, path, 0666, false, pieces, count);
}

int krf__file_publish_over(const char *path, mode_t mode, const krf__piece *pieces, size_t count)
{
    return publish(AT_FDCWD, path, mode, true, pieces, count);
}

/* Opens a folder if it is one of ours alone. Not ENOTDIR but EPERM for links and files: there is something, and not
 * what it has to be. */
static int open_checked(const char *path, int *fd)
{
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        return errno == ENOTDIR || errno == ELOOP ? EPERM : errno;
    }
    struct stat about;
    int error = fstat(opened, &about) != 0 ? errno : 0;
    if (error == 0 && (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        error = EPERM;
    }
    if (error != 0) {
        close(opened);
        return error;
    }
    *fd = opened;
    return 0;
}

/* Makes the folder and those above it. What is there already is left as it is. */
static int make_folders(char *path)
{
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/' || p[-1] == '/') {
            continue;
        }
        *p = '\0';
        int error = mkdir(path, 0700) != 0 ? errno : 0;
        *p = '/';
        /* EROFS, EACCES and the like may come from a parent that exists: the last mkdir tells. */
        if (error == ENOSPC || error == EDQUOT) {
            return error;
        }
    }
    return mkdir(path, 0700) != 0 && errno != EEXIST ? errno : 0;
}

int krf__folder_open_private(const char *path, int *fd)
{
    *fd = -1;
    if (path[0] == '\0') {
        return ENOENT;
    }
    char *copy = krf__strdup(path);
    if (copy == NULL) {
        return ENOMEM;
    }
    /* "link/" would follow the link. */
    for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--) {
        copy[n - 1] = '\0';
    }
    int error = open_checked(copy, fd);
    if (error == ENOENT) {
        error = make_folders(copy);
        if (error == 0) {
            error = open_checked(copy, fd);
        }
    }
    krf__mem_free(copy);
    return error;
}
