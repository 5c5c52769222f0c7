/* NumPy's .npy files. Read: versions 1 to 3, either byte order and either memory order, dtypes of dtypes.def. Written:
 * version 1.0, C order, data at a multiple of 64 bytes, to a temporary file that then takes the name, so that a full
 * disk loses nothing. The format: numpy.lib.format in NumPy's reference manual. */
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/array.h"
#include "ir/dtype.h"
#include "ir/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define HEADER_LIMIT 65536 /* a dictionary of three entries is no longer, whatever the file says */
#define ALIGNMENT 64

#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

static krf_status fail_errno(const char *path, int error) {
    return error == ENOMEM ? krf__fail_memory() : krf__fail(KRF_E_FILE, "%s: %s", path, strerror(error));
}

/* ---- the header: a Python dictionary of 'descr', 'fortran_order' and 'shape' ------------------------------------- */

typedef struct npy_header {
    krf_dtype dtype;
    bool swapped, fortran;
    int rank;
    int64_t shape[KRF_MAX_RANK];
} npy_header;

/* The rest of the text to read. Functions return false, with the message set, where it is not as expected. */
typedef struct reader {
    const char *path, *at;
} reader;

static bool fail_header(const reader *r, const char *what) {
    krf__fail(KRF_E_FORMAT, "%s: the .npy header is damaged: %s", r->path, what);
    return false;
}

static bool take(reader *r, char c) {
    r->at += strspn(r->at, " \t\r\n");
    bool found = *r->at == c && c != '\0';
    r->at += found;
    return found;
}

static bool take_word(reader *r, const char *word) {
    r->at += strspn(r->at, " \t\r\n");
    size_t length = strlen(word);
    bool found = strncmp(r->at, word, length) == 0;
    r->at += found ? length : 0;
    return found;
}

/* A Python string without escapes, in either kind of quotes. */
static bool read_string(reader *r, char *text, size_t size) {
    char quote = take(r, '\'') ? '\'' : take(r, '"') ? '"' : '\0';
    const char *end = quote != '\0' ? strchr(r->at, quote) : NULL;
    if (end == NULL || (size_t)(end - r->at) >= size || memchr(r->at, '\\', (size_t)(end - r->at)) != NULL) {
        return fail_header(r, "a short string is expected");
    }
    memcpy(text, r->at, (size_t)(end - r->at));
    text[end - r->at] = '\0';
    r->at = end + 1;
    return true;
}

/* Single bytes have none, and NumPy knows bf16 as two bytes without meaning ("|V2"): in the order of the machine that wrote them. */
static char byte_order(const krf__dtype_info *info) { return info->bytes == 1 || *info->numpy == 'V' ? '|' : NATIVE_ORDER; }

/* "<f4": byte order, kind, bytes. */
static bool read_descr(reader *r, npy_header *header) {
    char text[32];
    if (take(r, '[')) {
        krf__fail(KRF_E_FORMAT, "%s: structured dtypes are not supported", r->path);
        return false;
    }
    if (!read_string(r, text, sizeof text)) {
        return false;
    }
    const char *type = strchr("<>=|", text[0]) != NULL && text[0] != '\0' ? text + 1 : text;
    char order = type == text || text[0] == '=' ? NATIVE_ORDER : text[0];
    for (int i = 0; i < KRF__DTYPE_COUNT; i++) {
        const krf__dtype_info *info = krf__dtype((krf_dtype)i);
        if (strcmp(info->numpy, type) == 0 && (order != '|' || byte_order(info) == '|')) {
            header->dtype = (krf_dtype)i;
            header->swapped = byte_order(info) != '|' && order != NATIVE_ORDER;
            return true;
        }
    }
    krf__fail(KRF_E_FORMAT, "%s: dtype '%s' is not supported%s", r->path, text,
              type[0] == 'O' ? " (Python objects)" : "");
    return false;
}

