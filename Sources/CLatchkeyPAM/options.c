// What a line of /etc/pam.d says, and passwords as lines.
#define _GNU_SOURCE
#include "latchkey_pam.h"

#include <string.h>

// The number behind `name=`; -1: none between 1 and 60.
static int seconds(const char *text) {
    int number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 2 || text[digits] != '\0')
        return -1;
    for (size_t index = 0; index < digits; index++)
        number = 10 * number + (text[index] - '0');
    return number >= 1 && number <= 60 ? number : -1;
}

const char *lp_parse(struct lp_options *options, int count, const char *const *arguments) {
    const char *unknown = NULL;
    *options = (struct lp_options){ .seconds = 5 };
    for (int index = 0; index < count; index++) {
        const char *argument = arguments[index];
        int number;
        if (strcmp(argument, "ask") == 0)
            options->ask = true;
        else if (strcmp(argument, "lock_at_logout") == 0)
            options->lock_at_logout = true;
        else if (strncmp(argument, "latchkey=/", 10) == 0 && strlen(argument) < PATH_MAX)
            options->program = argument + 9;
        else if (strncmp(argument, "timeout=", 8) == 0 && (number = seconds(argument + 8)) > 0)
            options->seconds = number;
        else if (unknown == NULL)
            unknown = argument;
    }
    return unknown;
}

// How long a password is that can be a line; 0: it cannot.
static size_t length(const char *password) {
    size_t count = strnlen(password, LP_LONGEST_PASSWORD + 1);
    return count <= LP_LONGEST_PASSWORD && memchr(password, '\n', count) == NULL ? count : 0;
}

size_t lp_lines(char input[LP_LONGEST_INPUT], const char *first, const char *second) {
    size_t written = length(first);
    if (written == 0)
        return 0;
    memcpy(input, first, written);
    input[written++] = '\n';
    if (second == NULL)
        return written;
    size_t more = length(second);
    if (more == 0) {
        explicit_bzero(input, written);
        return 0;
    }
    memcpy(input + written, second, more);
    input[written + more] = '\n';
    return written + more + 1;
}
