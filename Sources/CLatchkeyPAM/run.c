// Runs a program as another user from within a process that is not ours: sshd, login, su,
// a display manager. It may have threads, handlers of its own and children that it waits
// for, so everything that could wait or allocate is done before the fork.
//
// Two processes: a watcher, which the caller is not told of (it ends without a signal, and
// plain wait calls do not see it), and the program. The watcher stays what the caller is
// and keeps the time; the program becomes the person before it looks at anything of theirs.
#define _GNU_SOURCE
#include "latchkey_pam.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifdef SYS_setgroups32
#define LP_SYS_setgroups SYS_setgroups32
#define LP_SYS_setresgid SYS_setresgid32
#define LP_SYS_setresuid SYS_setresuid32
#define LP_SYS_setuid SYS_setuid32
#else
#define LP_SYS_setgroups SYS_setgroups
#define LP_SYS_setresgid SYS_setresgid
#define LP_SYS_setresuid SYS_setresuid
#define LP_SYS_setuid SYS_setuid
#endif

// All that is needed after the fork.
struct plan {
    const char *program;
    const char *const *arguments;
    const struct lp_person *person;
    bool is_root;
    int input, null;
    long long deadline;
    // The last place is for XDG_RUNTIME_DIR, where there is one.
    char *environment[6];
    char *runtime_variable, *runtime;
};

// As fork(2), without the handlers that libraries put there, and without a word to whoever
// waits for children where `signal` is 0.
static pid_t fork_with(int signal, int *process) {
    unsigned long flags = CLONE_PIDFD | (unsigned long)signal;
#if defined(__s390__) || defined(__CRIS__)
    return (pid_t)syscall(SYS_clone, 0, flags, process, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, flags, 0, process, 0, 0);
#endif
}

static void forget_handlers(void) {
    struct sigaction plain = { .sa_handler = SIG_DFL };
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &plain, NULL);
}

// Both included.
static void close_from(unsigned first, unsigned last) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0U) == 0)
        return;
#endif
    struct rlimit limit;
    unsigned most = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (unsigned)limit.rlim_cur : 65536;
    for (unsigned descriptor = first; descriptor <= last && descriptor < most; descriptor++)
        close((int)descriptor);
}

// For this thread, which is the only one of its process: libc's own functions would ask
// threads that are not there.
static bool become(const struct plan *plan) {
    const struct lp_person *person = plan->person;
    if (plan->is_root &&
        (syscall(LP_SYS_setgroups, person->group_count, person->groups) != 0 ||
         syscall(LP_SYS_setresgid, person->group, person->group, person->group) != 0 ||
         syscall(LP_SYS_setresuid, person->user, person->user, person->user) != 0))
        return false;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#ifdef PR_CAP_AMBIENT
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
#endif
    uid_t real, effective, saved;
    gid_t group, effective_group, saved_group;
    if (getresuid(&real, &effective, &saved) != 0 || getresgid(&group, &effective_group, &saved_group) != 0 ||
        real != person->user || effective != person->user || saved != person->user)
        return false;
    if (plan->is_root && (group != person->group || effective_group != person->group || saved_group != person->group))
        return false;
    // There is no way back.
    return person->user == 0 || syscall(LP_SYS_setuid, 0) != 0;
}

// The program's side; never returns.
static void run(struct plan *plan) {
    forget_handlers();
    if (setsid() < 0 || dup2(plan->input, 0) < 0 || dup2(plan->null, 1) < 0 || dup2(plan->null, 2) < 0)
        _exit(LP_NOT_RUN);
    close_from(3, ~0U);
    umask(077);
    if (!become(plan) || chdir("/") != 0)
        _exit(LP_NOT_RUN);
    // The person's own folder, looked at by the person: whatever it is, only they wait for it.
    struct stat folder;
    if (lstat(plan->runtime, &folder) == 0 && S_ISDIR(folder.st_mode) && folder.st_uid == plan->person->user &&
        (folder.st_mode & 07777) == 0700)
        plan->environment[4] = plan->runtime_variable;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(plan->program, (char *const *)plan->arguments, plan->environment);
    _exit(LP_NOT_RUN);
}

static int status_of(int process, int options) {
    siginfo_t info = { 0 };
    while (waitid((idtype_t)P_PIDFD, (id_t)process, &info, WEXITED | options) != 0)
        if (errno != EINTR)
            return LP_NOT_RUN;
    return info.si_code == CLD_EXITED ? info.si_status : LP_ENDED_BY_SIGNAL;
}

long long lp_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// Every signal is blocked but those that libc keeps for itself: a thread of the host's that
// changes its ids interrupts all others.
static bool ends_by(long long deadline, int process) {
    struct pollfd watched = { .fd = process, .events = POLLIN };
    for (;;) {
        long long left = deadline - lp_now();
        int found = poll(&watched, 1, left > 0 ? (int)left : 0);
        if (found >= 0 || errno != EINTR)
            return found == 1;
    }
}

