/* Unit tests of src/base: strings, maps, hashes, files, private folders, messages, the log, and the failing
 * allocator. */
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a folder for each test -------------------------------------------------------------------------------------- */

static char root[64];

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/krf-test-base-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    (void)state;
    krf__mem_fail_at(0);
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *below(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static int files_in(const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "find '%s' -mindepth 1 | wc -l", path);
    FILE *pipe = popen(command, "r");
    int count = -1;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

/* ---- mem --------------------------------------------------------------------------------------------------------- */

static void mem_fails_from_the_nth_on(void **state)
{
    (void)state;
    krf__mem_fail_at(3);
    void *a = krf__malloc(10), *b = krf__calloc(2, 5);
    void *c = krf__malloc(1), *d = krf__strdup("x"), *e = krf__realloc(NULL, 4);
    krf__mem_fail_at(0);
    void *f = krf__malloc(0);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(c);
    assert_null(d);
    assert_null(e);
    assert_non_null(f); /* zero bytes are not a failure */
    krf__mem_free(a);
    krf__mem_free(b);
    krf__mem_free(f);
}

static void mem_grow(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(krf__grow(&items, &capacity, i + 1, sizeof *items));
        assert_true(capacity > i);
        items[i] = i;
    }
    const uint64_t *before = items;
    size_t capacity_before = capacity;
    krf__mem_fail_at(1);
    assert_false(krf__grow(&items, &capacity, capacity + 1, sizeof *items));
    krf__mem_fail_at(0);
    assert_false(krf__grow(&items, &capacity, SIZE_MAX / sizeof *items, sizeof *items)); /* no overflow */
    assert_false(krf__grow(&items, &capacity, SIZE_MAX, 1));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, capacity_before);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(items[i], i);
    }
    krf__mem_free(items);
}

/* ---- fail -------------------------------------------------------------------------------------------------------- */

static void *other_thread(void *argument)
{
    const char **seen = argument;
    *seen = krf_error_message()[0] == '\0' ? "none" : "foreign";
    krf__fail(KRF_E_DTYPE, "mine");
    return NULL;
}

static void fail_message(void **state)
{
    (void)state;
    assert_int_equal(krf__fail(KRF_E_SHAPE, "add: %d and %s", 7, "x"), KRF_E_SHAPE);
    assert_string_equal(krf_error_message(), "add: 7 and x");
    krf__fail(KRF_E_FILE, "load: %s", krf_error_message()); /* the old message as an argument */
    assert_string_equal(krf_error_message(), "load: add: 7 and x");

    const char *seen = NULL;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "none");
    assert_string_equal(krf_error_message(), "load: add: 7 and x");

    assert_int_equal(krf__fail_memory(), KRF_E_MEMORY);
    assert_non_null(strstr(krf_error_message(), "out of host memory"));
}

static void fail_message_is_cut_between_characters(void **state)
{
    (void)state;
    char text[KRF__MESSAGE_SIZE * 2 + 1];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 2 < sizeof text; i += 2) {
            memcpy(text + i, "\xc3\xa4", 3);
        }
        krf__fail(KRF_E_PARSE, "%s", text);
        const char *message = krf_error_message();
        size_t length = strlen(message);
        assert_true(length < KRF__MESSAGE_SIZE && length > KRF__MESSAGE_SIZE - 8);
        assert_string_equal(message + length - 3, "...");
        assert_int_equal((unsigned char)message[length - 4], 0xa4); /* a whole character before the dots */
    }
}

/* ---- strbuf ------------------------------------------------------------------------------------------------------ */

