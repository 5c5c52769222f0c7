/* Writes loops out: NVRTC compiles straight text in two thirds of the time that it takes to unroll the same loops itself
 * (bench/results), and then its optimizer is hardly needed. */
#include "codegen/emitter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char pragma[] = "#pragma unroll\n";

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Appends text with every whole word `name` replaced by a number. */
static void put_with(krf__str *out, const char *text, size_t length, const char *name, int number) {
    size_t n = strlen(name);
    for (size_t i = 0; i < length;) {
        bool starts = i == 0 || !word_char(text[i - 1]);
        if (starts && i + n <= length && memcmp(text + i, name, n) == 0 && !word_char(text[i + n])) {
            krf__str_i64(out, number);
            i += n;
        } else {
            krf__str_char(out, text[i++]);
        }
    }
}

static const char *next_line(const char *line) {
    size_t length = strcspn(line, "\n");
    return line + length + (line[length] == '\n');
}

/* The line that closes the block which the line `head` opens: the first one with its indentation and a brace. */
static const char *closing_line(const char *head, size_t indent) {
    const char *line = next_line(head);
    while (*line != '\0' && !(strspn(line, " ") == indent && line[indent] == '}')) {
        line = next_line(line);
    }
    return line;
}

typedef struct loop {
    char name[16], compare[3];
    int first, bound;
    bool halves; /* else counts up */
} loop;

/* A loop whose line ends with the brace that opens its body: what stood between would be lost. */
static bool parse_head(const char *head, loop *l) {
    char step[16];
    int length = 0;
    return sscanf(head, " for (int %15[a-z] = %d; %*[a-z] %2[<>=] %d; %15[^)]) {%n", l->name, &l->first, l->compare, &l->bound, step, &length) == 5 && length > 0 && head[length] == '\n' &&
           (l->halves = strstr(step, "/= 2") != NULL, true);
}

static bool goes_on(const loop *l, int n) {
    return l->compare[0] == '<' ? n < l->bound : n > l->bound || (l->compare[1] == '=' && n == l->bound);
}

/* One turn: a block of its own, unless it is a single statement. */
static void put_turn(const krf__str *turn, const char *spaces, size_t indent, krf__str *out) {
    if (turn->data != NULL && *next_line(turn->data) == '\0') {
        krf__str_putn(out, spaces, indent);
        krf__str_put(out, turn->data + strspn(turn->data, " "));
        return;
    }
    krf__str_putn(out, spaces, indent);
    krf__str_put(out, "{\n");
    krf__unroll(turn->data, out);
    krf__str_putn(out, spaces, indent);
    krf__str_put(out, "}\n");
}

/* Loops after "#pragma unroll" with literal bounds become one block a turn; nested ones too. Other text is copied. */
void krf__unroll(const char *text, krf__str *out) {
    for (const char *line = text; line != NULL && *line != '\0';) {
        size_t indent = strspn(line, " ");
        const char *head = next_line(line);
        loop l;
        if (strncmp(line + indent, pragma, sizeof pragma - 1) != 0 || !parse_head(head, &l)) {
            krf__str_putn(out, line, (size_t)(head - line));
            line = head;
            continue;
        }
        const char *body = next_line(head), *end = closing_line(head, indent);
        for (int n = l.first; goes_on(&l, n); n = l.halves ? n / 2 : n + 1) {
            krf__str turn = {0};
            put_with(&turn, body, (size_t)(end - body), l.name, n);
            put_turn(&turn, line, indent, out);
            out->failed |= turn.failed;
            krf__str_free(&turn);
        }
        line = next_line(end);
    }
}