static bool read_shape(reader *r, npy_header *header) {
    if (!take(r, '(')) {
        return fail_header(r, "'shape' is not a tuple");
    }
    while (!take(r, ')')) {
        r->at += strspn(r->at, " \t\r\n");
        if (*r->at < '0' || *r->at > '9') {
            return fail_header(r, "'shape' has an extent that is no number");
        }
        if (header->rank == KRF_MAX_RANK) {
            krf__fail(KRF_E_FORMAT, "%s: the array's rank is more than %d", r->path, KRF_MAX_RANK);
            return false;
        }
        char *end = NULL;
        errno = 0;
        long long extent = strtoll(r->at, &end, 10);
        if (errno == ERANGE) {
            return fail_header(r, "'shape' has an extent that does not fit 63 bits");
        }
        header->shape[header->rank++] = extent;
        r->at = end + (*end == 'L'); /* as Python 2 printed some numbers */
        if (take(r, ',')) {
            continue;
        }
        if (header->rank == 1 || !take(r, ')')) { /* (3) is a number in Python, (3,) a tuple */
            return fail_header(r, "'shape' is not a tuple");
        }
        return true;
    }
    return true;
}

static bool read_fortran(reader *r, npy_header *header) {
    header->fortran = take_word(r, "True");
    return header->fortran || take_word(r, "False") || fail_header(r, "'fortran_order' is neither True nor False");
}

static bool read_header(reader *r, npy_header *header) {
    static const struct {
        const char *key;
        bool (*read)(reader *r, npy_header *header);
    } entries[] = {{"descr", read_descr}, {"fortran_order", read_fortran}, {"shape", read_shape}};
    enum { COUNT = sizeof entries / sizeof *entries };
    unsigned seen = 0;
    if (!take(r, '{')) {
        return fail_header(r, "it does not begin with '{'");
    }
    while (!take(r, '}')) {
        char key[32];
        if (!read_string(r, key, sizeof key)) {
            return false;
        }
        unsigned i = 0;
        while (i < COUNT && strcmp(entries[i].key, key) != 0) {
            i++;
        }
        if (i == COUNT || (seen & 1u << i) != 0 || !take(r, ':')) {
            return fail_header(r, "an entry is unknown, stands twice, or has no value");
        }
        seen |= 1u << i;
        if (!entries[i].read(r, header)) {
            return false;
        }
        if (!take(r, ',')) {
            if (!take(r, '}')) {
                return fail_header(r, "it does not end with '}'");
            }
            break;
        }
    }
    r->at += strspn(r->at, " \t\r\n");
    if (*r->at != '\0' || seen != (1u << COUNT) - 1) {
        return fail_header(r, *r->at != '\0' ? "something follows the '}'" : "an entry is missing");
    }
    return true;
}

/* ---- load ---------------------------------------------------------------------------------------------------------
 */

/* Reads exactly that many bytes. A file that ends before: KRF_E_FORMAT. */
static krf_status read_exactly(int fd, const char *path, void *data, size_t bytes) {
    char *to = data;
    while (bytes > 0) {
        ssize_t n = read(fd, to, bytes);
        if (n == 0) {
            return krf__fail(KRF_E_FORMAT, "%s: the file ends %zu bytes early", path, bytes);
        }
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        } else if (errno != EINTR) {
            return fail_errno(path, errno);
        }
    }
    return KRF_OK;
}

/* Reads everything before the data. */
static krf_status load_header(int fd, const char *path, npy_header *header, size_t *length) {
    unsigned char start[12];
    char *text = NULL;
    krf_status status = read_exactly(fd, path, start, 10);
    if (status == KRF_OK && memcmp(start, MAGIC, MAGIC_BYTES) != 0) {
        status = krf__fail(KRF_E_FORMAT, "%s: not a .npy file", path);
    }
    if (status == KRF_OK && (start[6] < 1 || start[6] > 3)) {
        status = krf__fail(KRF_E_FORMAT, "%s: version %d of the .npy format is not known", path, start[6]);
    }
    if (status == KRF_OK && start[6] > 1) {
        status = read_exactly(fd, path, start + 10, 2);
    }
    if (status != KRF_OK) {
        return status;
    }
    size_t bytes = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        bytes |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (bytes > HEADER_LIMIT) {
        return krf__fail(KRF_E_FORMAT, "%s: the .npy header of %zu bytes is too long", path, bytes);
    }
    *length = (start[6] > 1 ? 12 : 10) + bytes;
    text = krf__malloc(bytes + 1);
    if (text == NULL) {
        return krf__fail_memory();
    }
    text[bytes] = '\0';
    status = read_exactly(fd, path, text, bytes);
    if (status == KRF_OK && memchr(text, '\0', bytes) != NULL) {
        status = krf__fail(KRF_E_FORMAT, "%s: the .npy header is damaged: it holds a zero byte", path);
    }
    if (status == KRF_OK && !read_header(&(reader){path, text}, header)) {
        status = KRF_E_FORMAT;
    }
    krf__mem_free(text);
    return status;
}

