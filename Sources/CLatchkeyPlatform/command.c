// What the command line needs of the system: children with descriptors of
// their own, a command run in the foreground, a prompt without echo.
#define _GNU_SOURCE
#include "latchkey_platform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static int err(void) { return errno ? -errno : -EIO; }
#define RETRY(result, call) do { (result) = (call); } while ((result) == -1 && errno == EINTR)

// Whether a variable has the name of one of those that are given.
static int is_named(const char *variable, const char *const given[]) {
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; given[i]; i++) {
        if (strncmp(variable, given[i], length) == 0 && given[i][length] == '=') return 1;
    }
    return 0;
}

int lk_become(char *const argv[], const char *const given[]) {
    size_t count = 1;
    for (char **next = environ; next && *next; next++) count++;
    for (size_t i = 0; given[i]; i++) count++;
    const char **all = calloc(count, sizeof *all);
    if (!all) return -ENOMEM;
    size_t at = 0;
    for (char **next = environ; next && *next; next++) {
        if (!is_named(*next, given)) all[at++] = *next;
    }
    for (size_t i = 0; given[i]; i++) all[at++] = given[i];
    execvpe(argv[0], argv, (char *const *)all);
    int failure = err();
    free(all);
    return failure;
}

int lk_keep_on_exec(int32_t fd) { return fcntl(fd, F_SETFD, 0) < 0 ? err() : 0; }

int lk_pipe(int32_t out[2]) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return err();
    out[0] = ends[0];
    out[1] = ends[1];
    return 0;
}

char *const *lk_environment(void) { return environ; }

void lk_fill_standard_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        // Reading from a write-only null and writing to a read-only one fail.
        (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

// What a failed exec reports comes through a pipe that a successful one closes.
static int exec_outcome(int fd) {
    int failure = 0;
    ssize_t got;
    RETRY(got, read(fd, &failure, sizeof failure));
    close(fd);
    return got == (ssize_t)sizeof failure && failure ? -failure : 0;
}

static void reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
}

// Everything between fork and exec is async-signal-safe. `arrange` puts the
// descriptors in their places, and `report` into the last of them.
typedef int (*arrangement)(int report, const int *descriptors);

static int spawn(const char *path, char *const argv[], char *const envp[], arrangement arrange,
                 const int *descriptors, int channel, int apart) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return err();
    // Ignored, or with SA_NOCLDWAIT, a child could not be waited for. A program's own handler
    // stays: it may be somebody else's program, which waits for children of its own.
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 &&
        (action.sa_handler == SIG_IGN || (action.sa_handler == SIG_DFL && action.sa_flags & SA_NOCLDWAIT)))
        signal(SIGCHLD, SIG_DFL);
    pid_t child = fork();
    if (child == 0) {
        if (apart) setsid();
        reset_signals();
        umask(077);
        int failure = arrange(report[1], descriptors);
        int reached = failure ? report[1] : channel;
        if (!failure && apart && chdir("/") < 0) failure = errno;
        if (!failure) {
            execve(path, argv, envp);
            failure = errno;
        }
        (void)!write(reached, &failure, sizeof failure);
        _exit(127);
    }
    int failed = child < 0 ? err() : 0;
    close(report[1]);
    int outcome = exec_outcome(report[0]);
    if (failed) return failed;
    if (outcome == 0) return child;
    lk_reap(child);
    return outcome;
}

static void close_from(unsigned first) {
    if (lk_close_range(first, ~0U) < 0) _exit(127);
}

// Null, null, null, and two of the caller's, either of which may be missing.
static int arrange_descriptors(int report, const int *two) {
    int null = open("/dev/null", O_RDWR);
    int high_report = fcntl(report, F_DUPFD_CLOEXEC, 10);
    int high[2];
    if (null < 0 || high_report < 0) return errno;
    for (int i = 0; i < 2; i++) {
        high[i] = two[i] >= 0 ? fcntl(two[i], F_DUPFD, 10) : -1;
        if (two[i] >= 0 && high[i] < 0) return errno;
    }
    for (int fd = 0; fd <= 2; fd++) dup2(null, fd);
    for (int i = 0; i < 2; i++) {
        if (high[i] >= 0) dup2(high[i], 3 + i); else close(3 + i);
    }
    dup3(high_report, 5, O_CLOEXEC);
    close_from(6);
    return 0;
}

int lk_spawn_child(const char *path, char *const argv[], char *const envp[], int32_t third, int32_t fourth) {
    const int two[2] = {third, fourth};
    return spawn(path, argv, envp, arrange_descriptors, two, 5, 1);
}

