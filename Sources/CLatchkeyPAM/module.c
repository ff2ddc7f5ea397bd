// pam_latchkey: opens the keychain with the login password, and follows it when it is
// changed. It never decides about a login: every answer is PAM_IGNORE.
//
// What it does for a person it does as that person, in a process of its own that runs
// `latchkey` (run.c). As root it opens nothing below a home.
#define _GNU_SOURCE
#include "latchkey_pam.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>

#define EXPORTED __attribute__((visibility("default")))

// Where programs look for the daemon as well, but for a home.
static const char *const programs[] = { "/usr/local/bin/latchkey", "/usr/bin/latchkey" };

static const char stash_name[] = "pam_latchkey_password", session_name[] = "pam_latchkey_session";
static const char session_folder[] = "/run/latchkey-sessions";

static struct lp_options options_of(pam_handle_t *pam, int count, const char **arguments) {
    struct lp_options options;
    const char *unknown = lp_parse(&options, count, arguments);
    if (unknown != NULL)
        pam_syslog(pam, LOG_ERR, "option not understood, and left out: %s", unknown);
    return options;
}

// MARK: What is kept

static void free_stash(pam_handle_t *pam, void *stash, int status) {
    (void)pam, (void)status;
    lp_stash_free(stash);
}

static void keep(pam_handle_t *pam, const char *user, const char *password) {
    struct lp_stash *stash = lp_stash_make(user, password);
    if (stash == NULL && errno != 0)
        pam_syslog(pam, LOG_WARNING, "the password of %s is not kept, and opens no keychain: no memory that can be locked: %m",
                   user);
    if (stash == NULL)
        return;
    if (pam_set_data(pam, stash_name, stash, free_stash) != PAM_SUCCESS)
        lp_stash_free(stash);
}

// libpam calls free_stash for what was there.
static void forget(pam_handle_t *pam) { pam_set_data(pam, stash_name, NULL, NULL); }

// What was kept for that user; NULL: nothing. Another user's is nobody's: sudo authenticates
// one and opens the session of another.
static const struct lp_stash *kept(pam_handle_t *pam, const char *user) {
    const void *found = NULL;
    if (pam_get_data(pam, stash_name, &found) != PAM_SUCCESS || found == NULL)
        return NULL;
    const struct lp_stash *stash = found;
    return strcmp(stash->user, user) == 0 ? stash : NULL;
}

static const char *user_of(pam_handle_t *pam) {
    const void *user = NULL;
    return pam_get_item(pam, PAM_USER, &user) == PAM_SUCCESS && user != NULL ? user : "";
}

static const char *item(pam_handle_t *pam, int kind) {
    const void *text = NULL;
    return pam_get_item(pam, kind, &text) == PAM_SUCCESS ? text : NULL;
}

// MARK: Running latchkey

enum { most_groups = 65536 };

// NULL: no memory, or more groups than there can be. To be freed.
static gid_t *groups_of(const struct passwd *entry, int *count) {
    for (int room = 64; room <= most_groups; room *= 4) {
        gid_t *groups = malloc(room * sizeof *groups);
        *count = room;
        if (groups == NULL || getgrouplist(entry->pw_name, entry->pw_gid, groups, count) >= 0)
            return groups;
        free(groups);
    }
    return NULL;
}

// NULL: it is not installed.
static const char *program_of(const struct lp_options *options) {
    struct stat found;
    if (options->program != NULL)
        return options->program;
    for (size_t index = 0; index < sizeof programs / sizeof *programs; index++)
        if (stat(programs[index], &found) == 0)
            return programs[index];
    return NULL;
}

// When the host goes on at the latest, in milliseconds of lp_now.
static long long deadline_of(const struct lp_options *options) { return lp_now() + options->seconds * 1000LL; }