static void swap_bytes(unsigned char *data, size_t count, size_t item) {
    for (unsigned char *p = data; count > 0; count--, p += item) {
        for (size_t i = 0, j = item - 1; i < j; i++, j--) {
            unsigned char byte = p[i];
            p[i] = p[j];
            p[j] = byte;
        }
    }
}

/* Reads the data into host memory, as this machine holds it. */
static krf_status load_data(int fd, const char *path, const npy_header *header, void *data, size_t bytes) {
    krf_status status = read_exactly(fd, path, data, bytes);
    size_t item = krf_dtype_size(krf__part_of(header->dtype)); /* the halves of complex numbers are swapped each */
    if (status == KRF_OK && header->swapped) {
        swap_bytes(data, bytes / item, item);
    }
    if (status == KRF_OK && header->dtype == KRF_BOOL) { /* a bool is 0 or 1, whatever the file holds */
        unsigned char *p = data;
        for (size_t i = 0; i < bytes; i++) {
            p[i] = p[i] != 0;
        }
    }
    return status;
}

static bool on_cuda(krf_context *context) {
    krf_device_info info = {.size = sizeof info};
    return krf_context_device(context, &info) != KRF_OK || info.is_cuda;
}

/* A new array with the data in the file's order: straight into its memory on the CPU, by way of the host elsewhere. */
static krf_status load_array(krf_context *context, int fd, const char *path, const npy_header *header, size_t bytes,
                             krf_array **array) {
    if (!on_cuda(context)) {
        krf_status status = krf_array_create(context, header->dtype, header->rank, header->shape, array);
        if (status == KRF_OK) {
            status = load_data(fd, path, header, krf_array_data(*array), bytes);
        }
        return status;
    }
    void *data = krf__malloc(bytes);
    krf_status status = data == NULL ? krf__fail_memory() : load_data(fd, path, header, data, bytes);
    if (status == KRF_OK) {
        status = krf_array_from_host(context, header->dtype, header->rank, header->shape, data, array);
    }
    krf__mem_free(data);
    return status;
}

/* The same memory with the first axis fastest. */
static krf_status to_fortran(krf_array **array) {
    krf_array *base = *array;
    const int64_t *shape = krf_array_shape(base);
    int rank = krf_array_rank(base);
    int64_t strides[KRF_MAX_RANK] = {1};
    for (int k = 1; k < rank; k++) {
        strides[k] = strides[k - 1] * shape[k - 1];
    }
    *array = NULL;
    krf_status status = krf_array_view(base, rank, shape, strides, 0, array);
    krf_array_release(base);
    return status;
}

static krf_status load(krf_context *context, int fd, const char *path, krf_array **array) {
    npy_header header = {0};
    size_t start = 0;
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return fail_errno(path, errno);
    }
    if (S_ISDIR(about.st_mode)) {
        return fail_errno(path, EISDIR);
    }
    krf_status status = load_header(fd, path, &header, &start);
    if (status != KRF_OK) {
        return status;
    }
    int64_t size = krf__shape_size(header.rank, header.shape);
    int64_t item = (int64_t)krf_dtype_size(header.dtype);
    if (size < 0 || size > (INT64_MAX - HEADER_LIMIT - 12) / item) {
        return krf__fail(KRF_E_FORMAT, "%s: the array's size does not fit 63 bits", path);
    }
    /* Compared before anything is allocated: a damaged shape must not ask for all memory. Pipes have no size. */
    if (S_ISREG(about.st_mode) && about.st_size != (off_t)start + size * item) {
        return krf__fail(KRF_E_FORMAT, "%s: the header asks for %lld bytes of data, and the file holds %lld", path,
                         (long long)(size * item), (long long)about.st_size - (long long)start);
    }
    status = load_array(context, fd, path, &header, (size_t)(size * item), array);
    if (status == KRF_OK && header.fortran && header.rank > 1 && size > 0) {
        status = to_fortran(array);
    }
    return status;
}

