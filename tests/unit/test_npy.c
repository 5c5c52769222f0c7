/* Unit tests of src/api/npy.c: headers as NumPy and others write them, damaged ones, both byte and memory orders, files
 * that are cut at every byte, and saves that fail without losing what was there. NumPy itself is the referee in
 * tests/tools/test_npy_numpy.py. */
#include "base/mem.h"
#include <kerfuse/kerfuse.h>

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static krf_context *ctx;
static char folder[] = "/tmp/test_npy.XXXXXX", path[64];

static int set_up(void **state) {
    (void)state;
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.threads = 1;
    options.cache = KRF_CACHE_OFF;
    if (mkdtemp(folder) == NULL || krf_context_create(&options, &ctx) != KRF_OK) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/a.npy", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    krf_context_destroy(ctx);
    unlink(path);
    return rmdir(folder); /* fails when a temporary file was left */
}

static void write_bytes(const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static size_t read_bytes(void *data, size_t capacity) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t bytes = fread(data, 1, capacity, file);
    fclose(file);
    return bytes;
}

/* A file of that version, header and data; returns its size. */
static size_t make_file(unsigned char *file, int version, const char *header, const void *data, size_t bytes) {
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    memcpy(file + 6, (unsigned char[]){(unsigned char)version, 0}, 2);
    for (size_t i = 8; i < start; i++) {
        file[i] = (unsigned char)(length >> 8 * (i - 8));
    }
    memcpy(file + start, header, length);
    if (bytes > 0) {
        memcpy(file + start + length, data, bytes);
    }
    return start + length + bytes;
}

static krf_status load_header(int version, const char *header, const void *data, size_t bytes, krf_array **array) {
    unsigned char file[4096];
    assert_true(strlen(header) + bytes + 12 < sizeof file);
    write_bytes(file, make_file(file, version, header, data, bytes));
    return krf_array_load(ctx, path, array);
}

static void check_i32(krf_array *array, int rank, const int64_t *shape, const int32_t *values) {
    int32_t got[64];
    assert_int_equal(krf_array_dtype(array), KRF_I32);
    assert_int_equal(krf_array_rank(array), rank);
    for (int i = 0; i < rank; i++) {
        assert_int_equal(krf_array_shape(array)[i], shape[i]);
    }
    size_t bytes = (size_t)krf_array_size(array) * sizeof *got;
    assert_int_equal(krf_array_to_host(array, got, bytes), KRF_OK);
    if (bytes > 0) {
        assert_memory_equal(got, values, bytes);
    }
}

static void headers_that_are_right(void **state) {
    static const char *const headers[] = {
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'shape':(2,3),'fortran_order':False,'descr':'<i4'}",
        "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (2L, 3L)}\n",
        " { 'fortran_order' : False ,\n 'descr' : 'i4' , 'shape' : ( 2 , 3 , ) , } ",
        "{'descr': '=i4', 'fortran_order': False, 'shape': (2, 3)}",
    };
    static const int32_t data[] = {1, -2, 3, INT32_MIN, 5, INT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        for (int version = 1; version <= 3; version++) {
            krf_array *array = NULL;
            assert_int_equal(load_header(version, headers[i], data, sizeof data, &array), KRF_OK);
            check_i32(array, 2, (int64_t[]){2, 3}, data);
            krf_array_release(array);
        }
    }
}

static void shapes(void **state) {
    static const struct {
        const char *shape;
        int rank;
        int64_t extents[KRF_MAX_RANK];
        size_t count;
    } cases[] = {
        {"()", 0, {0}, 1},
        {"(1,)", 1, {1}, 1},
        {"(0,)", 1, {0}, 0},
        {"(3, 0, 5)", 3, {3, 0, 5}, 0},
        {"(0, 4611686018427387904)", 2, {0, INT64_C(4611686018427387904)}, 0},
        {"(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)", 16, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, 2},
    };
    static const int32_t data[] = {7, 8};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int fortran = 0; fortran < 2; fortran++) {
            char header[256];
            krf_array *array = NULL;
            snprintf(header, sizeof header, "{'descr': '<i4', 'fortran_order': %s, 'shape': %s, }\n",
                     fortran ? "True" : "False", cases[i].shape);
            assert_int_equal(load_header(1, header, data, cases[i].count * sizeof *data, &array), KRF_OK);
            check_i32(array, cases[i].rank, cases[i].extents, data);
            krf_array_release(array);
        }
    }
}