// A status of lp_run, or -1: there is nobody to run it for. The input is wiped.
static int run_for(pam_handle_t *pam, const struct lp_options *options, const char *user,
                   const char *const arguments[], char *input, size_t count, long long deadline) {
    int status = -1, group_count = 0;
    gid_t *groups = NULL;
    char program[PATH_MAX];
    const char *wanted = program_of(options);
    const struct passwd *entry = pam_modutil_getpwnam(pam, user);
    // A program that is not root's runs nothing for others.
    if (entry == NULL || (geteuid() != 0 && (geteuid() != entry->pw_uid || getuid() != entry->pw_uid)))
        goto done;
    if (wanted == NULL)
        goto done;
    if (!lp_is_roots(wanted, program)) {
        pam_syslog(pam, LOG_ERR, "%s is not run: it is not there, or others than root can write it or a folder above it", wanted);
        goto done;
    }
    groups = groups_of(entry, &group_count);
    if (groups == NULL)
        goto done;
    struct lp_person person = {
        .user = entry->pw_uid, .group = entry->pw_gid, .groups = groups, .group_count = (size_t)group_count,
        .name = entry->pw_name, .home = entry->pw_dir,
    };
    status = lp_run(program, arguments, &person, input, count, deadline);
done:
    explicit_bzero(input, count);
    free(groups);
    return status;
}

// What of it an administrator should know; the names of statuses are `latchkey`'s.
static void report(pam_handle_t *pam, int status, const char *user, const char *what) {
    switch (status) {
    case -1: case 0: case 1: break;
    case LP_TIMED_OUT: pam_syslog(pam, LOG_WARNING, "%s for %s: latchkey did not end in time", what, user); break;
    case LP_ENDED_BY_SIGNAL: pam_syslog(pam, LOG_WARNING, "%s for %s: latchkey was killed", what, user); break;
    case LP_NOT_RUN: pam_syslog(pam, LOG_WARNING, "%s for %s: latchkey could not be run", what, user); break;
    case 3:
        pam_syslog(pam, LOG_NOTICE, "%s for %s: the keychain does not take this password, or not now", what, user);
        break;
    default: pam_syslog(pam, LOG_WARNING, "%s for %s: latchkey ended with status %d", what, user, status); break;
    }
}

// MARK: Authentication

EXPORTED int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)flags;
    struct lp_options options = options_of(pam, count, arguments);
    const char *user = user_of(pam), *password = item(pam, PAM_AUTHTOK);
    forget(pam);
    if (password != NULL) {
        keep(pam, user, password);
    } else if (options.ask) {
        char *typed = NULL;
        if (pam_prompt(pam, PAM_PROMPT_ECHO_OFF, &typed, "Login password, for the keychain: ") == PAM_SUCCESS &&
            typed != NULL)
            keep(pam, user, typed);
        if (typed != NULL)
            explicit_bzero(typed, strlen(typed));
        free(typed);
    }
    return PAM_IGNORE;
}

EXPORTED int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)pam, (void)flags, (void)count, (void)arguments;
    return PAM_IGNORE;
}

// MARK: Sessions

static void close_session_file(pam_handle_t *pam, void *session, int status) {
    (void)pam, (void)status;
    // No more than that: a forked child of the host may end its copy of the handle too.
    close(*(int *)session);
    free(session);
}

