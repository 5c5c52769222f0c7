/* Structs whose first member is their size, set by the caller: a newer or older caller gets the members that it knows.
 */
#ifndef KRF_API_INFO_H
#define KRF_API_INFO_H

#include "base/fail.h"

#include <string.h>

/* full: a struct of `bytes` bytes; info: the caller's. Its size stays as it was. */
static inline krf_status krf__info_give(const char *name, void *info, const void *full, size_t bytes) {
    size_t size = 0;
    if (info != NULL) {
        memcpy(&size, info, sizeof size);
    }
    if (size <= sizeof size) {
        return krf__fail(KRF_E_ARGUMENT, "%s: set the size of the struct to its sizeof", name);
    }
    memcpy((char *)info + sizeof size, (const char *)full + sizeof size, (size < bytes ? size : bytes) - sizeof size);
    return KRF_OK;
}

#endif
