/* What a cubin says of its kernel: registers a thread and bytes of local memory. A cubin is an ELF file; the attributes stand in
 * the sections .nv.info (frame sizes, of all functions) and as EIATTR_REGCOUNT, both (code, size, symbol, value). The numbers
 * are those that `cuobjdump --dump-resource-usage` prints. */
#ifndef TESTS_GOLDEN_CUBIN_H
#define TESTS_GOLDEN_CUBIN_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct cubin_usage {
    int registers, frame_bytes; /* -1: not found */
} cubin_usage;

enum { FORMAT_SIZED = 4, ATTRIBUTE_FRAME_SIZE = 0x11, ATTRIBUTE_REGCOUNT = 0x2f };

static uint32_t word(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* One section of attributes: format byte, code byte, and for sized ones a length of 2 bytes and that much data. */
static void read_attributes(const unsigned char *at, size_t size, cubin_usage *usage) {
    for (const unsigned char *end = at + size; end - at >= 4;) {
        size_t length = at[0] == FORMAT_SIZED ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        if (length + 4 > (size_t)(end - at)) {
            return;
        }
        if (at[0] == FORMAT_SIZED && length == 8 && at[1] == ATTRIBUTE_FRAME_SIZE) {
            usage->frame_bytes = (int)word(at + 8);
        } else if (at[0] == FORMAT_SIZED && length == 8 && at[1] == ATTRIBUTE_REGCOUNT) {
            usage->registers = (int)word(at + 8);
        }
        at += 4 + length;
    }
}

/* Of a cubin with one function. */
static cubin_usage cubin_read(const void *image, size_t bytes) {
    cubin_usage usage = {-1, -1};
    const unsigned char *file = image;
    Elf64_Ehdr head;
    if (bytes < sizeof head) {
        return usage;
    }
    memcpy(&head, file, sizeof head);
    for (int i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section, names;
        if (head.e_shoff + ((size_t)i + 1) * sizeof section > bytes || head.e_shstrndx >= head.e_shnum) {
            return usage;
        }
        memcpy(&section, file + head.e_shoff + (size_t)i * sizeof section, sizeof section);
        memcpy(&names, file + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
        const char *name = (const char *)file + names.sh_offset + section.sh_name;
        if (strncmp(name, ".nv.info", 8) == 0 && section.sh_offset + section.sh_size <= bytes) {
            read_attributes(file + section.sh_offset, section.sh_size, &usage);
        }
    }
    return usage;
}

#endif
