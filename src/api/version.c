/* The version of the library that is loaded, which need not be the one whose header a program was compiled with. */
#include <kerfuse/base.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

int krf_version(void) { return KRF_VERSION_NUMBER; }

const char *krf_version_text(void) {
    return TEXT(KRF_VERSION_MAJOR) "." TEXT(KRF_VERSION_MINOR) "." TEXT(KRF_VERSION_PATCH);
}
