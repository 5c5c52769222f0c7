/* The message of the last failure on this thread. The buffer is per thread, so a message is never torn or taken by
 * another thread, and setting one needs no memory. krf__fail is called where a problem is known, once; callers pass the
 * status on. */
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char message[KRF__MESSAGE_SIZE];

/* Marks a text that did not fit, without leaving half a UTF-8 character before the dots. */
static void mark_cut(char *text)
{
    size_t end = KRF__MESSAGE_SIZE - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
        end--;
    }
    memcpy(text + end, "...", sizeof "...");
}

krf_status krf__failv(krf_status status, const char *format, va_list args)
{
    /* Built beside the buffer: an argument may be the previous message. */
    char text[KRF__MESSAGE_SIZE];
    int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0) {
        text[0] = '\0';
    } else if ((size_t)length >= sizeof text) {
        mark_cut(text);
    }
    memcpy(message, text, strlen(text) + 1);
    return status;
}

krf_status krf__fail(krf_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    krf__failv(status, format, args);
    va_end(args);
    return status;
}

const char *krf_error_message(void)
{
    return message;
}
