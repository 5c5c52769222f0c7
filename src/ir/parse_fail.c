/* The parser's messages: place, reason, the line and a caret. Errors of the builders get their place here too. */
#include "base/mem.h"
#include "ir/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 110 }; /* bytes shown of a long line */

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; } /* inside a UTF-8 character */

static int columns(const char *from, const char *to) {
    int n = 0;
    for (; from < to; from++) {
        n += !continues(*from);
    }
    return n;
}

/* The line around `at`, or a piece of it, and a caret below. Tabs stay tabs in both, so that the caret stands right. */
static void put_line(krf__str *out, const char *start, const char *at) {
    size_t length = strcspn(start, "\n"), place = (size_t)(at - start);
    size_t from = length > SHOWN && place > SHOWN / 2 ? place - SHOWN / 2 : 0;
    while (from > 0 && from < place && continues(start[from])) {
        from++;
    }
    size_t to = length - from > SHOWN ? from + SHOWN : length;
    while (to < length && to > from && continues(start[to])) {
        to--;
    }
    for (int caret = 0; caret < 2; caret++) {
        size_t end = caret ? place : to;
        krf__str_put(out, from == 0 ? "\n" : caret ? "\n   " : "\n...");
        for (size_t i = from; i < end; i++) {
            char c = start[i];
            if (caret && continues(c)) {
                continue;
            }
            bool control = (unsigned char)c < 0x20 || c == 0x7f;
            krf__str_char(out, c == '\t' ? c : caret || (control && c == '\r') ? ' ' : control ? '?' : c);
        }
        krf__str_put(out, caret ? "^" : to < length ? "..." : "");
    }
}

static void place_error(krf__parser *p, krf_status status, const char *at, const char *reason) {
    int line = 1;
    const char *start = p->text;
    for (const char *c = p->text; c < at; c++) {
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    }
    krf__str out = {0};
    krf__str_printf(&out, "line %d, column %d: %s", line, columns(start, at) + 1, reason);
    for (const krf__call *c = p->call; c != NULL; c = c->outer) {
        int from = 1;
        for (const char *k = p->text; k < c->at; k++) {
            from += *k == '\n';
        }
        krf__str_printf(&out, " (in %.*s, called in line %d)", KRF__SHOWN(&c->function->name), from);
    }
    put_line(&out, start, at);
    if (out.failed) {
        krf__parse_memory(p);
    } else {
        krf__graph_fail(p->g, status, "%s", out.data);
    }
    krf__str_free(&out);
}

uint32_t krf__parse_fail(krf__parser *p, krf_status status, const char *at, const char *format, ...) {
    char reason[1500];
    if (p->failed) {
        return 0;
    }
    p->failed = true;
    va_list args;
    va_start(args, format);
    if (vsnprintf(reason, sizeof reason, format, args) < 0) {
        reason[0] = '\0';
    }
    va_end(args);
    place_error(p, status, at, reason);
    return 0;
}

uint32_t krf__parse_memory(krf__parser *p) {
    p->failed = true;
    return krf__graph_fail(p->g, KRF_E_MEMORY, "out of host memory (parser)");
}

uint32_t krf__parse_built(krf__parser *p, const char *at, uint32_t id) {
    krf_graph *g = p->g;
    if (id != 0 || p->failed) {
        return p->failed ? 0 : id;
    }
    if (g->status == KRF_OK) {
        return krf__parse_fail(p, KRF_E_INTERNAL, at, "the builder gave no result");
    }
    p->failed = true;
    if (g->status == KRF_E_MEMORY || g->error == NULL) {
        return 0;
    }
    /* The builder's message is the graph's error already: the same with its place takes its place. */
    char *reason = g->error;
    krf_status status = g->status;
    g->error = NULL;
    g->status = KRF_OK;
    place_error(p, status, at, reason);
    krf__mem_free(reason);
    return 0;
}

uint32_t krf__parse_expected(krf__parser *p, const char *what) {
    const krf__token *t = &p->token;
    if (t->kind == KRF__TOKEN_END) {
        return krf__parse_fail(p, KRF_E_PARSE, t->start, "expected %s, found the end of the text", what);
    }
    if (t->kind == KRF__TOKEN_NEWLINE && *t->start == '\n') {
        return krf__parse_fail(p, KRF_E_PARSE, t->start, "expected %s, found the end of the line", what);
    }
    return krf__parse_fail(p, KRF_E_PARSE, t->start, "expected %s, found '%.*s'", what, KRF__SHOWN(t));
}
