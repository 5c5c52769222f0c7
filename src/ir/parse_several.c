/* Calls that give several values: where they stand alone, these go on to the statement. */
#include "ir/parser.h"

#include <string.h>

uint32_t krf__parse_several(krf__parser *p, const krf__token *name, int n, const uint32_t *ids) {
    if (p->failed || n == 1) {
        return p->failed ? 0 : ids[0];
    }
    if (p->whole != name->start || !(krf__parse_ends(p) || p->token.kind == ',' || p->token.kind == ')' || p->token.kind == '=')) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s gives %d values: give them names first, as in a, b = %.*s(...)", KRF__SHOWN(name), n,
                               KRF__SHOWN(name));
    }
    p->several.n = n;
    memcpy(p->several.ids, ids, (size_t)n * sizeof *ids);
    return ids[0];
}
