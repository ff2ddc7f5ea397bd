// A program that logs people in, as a test wants it:
//
//     pam-host SERVICE USER STEP...
//
// with the password as the first line of standard input. Steps, in order:
//   authenticate, open, close, setcred     as libpam has them; a `?` behind one: let it fail
//   expired        has the password changed, as at a login where it has expired; the new
//                  one is the next line of standard input
//   user=NAME      from now on the login is somebody else's, as with sudo
//   threads        as a display manager: threads that never stop allocating, one that sets its
//                  ids over and over (libc interrupts all others for that), a handler that
//                  waits for every child, and SIGCHLD ignored before and after
//   stdclosed      as a daemon that was started without standard descriptors
//   count          writes how often the password is in this process's memory
//   childcount     the same in a child
//   leave          leaves a child behind that has copies of all descriptors but the standard ones
//   wait           writes "waiting" and goes on with the next line of standard input
//   children       writes how many children it has been told of, and how many it has
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { longest = 256 };
// Never in the clear: what is counted is somebody else's copy.
static unsigned char hidden[longest], hidden_new[longest];
static size_t length, length_new;
static const unsigned char veil = 0xA5;
static volatile sig_atomic_t told;
static FILE *out;

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    *responses = calloc(count, sizeof **responses);
    for (int index = 0; index < count; index++) {
        if (messages[index]->msg_style == PAM_PROMPT_ECHO_OFF) {
            bool is_new = length_new > 0 && strstr(messages[index]->msg, "ew ") != NULL;
            size_t signs = is_new ? length_new : length;
            char *answer = malloc(signs + 1);
            for (size_t at = 0; at < signs; at++)
                answer[at] = (char)((is_new ? hidden_new : hidden)[at] ^ veil);
            answer[signs] = '\0';
            (*responses)[index].resp = answer;
        } else {
            fprintf(out, "said: %s\n", messages[index]->msg);
        }
    }
    return PAM_SUCCESS;
}

// Reads this process through /proc, in pieces that overlap by a password.
static int copies(void) {
    static unsigned char piece[65536 + longest];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    FILE *memory = fopen("/proc/self/mem", "r");
    char line[512];
    setvbuf(memory, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;
        char may[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, may) != 3 || may[0] != 'r' || may[1] != 'w')
            continue;
        for (unsigned long at = start; at < end; at += 65536) {
            size_t wanted = end - at < 65536 + length - 1 ? end - at : 65536 + length - 1;
            // Not what is being searched with.
            if (at < (unsigned long)piece + sizeof piece && at + wanted > (unsigned long)piece)
                continue;
            if (fseek(memory, (long)at, SEEK_SET) != 0)
                continue;
            size_t got = fread(piece, 1, wanted, memory);
            for (size_t from = 0; from + length <= got; from++) {
                size_t same = 0;
                while (same < length && piece[from + same] == (hidden[same] ^ veil))
                    same++;
                found += same == length;
            }
            explicit_bzero(piece, sizeof piece);
        }
    }
    fclose(maps);
    fclose(memory);
    return found;
}

static void on_child(int signal) {
    (void)signal;
    told++;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        told++;
}

static void *allocate(void *nothing) {
    for (;;) {
        void *some = malloc(1 + (size_t)rand() % 4096);
        free(some);
    }
    return nothing;
}

static void *set_ids(void *nothing) {
    for (;;) {
        setresgid(-1, -1, -1);
        usleep(1000);
    }
    return nothing;
}

// A line of standard input, veiled.
static size_t line_of(unsigned char *place) {
    size_t count = 0;
    int byte;
    while ((byte = getchar()) != EOF && byte != '\n' && count < longest)
        place[count++] = (unsigned char)byte ^ veil;
    return count;
}

static int fail(const char *step, int status) {
    fprintf(out, "%s: %d\n", step, status);
    fflush(out);
    return 1;
}

int main(int count, char **arguments) {
    out = stdout;
    setvbuf(stdin, NULL, _IONBF, 0);
    length = line_of(hidden);
    struct pam_conv conversation = { converse, NULL };
    pam_handle_t *pam = NULL;
    if (count < 3 || pam_start(arguments[1], arguments[2], &conversation, &pam) != PAM_SUCCESS)
        return 2;
    int status = PAM_SUCCESS;
    for (int index = 3; index < count; index++) {
        char *step = arguments[index];
        bool may_fail = step[strlen(step) - 1] == '?';
        if (may_fail)
            step[strlen(step) - 1] = '\0';
        if (strcmp(step, "authenticate") == 0) {
            status = pam_authenticate(pam, 0);
        } else if (strcmp(step, "setcred") == 0) {
            status = pam_setcred(pam, PAM_ESTABLISH_CRED);
        } else if (strcmp(step, "open") == 0) {
            status = pam_open_session(pam, 0);
        } else if (strcmp(step, "close") == 0) {
            status = pam_close_session(pam, 0);
        } else if (strncmp(step, "user=", 5) == 0) {
            status = pam_set_item(pam, PAM_USER, step + 5);
        } else if (strcmp(step, "threads") == 0) {
            pthread_t thread;
            for (int number = 0; number < 4; number++)
                pthread_create(&thread, NULL, allocate, NULL);
            pthread_create(&thread, NULL, set_ids, NULL);
            struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_NOCLDWAIT | SA_RESTART };
            sigaction(SIGCHLD, &action, NULL);
        } else if (strcmp(step, "stdclosed") == 0) {
            fflush(out);
            out = fdopen(dup(1), "w");
            setvbuf(out, NULL, _IONBF, 0);
            close(0), close(1), close(2);
        } else if (strcmp(step, "count") == 0) {
            fprintf(out, "copies: %d\n", copies());
        } else if (strcmp(step, "childcount") == 0) {
            fflush(out);
            pid_t child = fork();
            if (child == 0) {
                fprintf(out, "copies: %d\n", copies());
                fflush(out);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        } else if (strcmp(step, "leave") == 0) {
            if (fork() == 0) {
                close(0), close(1), close(2);
                for (;;)
                    pause();
            }
        } else if (strcmp(step, "expired") == 0) {
            length_new = line_of(hidden_new);
            status = pam_chauthtok(pam, PAM_CHANGE_EXPIRED_AUTHTOK);
        } else if (strcmp(step, "wait") == 0) {
            fprintf(out, "waiting\n");
            fflush(out);
            unsigned char nothing[longest];
            line_of(nothing);
        } else if (strcmp(step, "children") == 0) {
            fprintf(out, "children: %d told, %s\n", (int)told, waitpid(-1, NULL, WNOHANG | __WALL) < 0 ? "none" : "some");
        }
        if (status != PAM_SUCCESS && !may_fail)
            return fail(step, status);
    }
    fprintf(out, "done\n");
    fflush(out);
    pam_end(pam, status);
    return 0;
}
