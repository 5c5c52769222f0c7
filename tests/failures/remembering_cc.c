/* remembering_cc STORE CC FLAG... -o OUT -x c - [FLAG...]: compiles standard input with CC, unless it has done so
 * before: then OUT is a copy of what came out. Loops that make every call fail in turn compile the same few kernels
 * thousands of times. Ends with CC's exit status. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t add(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ p[i]) * 0x100000001b3u;
    }
    return hash;
}

/* 0: done. */
static int copy(const char *from, const char *to) {
    char buffer[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    ssize_t n = out >= 0 ? 1 : -1;
    while (n > 0 && (n = read(in, buffer, sizeof buffer)) > 0) {
        n = write(out, buffer, (size_t)n) == n ? n : -1;
    }
    return n < 0 || close(out) != 0;
}

static int compile(char **argv, int source) {
    pid_t child = fork();
    if (child == 0) {
        dup2(source, 0);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    const char *out = NULL;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            out = argv[++i];
        } else {
            hash = add(hash, argv[i], strlen(argv[i]) + 1);
        }
        struct stat about;
        if (i > 2 && strcmp(argv[i - 1], "-include") == 0 && stat(argv[i], &about) == 0) {
            hash = add(hash, &about.st_mtim, sizeof about.st_mtim);
        }
    }
    char kept[4096], fresh[4200], buffer[65536];
    int fd = memfd_create("source", MFD_CLOEXEC);
    if (argc < 4 || out == NULL || fd < 0) {
        return 2;
    }
    mkdir(argv[1], 0700);
    for (ssize_t n; (n = read(0, buffer, sizeof buffer)) > 0;) {
        hash = add(hash, buffer, (size_t)n);
        if (write(fd, buffer, (size_t)n) != n) {
            return 2;
        }
    }
    snprintf(kept, sizeof kept, "%s/%016llx.so", argv[1], (unsigned long long)hash);
    if (copy(kept, out) == 0) {
        return 0;
    }
    int status = lseek(fd, 0, SEEK_SET) == 0 ? compile(argv + 2, fd) : 2;
    snprintf(fresh, sizeof fresh, "%s/.%ld.so", argv[1], (long)getpid());
    if (status == 0 && copy(out, fresh) == 0) {
        rename(fresh, kept);
    }
    return status;
}