static void strbuf_puts(void **state)
{
    (void)state;
    krf__str s = {0};
    assert_null(s.data);
    krf__str_put(&s, "ab");
    krf__str_char(&s, 'c');
    krf__str_putn(&s, "defg", 2);
    krf__str_printf(&s, "|%s|%d|", "x", -5);
    krf__str_i64(&s, INT64_MIN);
    assert_string_equal(s.data, "abcde|x|-5|-9223372036854775808");
    assert_int_equal(s.length, strlen(s.data));

    size_t capacity = s.capacity;
    krf__str_clear(&s);
    assert_string_equal(s.data, "");
    assert_int_equal(s.length, 0);
    assert_int_equal(s.capacity, capacity);

    for (int i = 0; i < 3000; i++) {
        krf__str_printf(&s, "%d,", i % 10);
    }
    assert_int_equal(s.length, 6000);
    assert_int_equal(memcmp(s.data + 5990, "5,6,7,8,9,", 11), 0);

    char *text = krf__str_take(&s);
    assert_int_equal(strlen(text), 6000);
    assert_null(s.data);
    krf__mem_free(text);

    text = krf__str_take(&s); /* nothing was added: an empty text, not a failure */
    assert_string_equal(text, "");
    krf__mem_free(text);
    krf__str_free(&s);
}

static void strbuf_shapes(void **state)
{
    (void)state;
    const int64_t shape[] = {3, 4, INT64_MAX};
    krf__str s = {0};
    for (int rank = 0; rank <= 3; rank++) {
        krf__str_shape(&s, rank, shape);
    }
    assert_string_equal(s.data, "()(3,)(3, 4)(3, 4, 9223372036854775807)");
    krf__str_free(&s);
}

static void check_f64(double value, const char *expected)
{
    krf__str s = {0};
    krf__str_f64(&s, value);
    assert_string_equal(s.data, expected);
    krf__str_free(&s);
}

static void strbuf_f64(void **state)
{
    (void)state;
    check_f64(0.1, "0.1");
    check_f64(1e-5, "1e-05");
    check_f64(0, "0.0");
    check_f64(-0.0, "-0.0");
    check_f64(1, "1.0");
    check_f64(-42, "-42.0");
    check_f64(123456789012345, "123456789012345.0");
    check_f64(1e15, "1e+15");
    check_f64(1e300, "1e+300");
    check_f64(2.5, "2.5");
    check_f64(0.1 + 0.2, "0.30000000000000004");
    check_f64(1.0 / 3, "0.3333333333333333");
    check_f64(DBL_MAX, "1.7976931348623157e+308");
    check_f64(DBL_MIN, "2.2250738585072014e-308");
    check_f64(4.9406564584124654e-324, "5e-324");
    check_f64(INFINITY, "inf");
    check_f64(-INFINITY, "-inf");
    check_f64(NAN, "nan");
    check_f64(-NAN, "nan");
}

static void strbuf_f64_reads_back(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = random ^ random >> 29;
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        krf__str s = {0};
        krf__str_f64(&s, value);
        back = strtod(s.data, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        assert_non_null(strpbrk(s.data, ".e"));
        krf__str_free(&s);
    }
}

/* Switches to a locale with this decimal point, compiling it if the machine only has its definition. */
static bool use_locale(const char *name, const char *point)
{
    char full[64], command[512];
    snprintf(full, sizeof full, "%s.UTF-8", name);
    if (setlocale(LC_NUMERIC, full) == NULL) {
        snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s >%s 2>&1", name, below(full), below("out"));
        if (system(command) < 0) {
            return false;
        }
        setenv("LOCPATH", root, 1);
        setlocale(LC_NUMERIC, full);
    }
    return strcmp(localeconv()->decimal_point, point) == 0;
}

static void check_in_locale(const char *name, const char *point)
{
    if (!use_locale(name, point)) {
        setlocale(LC_NUMERIC, "C");
        print_message("no locale %s here: skipped\n", name);
        skip();
    }
    check_f64(0.1, "0.1");
    check_f64(-1234.5, "-1234.5");
    check_f64(1.5e-7, "1.5e-07");
    check_f64(1e300, "1e+300");
    check_f64(3, "3.0");
    check_f64(1.0 / 3, "0.3333333333333333");
    setlocale(LC_NUMERIC, "C");
}

static void strbuf_f64_with_a_comma(void **state)
{
    (void)state;
    check_in_locale("de_DE", ",");
}

static void strbuf_f64_with_a_point_of_two_bytes(void **state)
{
    (void)state;
    check_in_locale("ps_AF", "\xd9\xab");
}

