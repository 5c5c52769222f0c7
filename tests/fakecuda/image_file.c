/* Marking and checking images. */
#include "image_file.h"

#include "image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the 64-bit ELF header: the section headers, which the linker puts last, give the size of the file. */
enum { SECTIONS_AT = 40, SECTION_SIZE_AT = 58, SECTION_COUNT_AT = 60 };
static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', 2};

static size_t elf_size(const unsigned char *object) {
    uint64_t at;
    uint16_t size, count;
    memcpy(&at, object + SECTIONS_AT, sizeof at);
    memcpy(&size, object + SECTION_SIZE_AT, sizeof size);
    memcpy(&count, object + SECTION_COUNT_AT, sizeof count);
    return at < (1u << 28) ? (size_t)at + (size_t)size * count : 0;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t checksum(const unsigned char *object, size_t bytes) {
    uint32_t sum = 2166136261u;
    for (size_t i = FAKECUDA_HEADER; i < bytes; i++) {
        sum = (sum ^ object[i]) * 16777619u;
    }
    return sum;
}

bool fake_image_seal(unsigned char *object, size_t bytes, unsigned arch) {
    if (bytes < FAKECUDA_HEADER || memcmp(object, magic, sizeof magic) != 0 || elf_size(object) != bytes) {
        return false;
    }
    uint32_t sum = checksum(object, bytes);
    memcpy(object + FAKECUDA_MARK_AT, FAKECUDA_MARK, sizeof FAKECUDA_MARK - 1);
    memcpy(object + FAKECUDA_SUM_AT, &sum, sizeof sum);
    memcpy(object + FAKECUDA_FLAGS_AT, &arch, sizeof arch);
    return true;
}

unsigned char *fake_image_unseal(const void *image, size_t *bytes, unsigned *arch) {
    const unsigned char *sealed = image;
    uint32_t sum;
    if (memcmp(sealed, magic, sizeof magic) != 0
        || memcmp(sealed + FAKECUDA_MARK_AT, FAKECUDA_MARK, sizeof FAKECUDA_MARK - 1) != 0) {
        return NULL;
    }
    *bytes = elf_size(sealed);
    memcpy(&sum, sealed + FAKECUDA_SUM_AT, sizeof sum);
    memcpy(arch, sealed + FAKECUDA_FLAGS_AT, sizeof *arch);
    if (*bytes < FAKECUDA_HEADER || checksum(sealed, *bytes) != sum) {
        return NULL;
    }
    unsigned char *object = malloc(*bytes);
    if (object) {
        memcpy(object, sealed, *bytes);
        memset(object + FAKECUDA_MARK_AT, 0, FAKECUDA_SUM_AT + sizeof sum - FAKECUDA_MARK_AT);
        memset(object + FAKECUDA_FLAGS_AT, 0, sizeof *arch);
    }
    return object;
}
