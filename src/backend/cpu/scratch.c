/* Private temporary folders: see scratch.h. Used by the compiler for its output and by the loader where code cannot be
 * loaded from memory. */
#include "backend/cpu/scratch.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int make_below(const char *parent, krf__scratch *scratch) {
    krf__str path = {0};
    krf__str_put(&path, parent);
    krf__str_put(&path, "/kerfuse-XXXXXX");
    scratch->path = krf__str_take(&path);
    if (scratch->path == NULL) {
        return ENOMEM;
    }
    int error = mkdtemp(scratch->path) == NULL ? errno : 0;
    if (error == 0) {
        scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (scratch->fd >= 0) {
            return 0;
        }
        error = errno;
        rmdir(scratch->path);
    }
    krf__mem_free(scratch->path);
    scratch->path = NULL;
    return error;
}

int krf__scratch_open(krf__scratch *scratch) {
    *scratch = (krf__scratch){.fd = -1};
    const char *parent = secure_getenv("TMPDIR");
    int error = parent != NULL && parent[0] == '/' ? make_below(parent, scratch) : ENOENT;
    return error != 0 ? make_below("/tmp", scratch) : 0;
}

#define DEEPEST 16

/* Removes what is in the folder. */
static void empty(int folder, int depth) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (entries == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0) {
            continue;
        }
        int below = depth < DEEPEST ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (below >= 0) {
            empty(below, depth + 1);
            close(below);
            unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
    closedir(entries);
}

void krf__scratch_close(krf__scratch *scratch) {
    if (scratch->path == NULL) {
        return;
    }
    empty(scratch->fd, 0);
    rmdir(scratch->path);
    close(scratch->fd);
    krf__mem_free(scratch->path);
    *scratch = (krf__scratch){.fd = -1};
}

int krf__scratch_write(const krf__scratch *scratch, const char *name, const void *data, size_t bytes) {
    /* The rename that publish ends with is no use here; that it copes with full disks and file size limits is. */
    return krf__file_publish(scratch->fd, name, &(krf__piece){data, bytes}, 1);
}