krf_status krf_array_load(krf_context *context, const char *path, krf_array **array) {
    if (array == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_load: array is NULL");
    }
    *array = NULL;
    if (context == NULL || path == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_load: %s is NULL", context == NULL ? "context" : "path");
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return fail_errno(path, errno);
    }
    krf_status status = load(context, fd, path, array);
    if (status != KRF_OK) {
        krf_array_release(*array);
        *array = NULL;
    }
    close(fd);
    return status;
}

/* ---- save ---------------------------------------------------------------------------------------------------------
 */

/* Magic, version, length, dictionary, padded so that the data begins at a multiple of ALIGNMENT. */
static void print_header(const krf_array *array, krf__str *text) {
    const krf__dtype_info *info = krf__dtype(krf_array_dtype(array));
    krf__str dictionary = {0};
    krf__str_printf(&dictionary,
                    "{'descr': '%c%s', 'fortran_order': False, 'shape': ", byte_order(info), info->numpy);
    krf__str_shape(&dictionary, krf_array_rank(array), krf_array_shape(array));
    krf__str_put(&dictionary, ", }");
    while ((MAGIC_BYTES + 4 + dictionary.length + 1) % ALIGNMENT != 0 && !dictionary.failed) {
        krf__str_char(&dictionary, ' ');
    }
    krf__str_char(&dictionary, '\n');
    krf__str_putn(text, MAGIC "\x01", MAGIC_BYTES + 1);
    krf__str_char(text, '\0');
    krf__str_char(text, (char)(dictionary.length & 255));
    krf__str_char(text, (char)(dictionary.length >> 8));
    krf__str_putn(text, dictionary.data != NULL ? dictionary.data : "", dictionary.length);
    text->failed = text->failed || dictionary.failed;
    krf__str_free(&dictionary);
}

/* Devices and pipes are written as they are. */
static int write_directly(const char *path, const krf__piece *pieces, size_t count) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return errno;
    }
    int error = 0;
    for (size_t i = 0; i < count; i++) {
        const char *data = pieces[i].data;
        for (size_t left = pieces[i].bytes; left > 0 && error == 0;) {
            ssize_t n = write(fd, data, left);
            if (n > 0) {
                data += n;
                left -= (size_t)n;
            } else if (n == 0 || errno != EINTR) {
                error = n == 0 ? EIO : errno;
            }
        }
    }
    if (close(fd) != 0 && error == 0 && errno != EINTR) {
        error = errno;
    }
    return error;
}

/* Writes a new file, or replaces one as a whole: whenever this ends, the old file, the new one or none is there, but
 * never a part. The permissions of an old one stay. A link stays and its target is replaced. */
static int write_file(const char *path, const krf__piece *pieces, size_t count) {
    struct stat about, link;
    if (stat(path, &about) != 0) {
        int error = errno;
        bool nothing = error == ENOENT && lstat(path, &link) != 0 && errno == ENOENT; /* not even a link to nowhere */
        return nothing ? krf__file_publish_new(path, pieces, count) : error;
    }
    if (S_ISDIR(about.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(about.st_mode)) {
        return write_directly(path, pieces, count);
    }
    if (access(path, W_OK) != 0) {
        return errno; /* renaming would get around a file that is read-only on purpose */
    }
    char *target = realpath(path, NULL);
    int error = target != NULL ? krf__file_publish_over(target, about.st_mode & 07777, pieces, count) : errno;
    free(target);
    return error;
}

krf_status krf_array_save(krf_array *array, const char *path) {
    if (array == NULL || path == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_save: %s is NULL", array == NULL ? "array" : "path");
    }
    size_t bytes = (size_t)krf_array_size(array) * krf_dtype_size(krf_array_dtype(array));
    bool direct = !on_cuda(krf_array_context(array)) && krf__array_contiguous(array);
    krf_status status = KRF_OK;
    krf__str header = {0};
    void *copy = NULL;
    print_header(array, &header);
    if (header.failed || (!direct && (copy = krf__malloc(bytes)) == NULL)) {
        status = krf__fail_memory();
        goto done;
    }
    if (!direct) {
        status = krf_array_to_host(array, copy, bytes);
    }
    if (status == KRF_OK) {
        const void *data = direct ? krf_array_data(array) : copy;
        krf__piece pieces[] = {{header.data, header.length}, {data, bytes}};
        int error = write_file(path, pieces, sizeof pieces / sizeof *pieces);
        status = error != 0 ? fail_errno(path, error) : KRF_OK;
    }
done:
    krf__mem_free(copy);
    krf__str_free(&header);
    return status;
}
