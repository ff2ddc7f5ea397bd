// A process that starts a few programs for one that gave up execve(2): forked before the
// filter, it knows their paths and environments from then and takes a place in the list
// and arguments. A spare beside it goes on where it is killed.
#define _GNU_SOURCE
#include "latchkey_platform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static int err(void) { return errno ? -errno : -EIO; }

enum { most_bytes = 32 * 1024, most_words = 32, most_spares = 64 };

// What is asked, before the arguments; the answer repeats the number, so that one that
// nobody waits for any more is not taken for another's.
struct question { uint32_t number, index; };
struct answer { uint32_t number; int32_t outcome, pid; };

static void on_child(int signal) { (void)signal; }

static void watch_children(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, NULL);
}

// Whether that child was among those that have ended.
static int reap_all(pid_t awaited) {
    int found = 0;
    for (pid_t gone; (gone = waitpid(-1, NULL, WNOHANG)) > 0;) found |= gone == awaited;
    return found;
}

// argv of a request: the path, then what stands between NULs. 0 where it is none.
static int words_of(char *bytes, size_t count, const char *path, char **argv) {
    int words = 0;
    argv[words++] = (char *)path;
    if (count > 0 && bytes[count - 1] != 0) return 0;
    for (size_t at = 0; at < count; at += strlen(bytes + at) + 1) {
        if (words == most_words - 1) return 0;
        argv[words++] = bytes + at;
    }
    argv[words] = NULL;
    return words;
}

// Their own sockets are ours to make: who asks may make none.
static int start_peer(const struct lk_startable *program, char *const *argv, int *handle) {
    int32_t ends[2];
    int r = lk_socketpair(ends);
    if (r < 0) return r;
    r = lk_spawn_child(program->path, argv, program->environment, ends[1], -1);
    close(ends[1]);
    if (r < 0) close(ends[0]); else *handle = ends[0];
    return r;
}

// The number of the new process, 0 for a daemon, or -errno.
static int start(const struct lk_startable *program, char *const *argv, int keep, int *handle) {
    if (program->kind == LK_AS_DAEMON) return lk_spawn_daemon(program->path, argv, program->environment, keep);
    if (program->kind == LK_AS_PEER) return start_peer(program, argv, handle);
    int pid = lk_spawn_child(program->path, argv, program->environment, keep, -1);
    if (pid < 0) return pid;
    // Nobody else reaps it, so that the number is still its own.
    *handle = lk_pidfd_open(pid);
    return *handle < 0 ? *handle : pid;
}

static struct answer answer_to(char *bytes, size_t length, const struct lk_startable *programs, int32_t count,
                               int keep, int *handle) {
    struct question question;
    char *argv[most_words];
    if (length < sizeof question) return (struct answer){0, -EINVAL, 0};
    memcpy(&question, bytes, sizeof question);
    struct answer answer = {question.number, -EINVAL, 0};
    if (question.index >= (uint32_t)count) return answer;
    const struct lk_startable *program = &programs[question.index];
    if (!words_of(bytes + sizeof question, length - sizeof question, program->path, argv)) return answer;
    int r = start(program, argv, keep, handle);
    answer.outcome = r < 0 ? r : 0;
    answer.pid = r < 0 ? 0 : r;
    return answer;
}

// One that waits beside the server, on the same socket, and takes its place once that has
// ended: 0 is returned there and then. In the server its number, or -1. How many there
// may be is bounded, so that one that cannot live is not started for ever.
static pid_t make_spare(int fd, const sigset_t *none) {
    static int left = most_spares;
    if (left <= 0) return -1;
    pid_t server = getpid(), spare = fork();
    if (spare < 0) return -1;
    left--;
    if (spare != 0) return spare;
    // Told by the signal that is held back but while it waits.
    prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0);
    while (getppid() == server) {
        struct pollfd owner = {.fd = fd};
        if (ppoll(&owner, 1, NULL, none) > 0) _exit(0);
    }
    prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    return 0;
}

