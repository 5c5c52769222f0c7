/* Damaged and foreign entries of the disk cache, seen from outside: real kernels in real files that are cut, flipped,
 * exchanged and forged. A fault is a miss: the result is right, the counters say so, the call does not fail, and the
 * entry goes. With KRF_EXHAUSTIVE every cut and every bit of the file, without it those of the header and some others.
 */
#include "failures/scenario.h"
#include "torture/torture.h"

#include "base/hash.h"
#include "base/mem.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 40, MOST = 1 << 20 };

static char cache[160];
static char path[2][160];            /* of kernels 0 and 1 */
static unsigned char entry[2][MOST]; /* their files */
static unsigned char changed[MOST];
static size_t size[2], key_bytes[2];
static bool exhaustive;

static uint64_t number(const unsigned char *at) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | at[i];
    }
    return value;
}

static void put_number(unsigned char *at, uint64_t value) {
    for (int i = 0; i < 8; i++) {
        at[i] = (unsigned char)(value >> 8 * i);
    }
}

/* Makes header and checksum say what the rest is: a forger's work. */
static void forge(unsigned char *data, size_t bytes, size_t new_key_bytes) {
    size_t start = HEADER + new_key_bytes;
    put_number(data + 16, new_key_bytes);
    put_number(data + 24, bytes - start);
    put_number(data + 32, krf__hash64(data + start, bytes - start));
}

static void make_entries(void) {
    for (int k = 0; k < 2; k++) {
        torture_path found[3];
        scene_empty(cache);
        torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, k, k + 1);
        if (torture_find(cache, ".krf", found, 3) != 1) {
            torture_wrong("one kernel made %d entries", torture_find(cache, ".krf", found, 3));
            return;
        }
        memcpy(path[k], found[0].text, sizeof path[k]);
        size[k] = torture_read(path[k], entry[k], MOST);
        key_bytes[k] = (size_t)number(entry[k] + 16);
        if (size[k] <= HEADER + key_bytes[k] || number(entry[k] + 24) != size[k] - HEADER - key_bytes[k]) {
            torture_wrong("an entry is not what disk.c documents");
        }
    }
    char *end = strrchr(path[0], '/');
    *end = '\0';
    mkdir(path[0], 0700); /* made for kernel 0 and emptied for kernel 1 */
    *end = '/';
}

/* What is in the file of kernel 0 must not be used. */
static void must_miss(const char *what, size_t at) {
    krf_cache_stats s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, 1);
    if (s.disk_hits != 0 || s.disk_faults != 1 || s.compiled != 0 || s.interpreted != 1) {
        torture_wrong("%s at %zu: %lld hits, %lld faults", what, at, (long long)s.disk_hits, (long long)s.disk_faults);
    }
}

static void must_hit(void) {
    torture_write(path[0], entry[0], size[0]);
    krf_cache_stats s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, 1);
    if (s.disk_hits != 1 || s.disk_faults != 0 || s.interpreted != 0) {
        torture_wrong("the undamaged entry: %lld hits, %lld faults", (long long)s.disk_hits, (long long)s.disk_faults);
    }
}

/* The same with a cache that may write: the entry is compiled anew, replaced, and then found. */
static void must_heal(const char *what, int hits) {
    krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 1);
    if (s.disk_hits != hits || s.disk_faults != 1 || s.compiled != 1) {
        torture_wrong("%s: %lld hits, %lld faults, %lld compiled", what, (long long)s.disk_hits,
                      (long long)s.disk_faults, (long long)s.compiled);
    }
    if (torture_read(path[0], changed, MOST) != size[0] || memcmp(changed, entry[0], size[0]) != 0) {
        torture_wrong("%s: the entry was not replaced by the right one", what);
    }
}

static void test_cuts(void) {
    long tried = 0;
    size_t step = exhaustive ? 1 : 47;
    for (size_t cut = 0; cut < size[0]; cut += cut < HEADER + 8 || cut + 9 > size[0] ? 1 : step) {
        torture_write(path[0], entry[0], cut);
        must_miss("a cut", cut);
        tried++;
    }
    for (size_t more = 1; more < 20; more++) {
        torture_write(path[0], entry[0], size[0] + more); /* zeros follow */
        must_miss("something behind the end", more);
        tried++;
    }
    torture_write(path[0], entry[0], size[0] / 2);
    must_heal("half an entry", 0);
    printf("%ld cuts of %zu bytes\n", tried, size[0]);
}

static void test_flips(void) {
    long tried = 0;
    memcpy(changed, entry[0], size[0]);
    for (size_t bit = 0; bit < size[0] * 8; bit += exhaustive || bit < HEADER * 8 ? 1 : 8 * 31 + 3) {
        changed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        torture_write(path[0], changed, size[0]);
        must_miss("a flipped bit", bit);
        changed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        tried++;
    }
    must_hit();
    printf("%ld flipped bits of %zu\n", tried, size[0] * 8);
}

/* The other kernel's valid entry under this one's name, as if the hashes of their keys were the same; and the reverse.
 */