static void byte_order(void **state) {
    static const unsigned char big[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe};
    static const unsigned char pi[] = {0x40, 0x09, 0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18};
    krf_array *array = NULL;
    double value = 0;
    (void)state;
    assert_int_equal(
        load_header(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }\n", big, sizeof big, &array), KRF_OK);
    check_i32(array, 1, (int64_t[]){2}, (int32_t[]){1, -2});
    krf_array_release(array);
    assert_int_equal(load_header(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (), }\n", pi, sizeof pi, &array),
                     KRF_OK);
    assert_int_equal(krf_array_to_host(array, &value, sizeof value), KRF_OK);
    assert_true(value == 3.141592653589793);
    krf_array_release(array);
    static const unsigned char complex[] = {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}; /* 1 - 2j: each half in that order */
    float halves[2] = {0, 0};
    assert_int_equal(load_header(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n", complex, sizeof complex, &array),
                     KRF_OK);
    assert_int_equal(krf_array_to_host(array, halves, sizeof halves), KRF_OK);
    assert_true(halves[0] == 1 && halves[1] == -2);
    krf_array_release(array);
}

static void fortran_order(void **state) {
    static const int32_t columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};
    krf_array *array = NULL;
    (void)state;
    assert_int_equal(
        load_header(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", columns, sizeof columns, &array),
        KRF_OK);
    assert_int_equal(krf_array_strides(array)[0], 1);
    assert_int_equal(krf_array_strides(array)[1], 2);
    check_i32(array, 2, (int64_t[]){2, 3}, rows);
    krf_array_release(array);
}

/* NumPy takes any byte that is not 0 for True. */
static void bools_are_0_or_1(void **state) {
    static const unsigned char data[] = {0, 1, 2, 255};
    unsigned char got[4];
    krf_array *array = NULL;
    (void)state;
    assert_int_equal(load_header(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }\n", data, 4, &array),
                     KRF_OK);
    assert_int_equal(krf_array_dtype(array), KRF_BOOL);
    assert_int_equal(krf_array_to_host(array, got, 4), KRF_OK);
    assert_memory_equal(got, ((unsigned char[]){0, 1, 1, 1}), 4);
    krf_array_release(array);
}

static void headers_that_are_wrong(void **state) {
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"", "does not begin with '{'"},
        {"{", "a short string"},
        {"{}", "an entry is missing"},
        {"[]", "does not begin with '{'"},
        {"{'descr': '<i4', 'fortran_order': False}", "an entry is missing"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)", "does not end with '}'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x", "something follows"},
        {"{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", "stands twice"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'more': 1}", "unknown"},
        {"{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1)}", "not a tuple"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': [1]}", "not a tuple"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "no number"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1.5,)}", "not a tuple"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (,)}", "no number"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "63 bits"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "63 bits"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387904,)}", "63 bits"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", "rank"},
        {"{'descr': '<c32', 'fortran_order': False, 'shape': (2,)}", "'<c32'"},
        {"{'descr': '|c8', 'fortran_order': False, 'shape': (1,)}", "'|c8'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "asks for 8 bytes of data, and the file holds 4"},
        {"{'descr': '|S4', 'fortran_order': False, 'shape': (4,)}", "'|S4'"},
        {"{'descr': '|i4', 'fortran_order': False, 'shape': (1,)}", "'|i4'"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", "'<M8[ns]'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "Python objects"},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "structured"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "''"},
        {"{'descr': '<i4\\'', 'fortran_order': False, 'shape': (1,)}", "a short string"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000000,)}", "asks for 4000000000000 bytes"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", "asks for 8 bytes of data, and the file holds 4"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (0,)}", "asks for 0 bytes of data, and the file holds 4"},
    };
    static const int32_t data[] = {1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_array *array = (krf_array *)&cases;
        krf_status status = load_header(1, cases[i].header, data, sizeof data, &array);
        if (status != KRF_E_FORMAT || strstr(krf_error_message(), cases[i].message) == NULL) {
            print_error("%s\n    status %s: %s\n", cases[i].header, krf_status_name(status), krf_error_message());
        }
        assert_int_equal(status, KRF_E_FORMAT);
        assert_non_null(strstr(krf_error_message(), cases[i].message));
        assert_non_null(strstr(krf_error_message(), path));
        assert_null(array);
    }
}

static const char good[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }\n";

