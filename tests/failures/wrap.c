/* See wrap.h. A wrapper stands between the library's call of NAME, which the linker turns into __wrap_NAME, and the
 * real function, which it calls __real_NAME. A close that fails has closed all the same, as on Linux. */
#include "failures/wrap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int failing = -1; /* which call; -1: none */
static atomic_long left;        /* calls of it until one fails */
static atomic_int failure, met;
static atomic_bool all_after;
static atomic_long write_bytes, write_delay;

static const char *const names[] = {
#define CALL(result, name, parameters, arguments, failed) #name,
#define CLOSE(result, name, parameters, arguments) #name,
#define BY_HAND(name) #name,
#include "failures/wrap.def"
#undef CALL
#undef CLOSE
#undef BY_HAND
};

const char *wrap_name(enum wrapped call) { return names[call]; }

void wrap_fail(enum wrapped call, long n, int error, bool after) {
    atomic_store(&left, n);
    atomic_store(&failure, error);
    atomic_store(&all_after, after);
    atomic_store(&met, 0);
    atomic_store(&failing, (int)call);
}

void wrap_stop(void) { atomic_store(&failing, -1); }
bool wrap_met(void) { return atomic_load(&met) > 0; }

void wrap_slow_writes(long bytes, long microseconds) {
    atomic_store(&write_bytes, bytes);
    atomic_store(&write_delay, microseconds);
}

/* The error that this call is to have; 0: none. */
static int fault(enum wrapped call) {
    if (atomic_load(&failing) != (int)call) {
        return 0;
    }
    long before = atomic_fetch_sub(&left, 1);
    if (before != 1 && !(before < 1 && atomic_load(&all_after))) {
        return 0;
    }
    atomic_fetch_add(&met, 1);
    return atomic_load(&failure);
}

#define ERROR (errno)

/* clang-format off */
#define CALL(result, name, parameters, arguments, failed)      \
    result __real_##name parameters;                           \
    result __wrap_##name parameters;                           \
    result __wrap_##name parameters {                          \
        int error = fault(WRAP_##name);                        \
        if (error > 0) {                                       \
            errno = error;                                     \
            return failed;                                     \
        }                                                      \
        return __real_##name arguments;                        \
    }
#define CLOSE(result, name, parameters, arguments)             \
    result __real_##name parameters;                           \
    result __wrap_##name parameters;                           \
    result __wrap_##name parameters {                          \
        int error = fault(WRAP_##name);                        \
        result done = __real_##name arguments;                 \
        if (error > 0) {                                       \
            errno = error;                                     \
            return -1;                                         \
        }                                                      \
        return done;                                           \
    }
#define BY_HAND(name)
/* clang-format on */
#include "failures/wrap.def"

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __real_openat(int at, const char *path, int flags, mode_t mode);
int __wrap_openat(int at, const char *path, int flags, ...);
int __real_fcntl(int fd, int command, long argument);
int __wrap_fcntl(int fd, int command, ...);
ssize_t __real_read(int fd, void *data, size_t bytes);
ssize_t __wrap_read(int fd, void *data, size_t bytes);
ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);

static mode_t mode_of(int flags, va_list rest) { return (flags & O_CREAT) != 0 ? (mode_t)va_arg(rest, int) : 0; }

int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    int error = fault(WRAP_open);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return __real_open(path, flags, mode);
}

int __wrap_openat(int at, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    int error = fault(WRAP_openat);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return __real_openat(at, path, flags, mode);
}

/* The commands that the library gives take a number. */
int __wrap_fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    int argument = va_arg(rest, int);
    va_end(rest);
    int error = fault(WRAP_fcntl);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return __real_fcntl(fd, command, argument);
}

static size_t half(int error, size_t bytes) { return error == WRAP_SHORT && bytes > 1 ? bytes / 2 : bytes; }

ssize_t __wrap_read(int fd, void *data, size_t bytes) {
    int error = fault(WRAP_read);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return __real_read(fd, data, half(error, bytes));
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes) {
    int error = fault(WRAP_write);
    size_t most = (size_t)atomic_load(&write_bytes);
    if (error > 0) {
        errno = error;
        return -1;
    }
    if (most > 0) {
        usleep((useconds_t)atomic_load(&write_delay));
        bytes = bytes < most ? bytes : most;
    }
    return __real_write(fd, data, half(error, bytes));
}
