/* Text inside a comment of C. */
#include "codegen/emitter.h"

void krf__put_comment(const char *text, krf__str *out) {
    for (; text != NULL && *text != '\0'; text++) {
        krf__str_char(out, *text == '\n' || (text[0] == '*' && text[1] == '/') ? ' ' : *text);
    }
}
