/* Reads a program: its statements, of which declarations are in parse_declare.c, and the results. One pass over the
 * tokens builds the nodes; a quick one before it finds the extents that bound names give, since a declaration may use
 * them before. Called by krf_parse and the tools. */
#include "base/mem.h"
#include "ir/parser.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* which editors put before UTF-8 */

static bool starts_declaration(const krf__parser *p) {
    return p->token.kind == KRF__TOKEN_NAME && krf__parse_peek(p).kind == ':';
}

/* At the name of a declaration: `x: f32[n, 64]`. Faults are left to the second pass. */
static void find_extents_of(krf__parser *p, krf__lexer lexer) {
    uint32_t id = krf__parse_bound_name(p, &p->token);
    krf__lex(&lexer);
    krf__token type = krf__lex(&lexer), token = krf__lex(&lexer);
    if (krf__token_is(&type, "np") && token.kind == '.') {
        krf__lex(&lexer);
        token = krf__lex(&lexer);
    }
    if (id == 0 || token.kind != '[') {
        return;
    }
    for (int i = 0; i < krf__node_of(p->g, id)->rank; i++) {
        token = krf__lex(&lexer);
        if (token.kind == KRF__TOKEN_NAME && krf__parse_find(p, &p->extents, &token) == NULL) {
            krf__parse_set(p, &p->extents, token.start, token.length,
                           (krf__symbol){.extent = krf__shape_of(p->g, id)[i]});
        }
        if (krf__lex(&lexer).kind != ',') {
            return;
        }
    }
}

static void find_extents(krf__parser *p) {
    krf__lexer start = p->lexer;
    bool first = true;
    do {
        p->token = krf__lex(&p->lexer);
        if (first && starts_declaration(p)) {
            find_extents_of(p, p->lexer);
        }
        first = p->token.kind == KRF__TOKEN_NEWLINE;
    } while (p->token.kind != KRF__TOKEN_END && !p->failed);
    p->lexer = start;
}

static bool reserved(const krf__token *name) {
    static const char *const words[] = {"return", "and", "or", "not", "True", "False", "None"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (krf__token_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

/* The `=` behind names that the statement begins with; NULL: there is none. */
static const char *assigned_at(const krf__parser *p) {
    krf__lexer ahead = p->lexer;
    krf__token t = p->token;
    while (t.kind == KRF__TOKEN_NAME) {
        t = krf__lex(&ahead);
        if (t.kind != ',') {
            break;
        }
        t = krf__lex(&ahead);
    }
    return t.kind == '=' ? t.start : NULL;
}

/* `a += 1` and `(a, b) = 1, 2`: says what to write instead. */
static void refuse_assignment(krf__parser *p) {
    krf__lexer ahead = p->lexer;
    const krf__token first = p->token;
    krf__token t = krf__lex(&ahead), next;
    if (first.kind == '(' || first.kind == '[') {
        while (t.kind == KRF__TOKEN_NAME || t.kind == ',') {
            t = krf__lex(&ahead);
        }
        if ((t.kind == ')' || t.kind == ']') && krf__lex(&ahead).kind == '=') {
            krf__parse_fail(p, KRF_E_PARSE, first.start, "names that get values stand without brackets: a, b = ...");
        }
        return;
    }
    next = krf__lex(&ahead);
    const bool operator = t.kind == KRF__TOKEN_POWER || t.kind == KRF__TOKEN_FLOOR_DIVIDE || t.kind == KRF__TOKEN_LEFT_SHIFT || t.kind == KRF__TOKEN_RIGHT_SHIFT ||
                          (t.kind > 0 && t.kind < KRF__TOKEN_END && strchr("+-*/%&|^", t.kind) != NULL);
    if (first.kind == KRF__TOKEN_NAME && operator && next.kind == '=' && next.start == t.start + t.length) {
        krf__parse_fail(p, KRF_E_PARSE, t.start, "'%.*s=' is not supported: write %.*s = %.*s %.*s ...", KRF__SHOWN(&t), KRF__SHOWN(&first), KRF__SHOWN(&first), KRF__SHOWN(&t));
    }
}

/* One name, or several: `r, t = polar(x, y)`. */
static void parse_assignment(krf__parser *p) {
    krf__token names[KRF__PARSE_VALUES], first = p->token;
    krf__values values;
    int n = 0;
    while (!p->failed && p->token.kind == KRF__TOKEN_NAME) {
        if (n == KRF__PARSE_VALUES) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "more than %d names", KRF__PARSE_VALUES);
            return;
        }
        if (reserved(&p->token)) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "%.*s is a word of the language and cannot be a name", KRF__SHOWN(&p->token));
            return;
        }
        names[n++] = p->token;
        krf__parse_next(p);
        krf__parse_skip(p, ',');
    }
    krf__parse_next(p);
    if (!p->failed && krf__parse_ends(p)) {
        krf__parse_expected(p, "an expression");
    }
    const char *again = assigned_at(p);
    if (again != NULL) {
        krf__parse_fail(p, KRF_E_PARSE, again, "one value is assigned at a time");
    }
    krf__parse_values(p, 0, &values);
    if (!p->failed && krf__parse_ends(p) && values.n != n) {
        krf__parse_fail(p, KRF_E_PARSE, first.start, "%d name%s for %d value%s", n, n == 1 ? "" : "s", values.n, values.n == 1 ? "" : "s");
    }
    for (int k = 0; !p->failed && krf__parse_ends(p) && k < n; k++) {
        krf__parse_set(p, &p->values, names[k].start, names[k].length, (krf__symbol){.id = values.ids[k], .declared = true});
    }
}

