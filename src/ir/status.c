/* Names and meanings of statuses, from status.def. */
#include <kerfuse/base.h>

typedef struct row {
    const char *name, *text;
} row;

static const row rows[] = {
#define STATUS(name, text) {"KRF_" #name, text},
#include "ir/status.def"
#undef STATUS
};

static row row_of(krf_status status) {
    return (size_t)status < sizeof rows / sizeof *rows ? rows[status] : (row){"?", "not a status of this version"};
}

const char *krf_status_name(krf_status status) { return row_of(status).name; }
const char *krf_status_text(krf_status status) { return row_of(status).text; }