// The watcher's side; never returns.
static void watch(struct plan *plan) {
    // Its own: a caller that ignores the end of children would have the program's status lost.
    forget_handlers();
    int program = -1;
    pid_t number = fork_with(SIGCHLD, &program);
    if (number == 0)
        run(plan);
    if (number < 0)
        _exit(LP_NOT_RUN);
    // What the host closes meanwhile is closed: a socket, a terminal, a lock.
    if (program > 0)
        close_from(0, (unsigned)program - 1);
    close_from((unsigned)(program + 1), ~0U);
    if (program >= 0 && ends_by(plan->deadline, program))
        _exit(status_of(program, 0));
    // All of its process group. Nobody waits for one that the kernel holds, in a home that is gone.
    kill(-number, SIGKILL);
    kill(number, SIGKILL);
    _exit(program < 0 ? LP_NOT_RUN : LP_TIMED_OUT);
}

// Out of the way of standard input, output and errors, which the caller may have closed.
static int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > 2)
        return descriptor;
    int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    close(descriptor);
    return higher;
}

// With the input in it, which is wiped; -1: none.
static int filled_pipe(char *input, size_t count) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        explicit_bzero(input, count);
        return -1;
    }
    // A pipe holds a page at the least: whoever reads it finds everything, and its end.
    bool is_whole = count <= 4096 && write(ends[1], input, count) == (ssize_t)count;
    explicit_bzero(input, count);
    close(ends[1]);
    if (is_whole && fcntl(ends[0], F_SETFL, 0) == 0)
        return above_standard(ends[0]);
    close(ends[0]);
    return -1;
}

bool lp_is_roots(const char *path, char resolved[PATH_MAX]) {
    if (path[0] != '/' || realpath(path, resolved) == NULL)
        return false;
    struct stat status;
    char part[PATH_MAX] = "/";
    for (size_t end = 0;; end++) {
        if (resolved[end] != '/' && resolved[end] != '\0')
            continue;
        if (end > 0)
            memcpy(part, resolved, end);
        part[end > 0 ? end : 1] = '\0';
        if (lstat(part, &status) != 0 || status.st_uid != 0 || (status.st_mode & 022) != 0)
            return false;
        if (resolved[end] == '\0')
            return S_ISREG(status.st_mode) && (status.st_mode & 0111) == 0111;
        if (!S_ISDIR(status.st_mode))
            return false;
    }
}

static int run_planned(struct plan *plan) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return LP_NOT_RUN;
    int watcher = -1;
    pid_t number = fork_with(0, &watcher);
    if (number == 0)
        watch(plan);
    int status = LP_NOT_RUN;
    if (number > 0 && watcher < 0) {
        // Before Linux 5.2 there is no descriptor, and nothing to wait with.
        kill(number, SIGKILL);
        waitpid(number, NULL, __WALL);
    } else if (number > 0) {
        // A watcher that is stopped holds nobody up either.
        if (ends_by(plan->deadline + 1000, watcher)) {
            status = status_of(watcher, __WALL);
        } else {
            kill(number, SIGKILL);
            status_of(watcher, __WALL);
            status = LP_TIMED_OUT;
        }
        close(watcher);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int lp_run(const char *program, const char *const arguments[], const struct lp_person *person,
           char *input, size_t count, long long deadline) {
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char home[PATH_MAX + 8], user[LP_LONGEST_NAME + 8], login[LP_LONGEST_NAME + 12], runtime[64];
    if (snprintf(home, sizeof home, "HOME=%s", person->home) >= (int)sizeof home ||
        snprintf(user, sizeof user, "USER=%s", person->name) >= (int)sizeof user ||
        snprintf(login, sizeof login, "LOGNAME=%s", person->name) >= (int)sizeof login) {
        explicit_bzero(input, count);
        return LP_NOT_RUN;
    }
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=/run/user/%lu", (unsigned long)person->user);
    struct plan plan = {
        .program = program,
        .arguments = arguments,
        .person = person,
        .is_root = geteuid() == 0,
        .input = filled_pipe(input, count),
        .null = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC)),
        .deadline = deadline,
        .environment = { home, user, login, path, NULL, NULL },
        .runtime_variable = runtime,
        .runtime = strchr(runtime, '=') + 1,
    };
    int status = LP_NOT_RUN;
    if (plan.input >= 0 && plan.null >= 0)
        status = run_planned(&plan);
    if (plan.input >= 0)
        close(plan.input);
    if (plan.null >= 0)
        close(plan.null);
    return status;
}