// The caller's three streams and nothing else.
static int arrange_streams(int report, const int *streams) {
    int high_report = fcntl(report, F_DUPFD_CLOEXEC, 10);
    int high[3];
    if (high_report < 0) return errno;
    for (int fd = 0; fd <= 2; fd++) {
        if ((high[fd] = fcntl(streams[fd], F_DUPFD_CLOEXEC, 10)) < 0) return errno;
    }
    for (int fd = 0; fd <= 2; fd++) dup2(high[fd], fd);
    dup3(high_report, 3, O_CLOEXEC);
    close_from(4);
    return 0;
}

int lk_spawn_tool(const char *path, char *const argv[], char *const envp[], int32_t in, int32_t out, int32_t log,
                  int32_t apart) {
    const int streams[3] = {in, out, log};
    return spawn(path, argv, envp, arrange_streams, streams, 3, apart);
}

int lk_reap(int32_t pid) {
    int status, r;
    RETRY(r, waitpid(pid, &status, 0));
    return r < 0 && errno != ECHILD ? err() : 0;
}

int lk_reap_status(int32_t pid) {
    int status, r;
    RETRY(r, waitpid(pid, &status, 0));
    if (r < 0) return err();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lk_empty_descriptor(int32_t fd) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), r;
    if (null < 0) return err();
    RETRY(r, dup2(null, fd));
    int failure = r < 0 ? err() : 0;
    close(null);
    return failure;
}

int lk_kill(int32_t pid) { return kill(pid, SIGKILL) < 0 ? err() : 0; }

int lk_terminate(int32_t pid) { return kill(pid, SIGTERM) < 0 ? err() : 0; }

// Waits for the child, handing on what other processes send to us.
static int wait_handing_on(pid_t child, const sigset_t *watched) {
    for (;;) {
        int status, r;
        RETRY(r, waitpid(child, &status, WNOHANG));
        if (r < 0) return 127;
        if (r == child) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        siginfo_t about;
        int s = sigwaitinfo(watched, &about);
        // What the kernel makes for a terminal goes to its whole foreground group, but for the
        // end of the terminal itself, which only the leader of the session hears of (setsid(2),
        // tty_ioctl(4)).
        int from_terminal = about.si_code == SI_KERNEL && !(s == SIGHUP && getsid(0) == getpid());
        if (s > 0 && s != SIGCHLD && !from_terminal) kill(child, s);
    }
}

int lk_run_command(char *const argv[], char *const envp[], int32_t input, int32_t *outcome) {
    static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t watched, before;
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++) sigaddset(&watched, handed_on[i]);
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return err();
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &watched, &before);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        if (getppid() != parent) _exit(128 + SIGTERM);
        int failure = 0, r;
        if (input >= 0) {
            RETRY(r, dup2(input, 0));
            if (r < 0) failure = errno;
        }
        if (!failure) {
            execvpe(argv[0], argv, envp);
            failure = errno;
        }
        (void)!write(report[1], &failure, sizeof failure);
        _exit(127);
    }
    int failed = child < 0 ? err() : 0;
    close(report[1]);
    int executed = exec_outcome(report[0]);
    if (failed) return failed;
    *outcome = wait_handing_on(child, &watched);
    return executed;
}

