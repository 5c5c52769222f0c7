/* The files of codegen/skeleton and codegen/math as text inside the library. CMake makes the definition (embed.cmake). */
#ifndef KRF_CODEGEN_EMBEDDED_H
#define KRF_CODEGEN_EMBEDDED_H

struct krf__embedded {
    const char *name; /* the file's name without its folder: "map.cu", "real.h" */
    const char *text; /* its whole text */
};

/* Sorted by path; ends with a NULL name. */
extern const struct krf__embedded krf__embedded[];

#endif