static void files_that_are_wrong(void **state) {
    unsigned char file[256];
    krf_array *array = NULL;
    (void)state;
    size_t bytes = make_file(file, 1, good, (int32_t[]){1, 2, 3}, 12);
    for (size_t cut = 0; cut < bytes; cut++) {
        write_bytes(file, cut);
        assert_int_equal(krf_array_load(ctx, path, &array), KRF_E_FORMAT);
        assert_null(array);
    }
    file[bytes] = 0;
    write_bytes(file, bytes + 1);
    assert_int_equal(krf_array_load(ctx, path, &array), KRF_E_FORMAT);
    file[6] = 4;
    write_bytes(file, bytes);
    assert_int_equal(krf_array_load(ctx, path, &array), KRF_E_FORMAT);
    assert_non_null(strstr(krf_error_message(), "version 4"));
    memcpy(file + 6, "\x02\x00\x00\x00\x01\x01", 6); /* a header of 16 MiB */
    write_bytes(file, bytes);
    assert_int_equal(krf_array_load(ctx, path, &array), KRF_E_FORMAT);
    assert_non_null(strstr(krf_error_message(), "too long"));

    assert_int_equal(krf_array_load(ctx, "/nowhere/a.npy", &array), KRF_E_FILE);
    assert_string_equal(krf_error_message(), "/nowhere/a.npy: No such file or directory");
    assert_int_equal(krf_array_load(ctx, folder, &array), KRF_E_FILE);
    assert_non_null(strstr(krf_error_message(), "Is a directory"));
    assert_int_equal(krf_array_load(ctx, NULL, &array), KRF_E_ARGUMENT);
    assert_int_equal(krf_array_load(NULL, path, &array), KRF_E_ARGUMENT);
    assert_int_equal(krf_array_load(ctx, path, NULL), KRF_E_ARGUMENT);
}

/* Any bytes in the header give an array or KRF_E_FORMAT; the sanitizers see the rest. */
static void random_damage(void **state) {
    unsigned char file[256], damaged[256];
    uint64_t random = 12345;
    (void)state;
    size_t bytes = make_file(file, 1, good, (int32_t[]){1, 2, 3}, 12);
    for (int round = 0; round < 2000; round++) {
        krf_array *array = NULL;
        memcpy(damaged, file, bytes);
        for (int change = 0; change <= round % 3; change++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = 6 + (size_t)(random >> 33) % (sizeof good + 4);
            damaged[at] = round % 2 ? (unsigned char)(random >> 56) : damaged[6 + (random >> 20) % (sizeof good + 4)];
        }
        write_bytes(damaged, bytes);
        krf_status status = krf_array_load(ctx, path, &array);
        assert_true(status == KRF_OK ? array != NULL : status == KRF_E_FORMAT && array == NULL);
        krf_array_release(array);
    }
}

static void save_and_load(void **state) {
    static const struct {
        krf_dtype dtype;
        int rank;
        int64_t shape[3];
        const char *header;
    } cases[] = {
        {KRF_BOOL, 1, {3}, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }"},
        {KRF_I32, 0, {0}, "{'descr': '<i4', 'fortran_order': False, 'shape': (), }"},
        {KRF_I64, 2, {2, 3}, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }"},
        {KRF_F32, 3, {2, 1, 4}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 4), }"},
        {KRF_F64, 2, {0, 5}, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5), }"},
        {KRF_C64, 1, {3}, "{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }"},
        {KRF_C128, 2, {2, 2}, "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 2), }"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char data[64] = {1, 0, 1, 1}, file[512], got[64];
        krf_array *array = NULL, *loaded = NULL;
        assert_int_equal(krf_array_from_host(ctx, cases[i].dtype, cases[i].rank, cases[i].shape, data, &array), KRF_OK);
        assert_int_equal(krf_array_save(array, path), KRF_OK);
        size_t bytes = (size_t)krf_array_size(array) * krf_dtype_size(cases[i].dtype);
        size_t size = read_bytes(file, sizeof file);
        assert_int_equal((size - bytes) % 64, 0);
        assert_memory_equal(file, "\x93NUMPY\x01\x00", 8);
        assert_int_equal(file[8] + 256 * file[9] + 10, size - bytes);
        assert_memory_equal(file + 10, cases[i].header, strlen(cases[i].header));
        assert_int_equal(file[size - bytes - 1], '\n');
        assert_int_equal(krf_array_load(ctx, path, &loaded), KRF_OK);
        assert_int_equal(krf_array_dtype(loaded), cases[i].dtype);
        assert_int_equal(krf_array_rank(loaded), cases[i].rank);
        assert_int_equal(krf_array_to_host(loaded, got, bytes), KRF_OK);
        if (bytes > 0) {
            assert_memory_equal(got, data, bytes);
        }
        krf_array_release(array);
        krf_array_release(loaded);
    }
}

static krf_array *make_i32(int64_t n) {
    krf_array *array = NULL;
    int32_t *data = malloc(sizeof *data * (size_t)n);
    assert_non_null(data);
    for (int64_t i = 0; i < n; i++) {
        data[i] = (int32_t)i;
    }
    assert_int_equal(krf_array_from_host(ctx, KRF_I32, 1, &n, data, &array), KRF_OK);
    free(data);
    return array;
}