static void parse_results(krf__parser *p, int capacity, uint32_t *results, int *count) {
    krf__values values;
    do {
        if (krf__parse_ends(p)) {
            break; /* a last comma */
        }
        const char *at = p->token.start;
        krf__parse_value(p, &values);
        if (!p->failed && values.n > capacity - *count) {
            krf__parse_fail(p, KRF_E_PARSE, at, "more results than the %d asked for", capacity);
        }
        for (int k = 0; !p->failed && k < values.n; k++) {
            results[(*count)++] = values.ids[k];
        }
    } while (krf__parse_skip(p, ','));
    if (!p->failed && p->token.kind == '=') {
        krf__parse_fail(p, KRF_E_PARSE, p->token.start, "only a single name can be assigned");
    }
}

/* One statement; true after the one that gives the results. */
static bool parse_statement(krf__parser *p, int capacity, uint32_t *results, int *count) {
    krf__token start = p->token;
    bool word = krf__token_is(&start, "return");
    const bool declares = starts_declaration(p), defines = !declares && krf__parse_defines(p), assignment = !declares && !defines && assigned_at(p) != NULL;
    if (declares && reserved(&start)) {
        krf__parse_fail(p, KRF_E_PARSE, start.start, "%.*s is a word of the language and cannot be a name", KRF__SHOWN(&start));
    } else if (declares) {
        krf__parse_declaration(p);
    } else if (defines) {
        krf__parse_definition(p);
    } else if (assignment) {
        parse_assignment(p);
    } else {
        if (word) {
            krf__parse_next(p);
            if (!p->failed && (p->token.kind == KRF__TOKEN_NEWLINE || p->token.kind == KRF__TOKEN_END)) {
                krf__parse_expected(p, "a result");
            }
        }
        refuse_assignment(p);
        parse_results(p, capacity, results, count);
    }
    if (!p->failed && p->token.kind != KRF__TOKEN_NEWLINE && p->token.kind != KRF__TOKEN_END) {
        krf__parse_expected(p, "an operator or the end of the statement");
    }
    if (declares || defines || assignment) {
        return false;
    }
    while (krf__parse_skip(p, KRF__TOKEN_NEWLINE)) {
    }
    if (!p->failed && p->token.kind != KRF__TOKEN_END) {
        krf__parse_fail(p, KRF_E_PARSE, word ? p->token.start : start.start,
                        word ? "nothing may follow return"
                             : "this value is not used: give it a name, or return it at the end");
    }
    return true;
}

static void parse_program(krf__parser *p, int capacity, uint32_t *results, int *count) {
    krf__parse_next(p);
    while (!p->failed) {
        if (krf__parse_skip(p, KRF__TOKEN_NEWLINE)) {
            continue;
        }
        if (p->token.kind == KRF__TOKEN_END) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "the program gives no result: end it with return");
        } else if (!p->failed && parse_statement(p, capacity, results, count)) {
            return;
        }
    }
}

static void bind_names(krf__parser *p, const krf__name *names, int n_names) {
    for (int i = 0; i < n_names && !p->failed; i++) {
        krf__map *map = names[i].id != 0 ? &p->values : &p->extents;
        krf__parse_set(p, map, names[i].name, strlen(names[i].name),
                       (krf__symbol){.id = names[i].id, .extent = names[i].extent});
    }
    for (size_t i = 0; i < p->g->n_placeholders && !p->failed; i++) {
        const krf__placeholder *known = &p->g->placeholders[i];
        if (known->name != NULL) {
            krf__parse_set(p, &p->placeholders, known->name, strlen(known->name), (krf__symbol){.id = known->node});
        }
    }
}

krf_status krf__parse(krf_graph *g, const char *text, const krf__name *names, int n_names,
                      int64_t (*missing_extent)(void *user, const char *name), void *user, int capacity,
                      uint32_t *results, int *count) {
    *count = 0;
    if (g->nil || g->status != KRF_OK) {
        return g->nil ? KRF_E_MEMORY : g->status;
    }
    text += strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0 ? strlen(BYTE_ORDER_MARK) : 0;
    krf__parser p = {.g = g, .text = text, .missing_extent = missing_extent, .user = user};
    p.lexer = (krf__lexer){.at = text, .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (p.lexer.locale == (locale_t)0) {
        krf__parse_memory(&p);
        return KRF_E_MEMORY;
    }
    bind_names(&p, names, n_names);
    if (!p.failed) {
        find_extents(&p);
    }
    if (!p.failed) {
        parse_program(&p, capacity, results, count);
    }
    freelocale(p.lexer.locale);
    krf__map_free(&p.values, NULL);
    krf__map_free(&p.extents, NULL);
    krf__map_free(&p.placeholders, NULL);
    krf__map_free(&p.functions, NULL);
    krf__mem_free(p.function_list);
    krf__mem_free(p.symbols);
    if (p.failed) {
        *count = 0;
        return g->status != KRF_OK ? g->status : KRF_E_MEMORY;
    }
    return KRF_OK;
}