static void strbuf_failure_is_sticky(void **state)
{
    (void)state;
    krf__str s = {0};
    krf__str_put(&s, "kept");
    char large[200];
    memset(large, 'x', sizeof large);
    krf__mem_fail_at(1);
    krf__str_putn(&s, large, sizeof large);
    krf__mem_fail_at(0);
    assert_true(s.failed);
    krf__str_put(&s, "more");
    krf__str_printf(&s, "%d", 1);
    krf__str_f64(&s, 1.5);
    assert_string_equal(s.data, "kept");
    assert_null(krf__str_take(&s));
    assert_null(s.data);
    assert_false(s.failed);
}

/* ---- hash -------------------------------------------------------------------------------------------------------- */

/* Values of the self-test of xxhsum (seed 0). They are part of the format of the disk cache. */
static void hash_vectors(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        uint64_t hash;
    } vectors[] = {
        {0, 0x2d06800538d394c2},   {1, 0xc44bdff4074eecdb},   {6, 0x27b56a84cd2d7325},   {12, 0xa713daf0dfbb77e7},
        {24, 0xa3fe70bf9d3510eb},  {48, 0x397da259ecba1f11},  {80, 0xbcdefbbb2c47c90a},  {195, 0xcd94217ee362ec3a},
        {403, 0xcdeb804d65c6dea4}, {512, 0x617e49599013cb6b}, {2048, 0xdd59e2c3a5f038e0}, {2367, 0xcb37aeb9e5d361ed},
    };
    unsigned char data[2367];
    uint64_t generator = 2654435761u;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)(generator >> 56);
        generator *= 11400714785074694797u;
    }
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        assert_int_equal(krf__hash64(data, vectors[i].bytes), vectors[i].hash);
    }
    char hex[33];
    krf__hash_hex(krf__hash_128("", 0), hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    krf__hash128 one = krf__hash_128(data, 1);
    assert_int_equal(one.low, 0xc44bdff4074eecdb);
    assert_int_equal(one.high, 0xa6cd5e9392000f6a);
    krf__hash_hex((krf__hash128){.high = 0x0123456789abcdef, .low = 1}, hex);
    assert_string_equal(hex, "0123456789abcdef0000000000000001");
}

/* ---- map --------------------------------------------------------------------------------------------------------- */

static int freed;

static void count_free(void *value)
{
    assert_non_null(value);
    freed++;
}

static void map_grows(void **state)
{
    (void)state;
    enum { N = 5000 };
    static int values[N];
    krf__map map = {0};
    char key[32];
    assert_null(krf__map_get(&map, "x", 1));
    for (int i = 0; i < N; i++) {
        size_t bytes = (size_t)snprintf(key, sizeof key, "key %d", i);
        assert_null(krf__map_get(&map, key, bytes));
        assert_true(krf__map_put(&map, key, bytes, &values[i]));
    }
    assert_int_equal(map.count, N);
    assert_true(map.count < map.capacity);
    for (int i = 0; i < N; i++) {
        size_t bytes = (size_t)snprintf(key, sizeof key, "key %d", i);
        assert_ptr_equal(krf__map_get(&map, key, bytes), &values[i]);
    }
    assert_true(krf__map_put(&map, "key 7", 5, &values[9])); /* replaces */
    assert_ptr_equal(krf__map_get(&map, "key 7", 5), &values[9]);
    assert_int_equal(map.count, N);

    size_t capacity = map.capacity;
    krf__map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_int_equal(map.capacity, capacity);
    assert_null(krf__map_get(&map, "key 7", 5));
    assert_true(krf__map_put(&map, "key 7", 5, &values[1]));
    assert_ptr_equal(krf__map_get(&map, "key 7", 5), &values[1]);
    freed = 0;
    krf__map_free(&map, count_free);
    assert_int_equal(freed, 1);
    assert_null(map.entries);
}