static _Noreturn void serve(int fd, const struct lk_startable *programs, int32_t count) {
    static char request[most_bytes];
    sigset_t children, none;
    sigemptyset(&none);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    for (pid_t spare = -1;;) {
        // Held back but while we wait, so that no end of a child is missed.
        sigprocmask(SIG_SETMASK, &children, NULL);
        watch_children();
        if (reap_all(spare)) spare = -1;
        while (spare < 0 && (spare = make_spare(fd, &none)) == 0) spare = -1;
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (ppoll(&ready, 1, NULL, &none) < 0) continue;
        struct lk_received got;
        int64_t length = lk_receive(fd, request, sizeof request, LK_NOW, &got);
        if (length == -EAGAIN) continue;
        // The process that we start programs for has ended.
        if (length <= 0) _exit(0);
        int handle = -1;
        struct answer answer = {0, -EINVAL, 0};
        if (!got.truncated) answer = answer_to(request, (size_t)length, programs, count, got.descriptor, &handle);
        if (got.descriptor >= 0) close(got.descriptor);
        if (lk_send(fd, &answer, sizeof answer, NULL, 0, NULL, 0, handle, 0) < 0) _exit(0);
        if (handle >= 0) close(handle);
    }
}

// A name of its own in the list of processes, where that of the program stood.
static void rename_process(void) {
    char *const *argv;
    int32_t argc = lk_arguments(&argv);
    static const char name[] = "latchkey-spawner";
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (argc < 1) return;
    char *end = argv[0] + strlen(argv[0]) + 1;
    for (int32_t i = 1; i < argc && argv[i] == end; i++) end += strlen(argv[i]) + 1;
    size_t room = (size_t)(end - argv[0]);
    memset(argv[0], 0, room);
    memcpy(argv[0], name, room < sizeof name ? room - 1 : sizeof name);
}

int lk_fork_spawner(const struct lk_startable *programs, int32_t count, int32_t *end) {
    int32_t ends[2], life[2];
    int r = lk_socketpair(ends);
    if (r < 0) return r;
    if ((r = lk_pipe(life)) < 0) {
        close(ends[0]);
        close(ends[1]);
        return r;
    }
    pid_t child = fork();
    if (child < 0) r = err();
    if (child != 0) {
        close(ends[1]);
        close(life[1]);
        if (child > 0) {
            // Until it has its name: one that is still called as we are would be taken for
            // a second of us, for as long as the machine keeps it waiting.
            char named;
            while (read(life[0], &named, 1) < 0 && errno == EINTR) {}
            *end = life[0];
            return ends[0];
        }
        close(ends[0]);
        close(life[0]);
        return r;
    }
    // Held, it would never see its owner's end.
    close(ends[0]);
    close(life[0]);
    setsid();
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    int null = open("/dev/null", O_RDWR), ours = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    int alive = fcntl(life[1], F_DUPFD_CLOEXEC, 10);
    if (null < 0 || ours < 0 || alive < 0 || chdir("/") < 0) _exit(1);
    for (int fd = 0; fd <= 2; fd++) dup2(null, fd);
    dup3(ours, 3, O_CLOEXEC);
    dup3(alive, 4, O_CLOEXEC);
    if (lk_close_range(5, ~0U) < 0) _exit(1);
    rename_process();
    char named = 0;
    if (write(4, &named, 1) != 1) _exit(1);
    // What the kernel does not have, or refuses, is told by latchkey doctor, as the kernel
    // shows it.
    (void)lk_restrict_calls(LK_CALLS_OF_SPAWNER);
    serve(3, programs, count);
}

int lk_ask_spawner(int32_t fd, uint32_t number, int32_t index, const void *arguments, size_t count, int32_t keep,
                   int32_t *handle) {
    struct question question = {number, (uint32_t)index};
    int64_t sent = lk_send(fd, &question, sizeof question, arguments, count, NULL, 0, keep, 1);
    if (sent < 0) return (int)sent;
    for (;;) {
        struct answer answer;
        struct lk_received got;
        int64_t length = lk_receive(fd, &answer, sizeof answer, LK_WAIT, &got);
        if (length < 0) return length == -EAGAIN ? -ETIMEDOUT : (int)length;
        if (length != sizeof answer) return -EPIPE;
        if (answer.number == number) {
            *handle = got.descriptor;
            return answer.outcome < 0 ? answer.outcome : answer.pid;
        }
        // To a question that was given up.
        if (got.descriptor >= 0) close(got.descriptor);
    }
}

int lk_signal_process(int32_t handle, int32_t signal) {
    return syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0) < 0 ? err() : 0;
}
