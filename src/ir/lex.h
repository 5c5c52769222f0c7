/* The words of the text form. The lexer allocates nothing and is a plain value: to look ahead, copy it. It skips
 * blanks, comments, and newlines inside brackets. Used by the parser alone. */
#ifndef KRF_IR_LEX_H
#define KRF_IR_LEX_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a token is: one of these, or the character itself where it is punctuation of one character. */
enum {
    KRF__TOKEN_END = 256,
    KRF__TOKEN_NEWLINE, /* or ';' */
    KRF__TOKEN_NAME,
    KRF__TOKEN_INT,
    KRF__TOKEN_REAL,
    KRF__TOKEN_STRING,        /* 'edge': start and length without the quotes */
    KRF__TOKEN_IMAGINARY,     /* 2j */
    KRF__TOKEN_POWER,         /* ** */
    KRF__TOKEN_FLOOR_DIVIDE,  /* // */
    KRF__TOKEN_LEFT_SHIFT,    /* << */
    KRF__TOKEN_RIGHT_SHIFT,   /* >> */
    KRF__TOKEN_EQUAL,         /* == */
    KRF__TOKEN_NOT_EQUAL,     /* != */
    KRF__TOKEN_LESS_EQUAL,    /* <= */
    KRF__TOKEN_GREATER_EQUAL, /* >= */
    KRF__TOKEN_ELLIPSIS,      /* ... */
    KRF__TOKEN_ERROR          /* see the lexer's error */
};

typedef struct krf__token {
    int kind;
    const char *start; /* into the text */
    size_t length;
    uint64_t integer; /* INT; ERROR: the number of the character that the error is about, where that is one of its own */
    double real;      /* REAL, IMAGINARY */
} krf__token;

typedef struct krf__lexer {
    const char *at;
    size_t brackets;   /* open ones */
    locale_t locale;   /* "C", in which numbers are read */
    const char *error; /* static text */
} krf__lexer;

/* The next token. After END comes END again; after ERROR comes what follows the offending characters. */
krf__token krf__lex(krf__lexer *lexer);

/* Whether the token is this name. */
bool krf__token_is(const krf__token *token, const char *name);

#endif