static void test_swapped(void) {
    char bucket[160];
    memcpy(bucket, path[1], sizeof bucket);
    *strrchr(bucket, '/') = '\0';
    mkdir(bucket, 0700);
    torture_write(path[0], entry[1], size[1]);
    torture_write(path[1], entry[0], size[0]);
    krf_cache_stats s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, 2);
    if (s.disk_hits != 0 || s.disk_faults != 2) {
        torture_wrong("exchanged entries: %lld hits, %lld faults", (long long)s.disk_hits, (long long)s.disk_faults);
    }
    s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 2);
    if (s.disk_hits != 0 || s.disk_faults != 2 || s.compiled != 2) {
        torture_wrong("exchanged entries: %lld compiled", (long long)s.compiled);
    }
    s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 2);
    if (s.disk_hits != 2) {
        torture_wrong("exchanged entries do not heal");
    }
    remove(path[1]);
}

/* The right name, a whole entry, a right checksum, but the other kernel's code, and a key that differs in one byte. A
 * cache that does not compare every byte of the key runs the wrong code. */
static void test_planted(void) {
    size_t code = size[1] - HEADER - key_bytes[1];
    const size_t at[] = {0, 1, 100, key_bytes[0] / 2, key_bytes[0] - 2, key_bytes[0] - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        memcpy(changed, entry[0], HEADER + key_bytes[0]);
        memcpy(changed + HEADER + key_bytes[0], entry[1] + HEADER + key_bytes[1], code);
        changed[HEADER + at[i]] ^= 1;
        forge(changed, HEADER + key_bytes[0] + code, key_bytes[0]);
        torture_write(path[0], changed, HEADER + key_bytes[0] + code);
        must_miss("a key that differs", at[i]);
    }
    for (size_t shorter = 0; shorter < key_bytes[0]; shorter += key_bytes[0] / 7 + 1) { /* the beginning of the key */
        memcpy(changed, entry[0], HEADER + shorter);
        memcpy(changed + HEADER + shorter, entry[1] + HEADER + key_bytes[1], code);
        forge(changed, HEADER + shorter + code, shorter);
        torture_write(path[0], changed, HEADER + shorter + code);
        must_miss("a key that is a part", shorter);
    }
}

static void test_schema(void) {
    for (unsigned schema = 0; schema < 6; schema++) {
        memcpy(changed, entry[0], size[0]);
        changed[8] = (unsigned char)schema;
        torture_write(path[0], changed, size[0]);
        if (schema != entry[0][8]) {
            must_miss("another schema", schema);
        }
    }
    memcpy(changed, "KERFUSE\n", 8);
    torture_write(path[0], changed, size[0]);
    must_miss("another magic", 0);
}

/* Whole and with the right key, but what it holds does not load: another processor's code, another kernel's, a cut
 * object, none. Counted as found, dropped, compiled anew. */
static void test_foreign_code(void) {
    size_t start = HEADER + key_bytes[0], other = size[1] - HEADER - key_bytes[1];
    memcpy(changed, entry[0], size[0]);
    changed[start + offsetof(Elf64_Ehdr, e_machine)] ^= 0x55;
    forge(changed, size[0], key_bytes[0]);
    torture_write(path[0], changed, size[0]);
    must_heal("another processor's code", 0);

    memcpy(changed, entry[0], start);
    memcpy(changed + start, entry[1] + HEADER + key_bytes[1], other);
    forge(changed, start + other, key_bytes[0]);
    torture_write(path[0], changed, start + other);
    must_heal("another kernel's code", 0);

    memcpy(changed, entry[0], size[0]);
    forge(changed, start + 3000, key_bytes[0]);
    torture_write(path[0], changed, start + 3000);
    must_heal("a cut object", 0);

    memcpy(changed, entry[0], start);
    forge(changed, start, key_bytes[0]);
    torture_write(path[0], changed, start);
    must_heal("no code", 0);
}

/* Another architecture's entry is another key: it lies beside this one's, and under this one's name it is a miss. */
static void test_other_architecture(void) {
    char *isa = memmem(entry[0] + HEADER, key_bytes[0], "isa ", 4);
    if (isa == NULL) {
        torture_wrong("the key does not name the instruction set");
        return;
    }
    memcpy(changed, entry[0], size[0]);
    changed[(unsigned char *)isa - entry[0] + 4] ^= 1;
    torture_write(path[0], changed, size[0]);
    must_miss("another instruction set", 0);
    must_hit();
}

int main(void) {
    exhaustive = getenv("KRF_EXHAUSTIVE") != NULL;
    const char *folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    snprintf(cache, sizeof cache, "%s/cache", folder);
    long before = krf__mem_live();
    int files = scene_open_files();
    make_entries();
    if (torture_failures() == 0) {
        must_hit();
        test_cuts();
        test_flips();
        test_swapped();
        test_planted();
        test_schema();
        test_foreign_code();
        test_other_architecture();
    }
    if (krf__mem_live() != before || scene_left_over() != 0 || scene_open_files() != files) {
        torture_wrong("%ld blocks and %d descriptors leaked, %d temporary files left", krf__mem_live() - before,
                      scene_open_files() - files, scene_left_over());
    }
    scene_remove_folder();
    printf("%s\n", torture_failures() == 0 ? "ok" : "FAILED");
    return torture_failures() != 0;
}
