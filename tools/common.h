/* What fuserun and fusedump share: messages, exit statuses, -i arguments, the program's text, and parsing it. */
#ifndef KRF_TOOLS_COMMON_H
#define KRF_TOOLS_COMMON_H

#include <kerfuse/kerfuse.h>
#include <stdio.h>

/* Exit statuses: done; the work failed; wrong usage, or an expression that does not parse or type. */
enum { TOOL_DONE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* The program's name, for messages. main sets it before anything else. */
extern const char *tool_name;

/* Prints "NAME: message" on stderr. usage: also says where help is found. Each returns its exit status. */
int tool_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tool_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -i NAME=VALUE. */
typedef struct tool_input {
    char *name, *value;
} tool_input;

typedef struct tool_inputs {
    tool_input *items;
    int n;
} tool_inputs;

int tool_add_input(tool_inputs *inputs, const char *argument);
const tool_input *tool_find_input(const tool_inputs *inputs, const char *name, size_t length);
void tool_free_inputs(tool_inputs *inputs);

/* --math precise|fast. */
int tool_read_math(const char *word, krf_math *math);

/* Whether the value is a number, and the binding of a weak scalar if so. Integers from 2^63 on are expressions of the graph. */
bool tool_number(krf_graph *graph, const tool_input *input, krf_binding *binding);

/* The length of the name (letters, digits, '_', no digit first) that the text begins with; 0 for none. */
size_t tool_name_length(const char *text);

/* The program that the argument names (an existing file, or *.krf) or is, in new memory. */
int tool_read_program(const char *argument, char **text);

/* Parses the program. *results is new memory. hint: what to do about a name that is not defined. */
int tool_parse(krf_graph *graph, const char *text, const krf_binding *bindings, int n, const char *hint,
               krf_expr **results, int *count);

/* Sees to it that what was printed has arrived. */
int tool_flush(FILE *file, const char *path);

#endif
