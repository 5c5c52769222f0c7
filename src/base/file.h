/* Files read and written whole, and private folders. Errors are returned as errno values (0: done), never as messages. */
#ifndef KRF_BASE_FILE_H
#define KRF_BASE_FILE_H

#include <stddef.h>
#include <stdbool.h>
#include <sys/types.h>

/* Reads a whole regular file below directory fd `at` (AT_FDCWD serves) into new memory (krf__mem_free), NUL-terminated beyond *bytes. Symbolic links are
 * not followed when `at` is a folder of ours (nofollow). */
int krf__file_read(int at, const char *name, bool nofollow, void **data, size_t *bytes);

/* One piece of what is to be written. */
typedef struct krf__piece {
    const void *data;
    size_t bytes;
} krf__piece;

/* Writes the pieces to a temporary file beside `name` (mode 0600) and renames it: readers see the old file or the whole new one. Removes the temporary on failure. */
int krf__file_publish(int at, const char *name, const krf__piece *pieces, size_t count);

/* The same with the permissions that new files of this process get, or with those that are given (of the file that is
 * replaced). */
int krf__file_publish_new(const char *path, const krf__piece *pieces, size_t count);
int krf__file_publish_over(const char *path, mode_t mode, const krf__piece *pieces, size_t count);

/* Opens folder `path`, creating it and its parents (0700) when missing. EPERM unless it is a real folder (no link), owned by the
 * effective user, and not writable by group or others. *fd is to be closed by the caller. */
int krf__folder_open_private(const char *path, int *fd);

#endif