static void map_compares_whole_keys(void **state)
{
    (void)state;
    int a, b, c, d, e;
    krf__map map = {0};
    assert_true(krf__map_put(&map, "ab\0c", 4, &a));
    assert_true(krf__map_put(&map, "ab\0d", 4, &b));
    assert_true(krf__map_put(&map, "ab", 2, &c));
    assert_true(krf__map_put(&map, "ab", 3, &d));
    assert_true(krf__map_put(&map, NULL, 0, &e));
    assert_ptr_equal(krf__map_get(&map, "ab\0c", 4), &a);
    assert_ptr_equal(krf__map_get(&map, "ab\0d", 4), &b);
    assert_ptr_equal(krf__map_get(&map, "ab", 2), &c);
    assert_ptr_equal(krf__map_get(&map, "ab", 3), &d);
    assert_ptr_equal(krf__map_get(&map, "", 0), &e);
    assert_int_equal(map.count, 5);
    krf__map_free(&map, NULL);
}

/* Keys that all belong to the last place of a table of 16: probing wraps around. */
static void map_buckets_collide(void **state)
{
    (void)state;
    uint32_t keys[12];
    size_t count = 0;
    krf__map map = {0};
    for (uint32_t k = 0; count < 12; k++) {
        if ((krf__hash64(&k, sizeof k) & 15) == 15) {
            keys[count++] = k;
        }
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(krf__map_put(&map, &keys[i], sizeof keys[i], &keys[i]));
    }
    assert_int_equal(map.capacity, 16);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(krf__map_get(&map, &keys[i], sizeof keys[i]), &keys[i]);
    }
    for (uint32_t k = keys[11] + 1, tried = 0; tried < 5; k++) {
        if ((krf__hash64(&k, sizeof k) & 15) == 15) {
            assert_null(krf__map_get(&map, &k, sizeof k));
            tried++;
        }
    }
    krf__map_free(&map, NULL);
}

/* Two keys with one 64-bit hash cannot be found by trying, so an entry is given the hash of another key. */
static void check_forged(const char *forged)
{
    int value, own;
    size_t bytes = strlen(forged);
    krf__map map = {0};
    assert_true(krf__map_put(&map, "honest", 6, &value));
    krf__map_entry moved = {0};
    for (size_t i = 0; i < map.capacity; i++) {
        if (map.entries[i].key != NULL) {
            moved = map.entries[i];
            map.entries[i] = (krf__map_entry){0};
        }
    }
    moved.hash = krf__hash64(forged, bytes);
    map.entries[moved.hash & (map.capacity - 1)] = moved;
    assert_null(krf__map_get(&map, forged, bytes));
    assert_true(krf__map_put(&map, forged, bytes, &own));
    assert_int_equal(map.count, 2);
    assert_ptr_equal(krf__map_get(&map, forged, bytes), &own);
    krf__map_free(&map, NULL);
}