static void views_are_saved_in_c_order(void **state) {
    krf_array *base = make_i32(6), *view = NULL, *loaded = NULL;
    (void)state;
    assert_int_equal(krf_array_view(base, 2, (int64_t[]){3, 2}, (int64_t[]){-1, -3}, 5, &view), KRF_OK);
    assert_int_equal(krf_array_save(view, path), KRF_OK);
    assert_int_equal(krf_array_load(ctx, path, &loaded), KRF_OK);
    check_i32(loaded, 2, (int64_t[]){3, 2}, (int32_t[]){5, 2, 4, 1, 3, 0});
    krf_array_release(base);
    krf_array_release(view);
    krf_array_release(loaded);
}

static int count_files(void) {
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

/* A file that may not grow is as good as a full disk. */
static void a_failed_save_loses_nothing(void **state) {
    krf_array *small = make_i32(4), *large = make_i32(100000), *loaded = NULL;
    struct rlimit before, limit;
    (void)state;
    unlink(path);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        krf_status status = krf_array_save(large, path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, KRF_E_FILE);
        assert_non_null(strstr(krf_error_message(), "File too large"));
        assert_int_equal(count_files(), round);
        if (round == 0) {
            assert_int_equal(krf_array_save(small, path), KRF_OK);
        }
    }
    assert_int_equal(krf_array_load(ctx, path, &loaded), KRF_OK);
    check_i32(loaded, 1, (int64_t[]){4}, (int32_t[]){0, 1, 2, 3});
    krf_array_release(small);
    krf_array_release(large);
    krf_array_release(loaded);
}

static void places_that_cannot_be_written(void **state) {
    krf_array *array = make_i32(100000);
    (void)state;
    assert_int_equal(krf_array_save(array, "/dev/full"), KRF_E_FILE);
    assert_string_equal(krf_error_message(), "/dev/full: No space left on device");
    assert_int_equal(krf_array_save(array, "/dev/null"), KRF_OK);
    assert_int_equal(krf_array_save(array, "/nowhere/a.npy"), KRF_E_FILE);
    assert_string_equal(krf_error_message(), "/nowhere/a.npy: No such file or directory");
    assert_int_equal(krf_array_save(array, folder), KRF_E_FILE);
    assert_int_equal(krf_array_save(array, NULL), KRF_E_ARGUMENT);
    assert_int_equal(krf_array_save(NULL, path), KRF_E_ARGUMENT);
    krf_array_release(array);
}

static void permissions_and_links(void **state) {
    char target[80];
    struct stat about;
    krf_array *array = make_i32(3);
    (void)state;
    unlink(path);
    mode_t mask = umask(027);
    assert_int_equal(krf_array_save(array, path), KRF_OK);
    umask(mask);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(krf_array_save(array, path), KRF_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0604);

    snprintf(target, sizeof target, "%s/target.npy", folder);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink("target.npy", path), 0);
    assert_int_equal(truncate(target, 0), 0);
    assert_int_equal(krf_array_save(array, path), KRF_OK);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_size, 128 + 12);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(unlink(path), 0);
    krf_array_release(array);
}

/* The n-th allocation fails, for every n: a status, nothing lost, nothing leaked. */
static void out_of_memory(void **state) {
    krf_array *array = make_i32(6), *view = NULL, *loaded = NULL;
    krf_status status = KRF_E_MEMORY;
    (void)state;
    assert_int_equal(krf_array_view(array, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}, 0, &view), KRF_OK);
    for (long n = 1; status != KRF_OK; n++) {
        krf__mem_fail_at(n);
        status = krf_array_save(view, path);
        krf__mem_fail_at(0);
        assert_true(status == KRF_OK || status == KRF_E_MEMORY);
        assert_true(n < 10000);
    }
    status = KRF_E_MEMORY;
    for (long n = 1; status != KRF_OK; n++) {
        krf__mem_fail_at(n);
        status = krf_array_load(ctx, path, &loaded);
        krf__mem_fail_at(0);
        assert_true(status == KRF_OK ? loaded != NULL : status == KRF_E_MEMORY && loaded == NULL);
        assert_true(n < 10000);
    }
    check_i32(loaded, 2, (int64_t[]){3, 2}, (int32_t[]){0, 3, 1, 4, 2, 5});
    krf_array_release(array);
    krf_array_release(view);
    krf_array_release(loaded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_are_right),
        cmocka_unit_test(shapes),
        cmocka_unit_test(byte_order),
        cmocka_unit_test(fortran_order),
        cmocka_unit_test(bools_are_0_or_1),
        cmocka_unit_test(headers_that_are_wrong),
        cmocka_unit_test(files_that_are_wrong),
        cmocka_unit_test(random_damage),
        cmocka_unit_test(save_and_load),
        cmocka_unit_test(views_are_saved_in_c_order),
        cmocka_unit_test(a_failed_save_loses_nothing),
        cmocka_unit_test(places_that_cannot_be_written),
        cmocka_unit_test(permissions_and_links),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
