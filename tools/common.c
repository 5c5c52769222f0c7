/* What fuserun and fusedump share (common.h). Thin: everything of substance is the library's. */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *tool_name = "kerfuse";

static void complain(const char *format, va_list args) {
    fflush(stdout);
    fprintf(stderr, "%s: ", tool_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int tool_failed(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return TOOL_FAILED;
}

int tool_usage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", tool_name);
    return TOOL_USAGE;
}

size_t tool_name_length(const char *text) {
    size_t n = 0;
    while (isalpha((unsigned char)text[n]) || text[n] == '_' || (n > 0 && isdigit((unsigned char)text[n]))) {
        n++;
    }
    return n;
}

const tool_input *tool_find_input(const tool_inputs *inputs, const char *name, size_t length) {
    for (int i = 0; i < inputs->n; i++) {
        if (strlen(inputs->items[i].name) == length && memcmp(inputs->items[i].name, name, length) == 0) {
            return &inputs->items[i];
        }
    }
    return NULL;
}

/* Whether the text is an integer of any length: a sign and digits. */
static bool is_integer(const char *text) {
    text += *text == '-' || *text == '+';
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* False for an integer that neither i64 nor u64 has. */
static bool fits_64_bits(const char *text) {
    errno = 0;
    if (*text == '-') {
        (void)strtoll(text, NULL, 10);
    } else {
        (void)strtoull(text, NULL, 10);
    }
    return errno != ERANGE || !is_integer(text);
}

int tool_add_input(tool_inputs *inputs, const char *argument) {
    size_t length = tool_name_length(argument);
    if (length == 0 || argument[length] != '=' || argument[length + 1] == '\0') {
        return tool_usage("-i %s: expected NAME=VALUE", argument);
    }
    if (tool_find_input(inputs, argument, length) != NULL) {
        return tool_usage("-i %s: %.*s is given twice", argument, (int)length, argument);
    }
    if (!fits_64_bits(argument + length + 1)) {
        return tool_usage("-i %s: an integer beyond 64 bits", argument);
    }
    tool_input *items = realloc(inputs->items, sizeof *items * ((size_t)inputs->n + 1));
    inputs->items = items != NULL ? items : inputs->items;
    if (items == NULL) {
        return tool_failed("out of memory");
    }
    tool_input *input = &items[inputs->n++];
    *input = (tool_input){strndup(argument, length), strdup(argument + length + 1)};
    return input->name != NULL && input->value != NULL ? TOOL_DONE : tool_failed("out of memory");
}

void tool_free_inputs(tool_inputs *inputs) {
    for (int i = 0; i < inputs->n; i++) {
        free(inputs->items[i].name);
        free(inputs->items[i].value);
    }
    free(inputs->items);
}

bool tool_number(krf_graph *graph, const tool_input *input, krf_binding *binding) {
    const char *text = input->value;
    char *end = NULL;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (*end == '\0' && end != text && errno == 0) {
        *binding = krf_bind_int(input->name, i);
        return true;
    }
    if (is_integer(text)) { /* one that 64 bits hold: tool_add_input has seen to it */
        *binding = krf_bind_expr(input->name, krf_uint(graph, strtoull(text, NULL, 10)));
        return true;
    }
    double f = strtod(text, &end);
    if (end != text && (*end == '+' || *end == '-')) { /* 1-2j */
        const char *imaginary = end;
        double im = strtod(imaginary, &end);
        if (end == imaginary || strcmp(end, "j") != 0) {
            return false;
        }
        *binding = krf_bind_complex(input->name, f, im);
        return true;
    }
    if (end != text && strcmp(end, "j") == 0) {
        *binding = krf_bind_complex(input->name, 0, f);
        return true;
    }
    if (*end != '\0' || end == text) {
        return false;
    }
    *binding = krf_bind_real(input->name, f);
    return true;
}

static int read_file(const char *path, char **text) {
    FILE *file = fopen(path, "r");
    size_t length = 0, capacity = 0;
    if (file == NULL) {
        return tool_failed("%s: %s", path, strerror(errno));
    }
    ssize_t got = getdelim(text, &capacity, '\0', file);
    length = got > 0 ? (size_t)got : 0;
    int error = ferror(file) ? errno : 0;
    bool whole = feof(file);
    fclose(file);
    if (error != 0) {
        return tool_failed("%s: %s", path, strerror(error));
    }
    if (!whole || length == 0) {
        return tool_usage("%s: %s", path, whole ? "the file is empty" : "not a text file");
    }
    return TOOL_DONE;
}

int tool_read_program(const char *argument, char **text) {
    struct stat about;
    size_t length = strlen(argument);
    bool file = stat(argument, &about) == 0 && !S_ISDIR(about.st_mode);
    if (file || (length > 4 && strcmp(argument + length - 4, ".krf") == 0)) {
        return read_file(argument, text);
    }
    *text = strdup(argument);
    return *text != NULL ? TOOL_DONE : tool_failed("out of memory");
}

int tool_parse(krf_graph *graph, const char *text, const krf_binding *bindings, int n, const char *hint,
               krf_expr **results, int *count) {
    size_t capacity = strlen(text) / 2 + 1; /* a result and its comma are two characters */
    capacity = capacity < INT32_MAX ? capacity : INT32_MAX;
    *count = 0;
    *results = malloc(sizeof **results * capacity);
    if (*results == NULL) {
        return tool_failed("out of memory");
    }
    krf_status status = krf_parse_many(graph, text, bindings, n, (int)capacity, *results, count);
    if (status == KRF_OK) {
        return TOOL_DONE;
    }
    tool_failed("%s", krf_error_message());
    if (status == KRF_E_PARSE && strstr(krf_error_message(), " is not defined") != NULL) {
        fprintf(stderr, "%s\n", hint);
    }
    return status == KRF_E_MEMORY || status == KRF_E_INTERNAL ? TOOL_FAILED : TOOL_USAGE;
}

int tool_flush(FILE *file, const char *path) {
    if (fflush(file) != 0 || ferror(file)) {
        return tool_failed("%s: %s", path, strerror(errno));
    }
    return TOOL_DONE;
}

int tool_read_math(const char *word, krf_math *math) {
    *math = strcmp(word, "fast") == 0 ? KRF_MATH_FAST : KRF_MATH_PRECISE;
    return strcmp(word, "fast") == 0 || strcmp(word, "precise") == 0 ? TOOL_DONE : tool_usage("--math %s: precise and fast are known", word);
}
