// What pam_latchkey.so is made of, apart from PAM itself: no function here knows libpam,
// so that each can be tried alone.
#ifndef LATCHKEY_PAM_H
#define LATCHKEY_PAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// MARK: Options

// What a line of /etc/pam.d says behind the module's name.
struct lp_options {
    // Absolute; NULL: the one that the module was built for.
    const char *program;
    // How long a login may be held up, in seconds: 1 to 60.
    int seconds;
    // Ask for the password where no module before has.
    bool ask;
    // Lock the keychain when the person's last session ends.
    bool lock_at_logout;
};

// Reads what is understood; a line with a mistake keeps nobody out.
// Returns the first argument that is not understood, or NULL.
const char *lp_parse(struct lp_options *options, int count, const char *const *arguments);

// MARK: Passwords

// Bytes of a password; the enclave takes no more.
enum { LP_LONGEST_PASSWORD = 1024, LP_LONGEST_NAME = 255, LP_LONGEST_INPUT = 2 * (LP_LONGEST_PASSWORD + 1) };

// Writes the passwords as the command line reads them, a line each; `second` may be NULL.
// Returns how many bytes were written; 0: one is empty, too long, or has a line of its own.
size_t lp_lines(char input[LP_LONGEST_INPUT], const char *first, const char *second);

// A password that was typed at an authentication, until the session begins: in memory
// that is locked, not dumped, and empty in every forked process.
struct lp_stash {
    // Who was authenticated with it.
    char user[LP_LONGEST_NAME + 1];
    char password[LP_LONGEST_PASSWORD + 1];
};

// NULL where there is no such memory, as errno says, or with an errno of 0 where it is no
// password of ours.
struct lp_stash *lp_stash_make(const char *user, const char *password);
// Wiped; NULL is none.
void lp_stash_free(struct lp_stash *stash);

// MARK: Running the command line

// Whom to become.
struct lp_person {
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
    const char *name;
    const char *home;
};

enum {
    // What lp_run returns beside the statuses of `latchkey`, which are below.
    LP_TIMED_OUT = 124,
    LP_ENDED_BY_SIGNAL = 125,
    LP_NOT_RUN = 126,
};

// Whether root alone decides what runs there: the file and every folder above it are
// root's and nobody else's to write. `resolved` is the path without links.
bool lp_is_roots(const char *path, char resolved[PATH_MAX]);

// Milliseconds of a clock that nobody sets.
long long lp_now(void);

// Runs `program` as the person wholly, with `input` as its standard input (wiped before
// anything is forked), and waits for it until `deadline` (of lp_now) at most. Opens nothing
// as the caller; the caller's signal handlers, threads and children are not touched, nor told.
// Returns its status, or one of the above.
int lp_run(const char *program, const char *const arguments[], const struct lp_person *person,
           char *input, size_t count, long long deadline);

#endif
