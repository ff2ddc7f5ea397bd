// A process that starts a few programs for one that gave up execve(2): forked before the
// filter, it knows their paths and environments from then and takes an index and
// arguments.
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

enum { most_bytes = 32 * 1024, most_words = 32 };

struct answer { int32_t outcome, pid; };

static void on_child(int signal) { (void)signal; }

// Starting resets what SIGCHLD does.
static void watch_children(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, NULL);
}

static void reap_all(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
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

static struct answer start(const struct lk_startable *programs, int32_t count, char *request, size_t length, int keep,
                           int *handle) {
    struct answer answer = {-EINVAL, 0};
    char *argv[most_words];
    unsigned index = length > 0 ? (unsigned char)request[0] : ~0U;
    if (index >= (unsigned)count || !words_of(request + 1, length - 1, programs[index].path, argv)) return answer;
    const struct lk_startable *program = &programs[index];
    if (program->is_daemon) {
        answer.outcome = lk_spawn_daemon(program->path, argv, program->environment, keep);
        return answer;
    }
    int pid = lk_spawn_child(program->path, argv, program->environment, keep, -1);
    if (pid < 0) {
        answer.outcome = pid;
        return answer;
    }
    // Nobody else reaps it, so that the number is still its own.
    *handle = lk_pidfd_open(pid);
    answer.outcome = *handle < 0 ? *handle : 0;
    answer.pid = pid;
    return answer;
}

static _Noreturn void serve(int fd, const struct lk_startable *programs, int32_t count) {
    static char request[most_bytes];
    sigset_t children, none;
    sigemptyset(&none);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    for (;;) {
        // Held back but while we wait, so that no end of a child is missed.
        sigprocmask(SIG_SETMASK, &children, NULL);
        watch_children();
        reap_all();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (ppoll(&ready, 1, NULL, &none) < 0) continue;
        struct lk_received got;
        int64_t length = lk_receive(fd, request, sizeof request, LK_NOW, &got);
        if (length == -EAGAIN) continue;
        // The process that we start programs for has ended.
        if (length <= 0) _exit(0);
        int handle = -1;
        struct answer answer = {-EINVAL, 0};
        if (!got.truncated) answer = start(programs, count, request, (size_t)length, got.descriptor, &handle);
        if (got.descriptor >= 0) close(got.descriptor);
        if (lk_send(fd, &answer, sizeof answer, NULL, 0, NULL, 0, handle, 0) < 0) _exit(0);
        if (handle >= 0) close(handle);
    }
}

// A name of its own in the list of processes, where that of the program stood.
static void rename_process(char *const *argv, int32_t argc) {
    static const char name[] = "latchkey-starter";
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (argc < 1) return;
    char *end = argv[0] + strlen(argv[0]) + 1;
    for (int32_t i = 1; i < argc && argv[i] == end; i++) end += strlen(argv[i]) + 1;
    size_t room = (size_t)(end - argv[0]);
    memset(argv[0], 0, room);
    memcpy(argv[0], name, room < sizeof name ? room - 1 : sizeof name);
}

int lk_fork_starter(const struct lk_startable *programs, int32_t count, char *const *argv, int32_t argc,
                    int32_t *end) {
    int32_t ends[2];
    int r = lk_socketpair(ends);
    if (r < 0) return r;
    pid_t child = fork();
    if (child < 0) {
        r = err();
        close(ends[0]);
        close(ends[1]);
        return r;
    }
    if (child > 0) {
        close(ends[1]);
        *end = lk_pidfd_open(child);
        return ends[0];
    }
    setsid();
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    int null = open("/dev/null", O_RDWR), ours = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    if (null < 0 || ours < 0 || chdir("/") < 0) _exit(1);
    for (int fd = 0; fd <= 2; fd++) dup2(null, fd);
    dup3(ours, 3, O_CLOEXEC);
    lk_close_range(4, ~0U);
    rename_process(argv, argc);
    serve(3, programs, count);
}

int lk_ask_starter(int32_t fd, int32_t index, const void *arguments, size_t count, int32_t keep, int32_t *handle) {
    unsigned char first = (unsigned char)index;
    int64_t sent = lk_send(fd, &first, 1, arguments, count, NULL, 0, keep, 0);
    if (sent < 0) return (int)sent;
    struct answer answer;
    struct lk_received got;
    int64_t length = lk_receive(fd, &answer, sizeof answer, LK_WAIT, &got);
    *handle = got.descriptor;
    if (length < 0) return (int)length;
    if (length != sizeof answer) return -EPIPE;
    return answer.outcome < 0 ? answer.outcome : answer.pid;
}

int lk_signal_process(int32_t handle, int32_t signal) {
    return syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0) < 0 ? err() : 0;
}