static volatile sig_atomic_t caught[NSIG];
static void note_signal(int s) { caught[s] = 1; }
static const int prompt_signals[] = {SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
enum { prompt_signal_count = sizeof prompt_signals / sizeof *prompt_signals };

// Held back but while we wait, so that none comes between a look and the wait. The
// two that a background process gets for using the terminal are not: the calls that
// cause them fail otherwise.
static void hold_prompt_signals(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < prompt_signal_count; i++) {
        if (prompt_signals[i] != SIGTTIN && prompt_signals[i] != SIGTTOU) sigaddset(&held, prompt_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &held, before);
}

static int any_caught(void) {
    for (int i = 0; i < prompt_signal_count; i++) {
        if (caught[prompt_signals[i]]) return 1;
    }
    return 0;
}

// One byte, 0 at the end, or -errno: -EINTR where a signal came.
static int64_t read_byte(int in, char *byte, const sigset_t *outside) {
    struct pollfd ready = {.fd = in, .events = POLLIN};
    if (any_caught()) return -EINTR;
    if (ppoll(&ready, 1, NULL, outside) < 0) return err();
    ssize_t got = read(in, byte, 1);
    return got < 0 ? err() : got;
}

// One line, or how it ended.
static int64_t read_line(int in, char *buffer, size_t capacity, const sigset_t *outside) {
    size_t count = 0;
    for (;;) {
        char c;
        int64_t got = read_byte(in, &c, outside);
        if (got < 0) return got;
        if (got == 0) return count ? (int64_t)count : -ECANCELED;
        if (c == '\n' || c == '\r') return (int64_t)count;
        if (count == capacity) return -E2BIG;
        buffer[count++] = c;
    }
}

struct lk_hidden_input {
    int in, out;
    int is_noting, is_hidden;
    struct termios shown;
    struct sigaction before[prompt_signal_count];
};

struct lk_hidden_input *lk_hidden_input_begin(int32_t in, int32_t out) {
    struct lk_hidden_input *input = calloc(1, sizeof *input);
    if (!input) abort();
    input->in = in;
    input->out = out;
    return input;
}

static int hide_input(struct lk_hidden_input *input) {
    struct sigaction noting;
    memset(&noting, 0, sizeof noting);
    sigemptyset(&noting.sa_mask);
    noting.sa_handler = note_signal;   // no SA_RESTART: read returns EINTR
    for (int i = 0; i < prompt_signal_count; i++) {
        caught[prompt_signals[i]] = 0;
        sigaction(prompt_signals[i], &noting, &input->before[i]);
    }
    input->is_noting = 1;
    if (tcgetattr(input->in, &input->shown) < 0) return err();
    struct termios hidden = input->shown;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    // What was typed before anything was asked is no answer.
    if (tcsetattr(input->in, TCSAFLUSH, &hidden) < 0) return err();
    input->is_hidden = 1;
    return 0;
}

// Lets the signals that came take their course; 1 where one of them stopped us.
static int show_input(struct lk_hidden_input *input) {
    int r;
    // The rest of what was meant for us is nobody else's: a shell would run it.
    // In the background nobody may (SIGTTOU, which is noted): then it stays, as readpassphrase(3)
    // leaves it, and is not asked for again and again.
    if (input->is_hidden) {
        do r = tcsetattr(input->in, TCSAFLUSH, &input->shown);
        while (r < 0 && errno == EINTR && !caught[SIGTTOU]);
    }
    input->is_hidden = 0;
    if (!input->is_noting) return 0;
    input->is_noting = 0;
    for (int i = 0; i < prompt_signal_count; i++) sigaction(prompt_signals[i], &input->before[i], NULL);
    int stopped = 0;
    for (int i = 0; i < prompt_signal_count; i++) {
        int s = prompt_signals[i];
        if (!caught[s]) continue;
        kill(getpid(), s);
        if (s == SIGTSTP || s == SIGTTIN || s == SIGTTOU) stopped = 1;
    }
    return stopped;
}

static int64_t hidden_line(const struct lk_hidden_input *input, const char *prompt, char *buffer, size_t capacity) {
    (void)!write(input->out, prompt, strlen(prompt));
    sigset_t outside;
    hold_prompt_signals(&outside);
    int64_t result = read_line(input->in, buffer, capacity, &outside);
    sigprocmask(SIG_SETMASK, &outside, NULL);
    (void)!write(input->out, "\n", 1);
    return result;
}

int64_t lk_hidden_input_line(struct lk_hidden_input *input, const char *prompt, char *buffer, size_t capacity) {
    for (;;) {
        int64_t result = input->is_hidden ? 0 : hide_input(input);
        if (!result) result = hidden_line(input, prompt, buffer, capacity);
        if (result != -EINTR) return result;
        lk_wipe(buffer, capacity);
        if (!show_input(input)) return -EINTR;   // the signal is ignored or handled elsewhere
    }
}

void lk_hidden_input_end(struct lk_hidden_input *input) {
    show_input(input);
    free(input);
}

static void held_signals(sigset_t *set) {
    static const int held[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) sigaddset(set, held[i]);
}

int lk_hold_signals(void) {
    sigset_t set;
    held_signals(&set);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) return err();
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fd;
}

void lk_release_signals(void) {
    sigset_t set;
    held_signals(&set);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int lk_next_signal(int32_t fd) {
    struct signalfd_siginfo about;
    ssize_t got;
    RETRY(got, read(fd, &about, sizeof about));
    return got == (ssize_t)sizeof about ? (int)about.ssi_signo : SIGTERM;
}

int lk_terminal_size(int32_t fd, int32_t *columns, int32_t *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0) return err();
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}
