/* What a function of the library is called in C. */
#include "ir/body_function.h"

#include "ir/c_lex.h"

static krf__op find_function(const char *name, size_t length) {
    const krf__c_token word = {.kind = KRF__C_NAME, .start = name, .length = length};
    if (krf__c_is(&word, "max") || krf__c_is(&word, "min")) { /* as CUDA has them; those of the text form reduce */
        return *name == 'm' && name[1] == 'a' ? KRF__maximum : KRF__minimum;
    }
    const krf__op op = krf__op_from_name(name, length);
    const bool code = krf__op_info_of(op)->class_ == KRF__CLASS_ELEMENTWISE &&
                      (krf__op_code(op, KRF__KIND_REAL, false) != NULL || krf__op_code(op, KRF__KIND_SINT, false) != NULL);
    return code ? op : KRF__poison;
}

krf__op krf__body_function(const char *name, size_t length, bool *narrow) {
    krf__op op = find_function(name, length);
    *narrow = op == KRF__poison && length > 1 && name[length - 1] == 'f';
    op = *narrow ? find_function(name, length - 1) : op;
    *narrow &= op != KRF__poison;
    return op;
}