// -1, and errno: there is none.
static int session_file(pam_handle_t *pam, const char *user) {
    const struct passwd *entry = pam_modutil_getpwnam(pam, user);
    struct stat folder;
    char path[64];
    errno = EPERM;
    if (entry == NULL || geteuid() != 0)
        return -1;
    if ((mkdir(session_folder, 0700) != 0 && errno != EEXIST) || lstat(session_folder, &folder) != 0)
        return -1;
    errno = EPERM;
    if (!S_ISDIR(folder.st_mode) || folder.st_uid != 0 || (folder.st_mode & 022) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/%lu", session_folder, (unsigned long)entry->pw_uid);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

// Polled: to be woken out of flock(2) would take a signal, and those are the host's.
static bool shares_by(long long deadline, int session) {
    const struct timespec moment = { .tv_nsec = 10 * 1000 * 1000 };
    while (flock(session, LOCK_SH | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || lp_now() >= deadline)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

// A lock that all sessions of a user share, and that the kernel lets go of with each. Where
// the last one is just closing the keychain, it is waited for: what is opened after that
// stays open.
static void join_sessions(pam_handle_t *pam, const char *user, long long deadline) {
    int descriptor = session_file(pam, user), *session = malloc(sizeof *session);
    if (descriptor >= 0 && session != NULL && shares_by(deadline, descriptor)) {
        *session = descriptor;
        if (pam_set_data(pam, session_name, session, close_session_file) == PAM_SUCCESS)
            return;
        errno = ENOMEM;
    }
    pam_syslog(pam, LOG_WARNING, "this session of %s is not counted, and may be locked before it ends: %m", user);
    if (descriptor >= 0)
        close(descriptor);
    free(session);
}

EXPORTED int pam_sm_open_session(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)flags;
    struct lp_options options = options_of(pam, count, arguments);
    long long deadline = deadline_of(&options);
    const char *user = user_of(pam);
    // First: a session that ends now would lock what has just been opened. Half of the time
    // is left to open it in.
    if (options.lock_at_logout)
        join_sessions(pam, user, deadline - options.seconds * 500LL);
    const struct lp_stash *stash = kept(pam, user);
    char input[LP_LONGEST_INPUT];
    size_t length = stash == NULL ? 0 : lp_lines(input, stash->password, NULL);
    // Nobody needs it any more.
    forget(pam);
    if (length > 0) {
        const char *const command[] = { "latchkey", "unlock", "--login", NULL };
        report(pam, run_for(pam, &options, user, command, input, length, deadline), user, "unlocking");
    }
    return PAM_IGNORE;
}

EXPORTED int pam_sm_close_session(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)flags;
    struct lp_options options = options_of(pam, count, arguments);
    const void *session = NULL;
    if (!options.lock_at_logout || pam_get_data(pam, session_name, &session) != PAM_SUCCESS || session == NULL)
        return PAM_IGNORE;
    // Whoever has it alone is the last.
    if (flock(*(const int *)session, LOCK_EX | LOCK_NB) == 0) {
        const char *const command[] = { "latchkey", "lock", "--login", NULL };
        char nothing[1] = "";
        const char *user = user_of(pam);
        report(pam, run_for(pam, &options, user, command, nothing, 0, deadline_of(&options)), user, "locking");
    }
    // Closing alone would not do: what the host forked meanwhile has the same open file.
    flock(*(const int *)session, LOCK_UN);
    pam_set_data(pam, session_name, NULL, NULL);
    return PAM_IGNORE;
}

// MARK: Another password

EXPORTED int pam_sm_chauthtok(pam_handle_t *pam, int flags, int count, const char **arguments) {
    if ((flags & PAM_UPDATE_AUTHTOK) == 0)
        return PAM_IGNORE;
    struct lp_options options = options_of(pam, count, arguments);
    const char *user = user_of(pam), *old = item(pam, PAM_OLDAUTHTOK), *new = item(pam, PAM_AUTHTOK);
    if (new == NULL)
        return PAM_IGNORE;
    char input[LP_LONGEST_INPUT];
    size_t length = old == NULL ? 0 : lp_lines(input, old, new);
    // Without the old one (root gives a new one) an empty line stands for it: nothing is
    // changed, and only whose keychain has such a slot is told.
    bool is_known = length > 0;
    if (!is_known) {
        input[0] = '\n';
        length = 1;
    }
    const char *const command[] = { "latchkey", "slot", "change", "login", NULL };
    int status = run_for(pam, &options, user, command, input, length, deadline_of(&options));
    if (status == 0) {
        // What was typed at the login, where it has just expired, opens nothing any more.
        if (kept(pam, user) != NULL)
            keep(pam, user, new);
        return PAM_IGNORE;
    }
    if (status < 0 || status == 1)
        return PAM_IGNORE;
    if (is_known)
        report(pam, status, user, "following the password");
    else
        pam_syslog(pam, LOG_NOTICE, "the password of %s was set without the one before, or is no single line: the keychain does not follow", user);
    // What was killed may have changed it before.
    bool is_certain = status != LP_TIMED_OUT && status != LP_ENDED_BY_SIGNAL;
    if ((flags & PAM_SILENT) == 0)
        pam_info(pam, "The keychain %s open with the new password. As %s: latchkey slot add login",
                 is_certain ? "does not" : "may not", user);
    return PAM_IGNORE;
}
