/* The words of a body in C, as far as they must be known: to check a definition, and to print it for a target. Allocates nothing. */
#ifndef KRF_IR_C_LEX_H
#define KRF_IR_C_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum { KRF__C_END = 256, KRF__C_NAME, KRF__C_NUMBER, KRF__C_SPACE, KRF__C_STRING, KRF__C_OPEN /* a comment, string or character that does not end */ };

typedef struct krf__c_token {
    int kind; /* one of these, or the character itself. SPACE: blanks and comments */
    const char *start;
    size_t length;
    int line; /* of the start, from 1 */
} krf__c_token;

typedef struct krf__c_lexer {
    const char *at;
    int line;
} krf__c_lexer;

krf__c_token krf__c_lex(krf__c_lexer *lexer);

/* The next word that is no SPACE. */
krf__c_token krf__c_word(krf__c_lexer *lexer);

bool krf__c_is(const krf__c_token *token, const char *text);

/* Whether a number is a floating one without a suffix. */
bool krf__c_is_real(const krf__c_token *number);

/* Whether the text is an identifier and no word of C or CUDA C++, no number of bodies such as M_PI, nor one of the library's own (krf_...). */
bool krf__c_is_name(const char *text, size_t length);

#endif