static void map_hashes_are_not_trusted(void **state)
{
    (void)state;
    check_forged("forged");
    check_forged("hon");
    check_forged("honestly");
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

static void file_publish_and_read(void **state)
{
    (void)state;
    const krf__piece pieces[] = {{"ab", 2}, {NULL, 0}, {"c\0d", 3}};
    void *data;
    size_t bytes;
    int at = open(root, O_RDONLY | O_DIRECTORY);
    assert_true(at >= 0);
    assert_int_equal(krf__file_publish(at, "f", pieces, 3), 0);
    assert_int_equal(krf__file_read(at, "f", true, &data, &bytes), 0);
    assert_int_equal(bytes, 5);
    assert_memory_equal(data, "abc\0d\0", 6); /* a NUL behind the data */
    krf__mem_free(data);

    struct stat about;
    assert_int_equal(fstatat(at, "f", &about, 0), 0);
    assert_int_equal(about.st_mode & 07777, 0600);

    assert_int_equal(krf__file_publish(AT_FDCWD, below("f"), NULL, 0), 0); /* replaces, with nothing */
    assert_int_equal(krf__file_read(AT_FDCWD, below("f"), false, &data, &bytes), 0);
    assert_int_equal(bytes, 0);
    assert_string_equal(data, "");
    krf__mem_free(data);

    size_t size = 3 << 20;
    char *large = malloc(size);
    assert_non_null(large);
    for (size_t i = 0; i < size; i++) {
        large[i] = (char)(i * 7 + i / 4096);
    }
    const krf__piece whole = {large, size};
    assert_int_equal(krf__file_publish(at, "f", &whole, 1), 0);
    assert_int_equal(krf__file_read(at, "f", true, &data, &bytes), 0);
    assert_int_equal(bytes, size);
    assert_memory_equal(data, large, size);
    krf__mem_free(data);
    free(large);
    assert_int_equal(files_in(root), 1); /* no temporary file is left */
    close(at);
}

static void file_of_unknown_size(void **state)
{
    (void)state;
    void *data;
    size_t bytes;
    if (krf__file_read(AT_FDCWD, "/proc/self/status", false, &data, &bytes) == ENOENT) {
        print_message("no /proc here: skipped\n");
        skip();
    }
    assert_true(bytes > 100); /* its size is said to be 0 */
    assert_non_null(strstr(data, "Pid:"));
    krf__mem_free(data);
}

static void file_read_refuses(void **state)
{
    (void)state;
    void *data;
    size_t bytes;
    assert_int_equal(krf__file_read(AT_FDCWD, below("absent"), true, &data, &bytes), ENOENT);
    assert_null(data);
    assert_int_equal(krf__file_read(AT_FDCWD, root, true, &data, &bytes), EISDIR);
    assert_int_equal(mkfifo(below("pipe"), 0600), 0);
    alarm(20); /* opening a pipe must not wait for its other end */
    assert_int_equal(krf__file_read(AT_FDCWD, below("pipe"), true, &data, &bytes), EINVAL);
    alarm(0);

    const krf__piece piece = {"x", 1};
    assert_int_equal(krf__file_publish(AT_FDCWD, below("f"), &piece, 1), 0);
    assert_int_equal(symlink("f", below("link")), 0);
    assert_int_equal(krf__file_read(AT_FDCWD, below("link"), true, &data, &bytes), ELOOP);
    assert_int_equal(krf__file_read(AT_FDCWD, below("link"), false, &data, &bytes), 0);
    krf__mem_free(data);
}

static void file_publish_cleans_up(void **state)
{
    (void)state;
    const krf__piece piece = {"x", 1};
    assert_int_equal(krf__file_publish(AT_FDCWD, below("no/f"), &piece, 1), ENOENT);
    assert_int_equal(mkdir(below("taken"), 0700), 0);
    assert_int_not_equal(krf__file_publish(AT_FDCWD, below("taken"), &piece, 1), 0);
    assert_int_equal(files_in(root), 1);

    /* A link in the place of the file is replaced, not written through. */
    assert_int_equal(krf__file_publish(AT_FDCWD, below("f"), &piece, 1), 0);
    assert_int_equal(symlink("f", below("link")), 0);
    const krf__piece other = {"other", 5};
    assert_int_equal(krf__file_publish(AT_FDCWD, below("link"), &other, 1), 0);
    struct stat about;
    assert_int_equal(lstat(below("link"), &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_int_equal(stat(below("f"), &about), 0);
    assert_int_equal(about.st_size, 1);
}

/* Runs in a process of its own, where SIGXFSZ has its default effect: the end. */
static int publish_beyond_the_limit(void)
{
    static char large[100000];
    const krf__piece old = {"old", 3}, new = {large, sizeof large};
    const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    if (krf__file_publish(AT_FDCWD, below("f"), &old, 1) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    if (krf__file_publish(AT_FDCWD, below("f"), &new, 1) != EFBIG) {
        return 2;
    }
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGXFSZ) ? 3 : 0;
}

static void file_size_limit(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        _exit(publish_beyond_the_limit());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(files_in(root), 1);
    void *data;
    size_t bytes;
    assert_int_equal(krf__file_read(AT_FDCWD, below("f"), true, &data, &bytes), 0);
    assert_string_equal(data, "old");
    krf__mem_free(data);
}

/* ---- private folders --------------------------------------------------------------------------------------------- */

static void folder_is_created(void **state)
{
    (void)state;
    int fd;
    struct stat about;
    assert_int_equal(krf__folder_open_private(below("a//b/c///"), &fd), 0);
    assert_int_equal(fstat(fd, &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_int_equal(about.st_mode & 07777, 0700);
    close(fd);
    assert_int_equal(stat(below("a"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(krf__folder_open_private(below("a/b/c"), &fd), 0); /* is there already */
    close(fd);
    assert_int_equal(chmod(below("a/b/c"), 0755), 0); /* others may read */
    assert_int_equal(krf__folder_open_private(below("a/b/c"), &fd), 0);
    close(fd);
    assert_int_equal(krf__folder_open_private("", &fd), ENOENT);
    assert_int_equal(fd, -1);
}

static void check_refused(const char *path)
{
    int fd = 0;
    assert_int_equal(krf__folder_open_private(path, &fd), EPERM);
    assert_int_equal(fd, -1);
}

static void folder_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(below("open"), 0700), 0);
    assert_int_equal(chmod(below("open"), 0777), 0);
    check_refused(below("open"));
    assert_int_equal(chmod(below("open"), 01777), 0); /* as /tmp: sticky is not private either */
    check_refused(below("open"));
    assert_int_equal(chmod(below("open"), 0720), 0);
    check_refused(below("open"));
    assert_int_equal(chmod(below("open"), 0702), 0);
    check_refused(below("open"));

    assert_int_equal(mkdir(below("real"), 0700), 0);
    assert_int_equal(symlink("real", below("link")), 0);
    check_refused(below("link"));
    check_refused(below("link/"));
    check_refused(below("link//"));
    assert_int_equal(symlink("nowhere", below("dangling")), 0);
    check_refused(below("dangling"));
    assert_int_not_equal(access(below("nowhere"), F_OK), 0);

    const krf__piece piece = {"x", 1};
    assert_int_equal(krf__file_publish(AT_FDCWD, below("file"), &piece, 1), 0);
    check_refused(below("file"));
}

static void folder_of_another_user_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(below("foreign"), 0700), 0);
    if (geteuid() != 0 || chown(below("foreign"), 65534, 65534) != 0) {
        print_message("only root can give a folder away: skipped\n");
        skip();
    }
    check_refused(below("foreign"));
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

static char logged[4096];

static void log_append(void *user, const char *line)
{
    assert_string_equal(user, "user");
    assert_null(strchr(line, '\n'));
    strcat(logged, line);
    strcat(logged, "|");
    errno = ENOTTY;
}

static void log_to_a_function(void **state)
{
    (void)state;
    char user[] = "user", large[1500];
    krf__log log;
    logged[0] = '\0';
    krf__log_open(&log, log_append, user);
    krf__log_line(&log, "one %d", 1);
    errno = EBADF;
    krf__log_line(&log, "%s", "two\n\nthree\n");
    assert_int_equal(errno, EBADF);
    assert_string_equal(logged, "one 1|two|three|");

    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    krf__log_line(&log, "%s", large);
    assert_int_equal(strlen(logged), strlen("one 1|two|three|") + sizeof large);
    krf__mem_fail_at(1);
    krf__log_line(&log, "%s", large); /* cut, not lost */
    krf__mem_fail_at(0);
    assert_int_equal(strlen(logged), strlen("one 1|two|three|") + sizeof large + 512);
    krf__log_close(&log);
    krf__log_line(&log, "closed");
    krf__log_line(NULL, "none");
    assert_null(strstr(logged, "closed"));
}

static void log_to_a_file(void **state)
{
    (void)state;
    krf__log log;
    void *data;
    size_t bytes;
    setenv("KRF_LOG", below("log"), 1);
    krf__log_open(&log, NULL, NULL);
    krf__log_line(&log, "a\nb");
    assert_int_equal(krf__file_read(AT_FDCWD, below("log"), true, &data, &bytes), 0); /* flushed at once */
    assert_string_equal(data, "kerfuse: a\nkerfuse: b\n");
    krf__mem_free(data);
    krf__log_close(&log);

    krf__log_open(&log, NULL, NULL); /* appends */
    krf__log_line(&log, "c");
    krf__log_close(&log);
    assert_int_equal(krf__file_read(AT_FDCWD, below("log"), true, &data, &bytes), 0);
    assert_string_equal(data, "kerfuse: a\nkerfuse: b\nkerfuse: c\n");
    krf__mem_free(data);

    setenv("KRF_LOG", below("no/such/folder"), 1);
    krf__log_open(&log, NULL, NULL);
    krf__log_line(&log, "nowhere");
    krf__log_close(&log);
    unsetenv("KRF_LOG");
    krf__log_open(&log, NULL, NULL);
    assert_null(log.file);
    krf__log_close(&log);
}

/* ---- everything, with memory that runs out ----------------------------------------------------------------------- */

typedef struct things {
    krf__map map;
    krf__str str;
    int fd;
    void *data;
    char *text;
} things;

/* True when every step was done. */
static bool do_everything(things *t)
{
    static int values[40];
    for (int i = 0; i < 40; i++) {
        if (!krf__map_put(&t->map, &i, sizeof i, &values[i])) {
            return false;
        }
        krf__str_printf(&t->str, "%d: ", i);
        krf__str_f64(&t->str, i / 8.0);
    }
    if (krf__folder_open_private(below("deep/folder"), &t->fd) != 0) {
        return false;
    }
    size_t bytes = t->str.length;
    const krf__piece piece = {t->str.data, bytes};
    if (t->str.failed || krf__file_publish(t->fd, "f", &piece, 1) != 0 ||
        krf__file_read(t->fd, "f", true, &t->data, &bytes) != 0) {
        return false;
    }
    assert_int_equal(bytes, t->str.length);
    assert_memory_equal(t->data, t->str.data, bytes);
    return (t->text = krf__str_take(&t->str)) != NULL;
}

static void everything_without_memory(void **state)
{
    (void)state;
    bool done = false;
    long n = 0;
    while (!done) {
        things t = {.fd = -1};
        assert_true(++n < 1000);
        krf__mem_fail_at(n);
        done = do_everything(&t);
        krf__mem_fail_at(0);
        for (size_t i = 0; i < t.map.count; i++) { /* whatever was put is there, and nothing else */
            int key = (int)i;
            assert_non_null(krf__map_get(&t.map, &key, sizeof key));
        }
        int next = (int)t.map.count;
        assert_null(krf__map_get(&t.map, &next, sizeof next));
        if (t.fd >= 0) {
            close(t.fd);
        }
        krf__map_free(&t.map, NULL);
        krf__str_free(&t.str);
        krf__mem_free(t.data);
        krf__mem_free(t.text);
    }
    assert_true(n > 45); /* 40 keys at least, the tables, the text, the names, the data */
    assert_int_equal(files_in(root), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(mem_fails_from_the_nth_on),
        TEST(mem_grow),
        TEST(fail_message),
        TEST(fail_message_is_cut_between_characters),
        TEST(strbuf_puts),
        TEST(strbuf_shapes),
        TEST(strbuf_f64),
        TEST(strbuf_f64_reads_back),
        TEST(strbuf_f64_with_a_comma),
        TEST(strbuf_f64_with_a_point_of_two_bytes),
        TEST(strbuf_failure_is_sticky),
        TEST(hash_vectors),
        TEST(map_grows),
        TEST(map_compares_whole_keys),
        TEST(map_buckets_collide),
        TEST(map_hashes_are_not_trusted),
        TEST(file_publish_and_read),
        TEST(file_of_unknown_size),
        TEST(file_read_refuses),
        TEST(file_publish_cleans_up),
        TEST(file_size_limit),
        TEST(folder_is_created),
        TEST(folder_is_refused),
        TEST(folder_of_another_user_is_refused),
        TEST(log_to_a_function),
        TEST(log_to_a_file),
        TEST(everything_without_memory),
    };
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
