/// The program that mounts the attacks: C, so that it can do what no honest
/// client does. Its arguments are steps, done one after the other; built with
/// -DPRELOAD it is a library that does the lines of $PUPPET_STEPS inside another
/// program and ends that.
enum PuppetSource {
    static let text = #"""
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <poll.h>
        #include <sched.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mount.h>
        #include <sys/prctl.h>
        #include <sys/ptrace.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/types.h>
        #include <sys/time.h>
        #include <sys/un.h>
        #include <sys/wait.h>
        #include <unistd.h>

        static int sock = -1;
        static unsigned char frame[256];   // prefix of 8 bytes, header, tail
        static char keeper_stack[64 * 1024];

        static void fail(const char *what) {
            dprintf(2, "puppet: %s: %s\n", what, strerror(errno));
            _exit(99);
        }

        static void must(long result, const char *what) { if (result < 0) fail(what); }

        static void emit(const void *bytes, size_t count, int descriptors) {
            struct iovec part = {(void *)bytes, count};
            union { char bytes[CMSG_SPACE(2 * sizeof(int))]; struct cmsghdr align; } control;
            struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
            if (descriptors) {
                int passed[2] = {2, 2};
                memset(&control, 0, sizeof control);
                message.msg_control = control.bytes;
                message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
                struct cmsghdr *c = CMSG_FIRSTHDR(&message);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
                memcpy(CMSG_DATA(c), passed, descriptors * sizeof(int));
            }
            must(sendmsg(sock, &message, MSG_NOSIGNAL), "sendmsg");
        }

        // The answer: header "hi", tail the nonce.
        static void answer(int descriptors, int wrong) {
            unsigned char out[8 + 2 + 32] = {0x4C, 0, 0, 0, 2, 0, 0, 0, 'h', 'i'};
            memcpy(out + 10, frame + 8, 32);
            out[10] ^= (unsigned char)wrong;
            emit(out, sizeof out, descriptors);
        }

        // The answer, with the number of the parent in place of our own.
        static void forge(void) {
            unsigned char out[8 + 32] = {0x4C, 0, 0, 0, 0, 0, 0, 0};
            struct ucred parent = {getppid(), getuid(), getgid()};
            struct iovec part = {out, sizeof out};
            int passed = 2;
            union { char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof parent)]; struct cmsghdr align; } control;
            struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                                     .msg_controllen = sizeof control.bytes};
            memcpy(out + 8, frame + 8, 32);
            memset(&control, 0, sizeof control);
            struct cmsghdr *c = CMSG_FIRSTHDR(&message);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof passed);
            memcpy(CMSG_DATA(c), &passed, sizeof passed);
            c = CMSG_NXTHDR(&message, c);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_CREDENTIALS;
            c->cmsg_len = CMSG_LEN(sizeof parent);
            memcpy(CMSG_DATA(c), &parent, sizeof parent);
            if (sendmsg(sock, &message, MSG_NOSIGNAL) < 0) (void)!write(1, "forbidden", 9);
        }

        static void say(const char *word) { must(write(1, word, strlen(word)), "say"); }

        // Bytes written as hexadecimal digits.
        static size_t bytes_of(const char *hex, unsigned char *out, size_t space) {
            size_t n = 0;
            unsigned byte;
            for (; n < space && sscanf(hex, "%2x", &byte) == 1; hex += 2) out[n++] = (unsigned char)byte;
            return n;
        }

        // The next message, 0 at the end of the connection.
        static size_t next_message(unsigned char *into, size_t space) {
            struct timeval patience = {20, 0};
            must(setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), "timeout");
            ssize_t n = recv(sock, into, space, 0);
            if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) { say("silent"); _exit(0); }
            return n < 0 ? 0 : (size_t)n;
        }

        // A client's hello with this header, as far as a daemon goes along with it.
        static void hello(const char *header) {
            unsigned char in[65536], out[256] = {0x4C};
            if (next_message(in, sizeof in) != 40 || in[4] != 0) return;
            size_t count = bytes_of(header, out + 8, 128);
            out[4] = (unsigned char)count;
            memcpy(out + 8 + count, in + 8, 32);
            struct iovec part = {out, 8 + count + 32};
            int passed = 2;
            union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
            memset(&control, 0, sizeof control);
            struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                                     .msg_controllen = sizeof control.bytes};
            struct cmsghdr *c = CMSG_FIRSTHDR(&message);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof passed);
            memcpy(CMSG_DATA(c), &passed, sizeof passed);
            if (sendmsg(sock, &message, MSG_NOSIGNAL) > 0) next_message(in, sizeof in);
        }

        // Reads until the secret comes ("told") or the connection ends ("refused").
        static void tell_outcome(const char *secret) {
            unsigned char in[65536];
            size_t n;
            while ((n = next_message(in, sizeof in)) > 0) {
                if (memmem(in, n, secret, strlen(secret))) { say("told"); return; }
            }
            say("refused");
        }

        // Sends a request, whether or not the daemon still listens.
        static void ask(const char *request, const char *secret) {
            unsigned char out[4096];
            size_t n = bytes_of(request, out, sizeof out);
            if (send(sock, out, n, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET) fail("ask");
            tell_outcome(secret);
        }

        // A child says when something has come, and takes nothing away.
        static void watch(void) {
            if (fork() > 0) return;
            alarm(60);
            struct pollfd waiting = {sock, POLLIN, 0};
            must(poll(&waiting, 1, 60000), "poll");
            say("challenged");
            _exit(0);
        }

        // A child says how the connection ends and what was left unread in it.
        static void spectate(const char *secret) {
            if (fork() > 0) return;
            alarm(60);
            struct pollfd waiting = {sock, POLLRDHUP, 0};
            if (poll(&waiting, 1, 20000) != 1) { say("silent"); _exit(0); }
            tell_outcome(secret);
            _exit(0);
        }

        static void connect_to(const char *path) {
            struct sockaddr_un to = {.sun_family = AF_UNIX};
            strncpy(to.sun_path, path, sizeof to.sun_path - 1);
            sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);   // survives an exec on purpose
            must(sock, "socket");
            must(connect(sock, (struct sockaddr *)&to, sizeof to), "connect");
        }

        static void listen_at(const char *path) {
            struct sockaddr_un at = {.sun_family = AF_UNIX};
            strncpy(at.sun_path, path, sizeof at.sun_path - 1);
            sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
            must(bind(sock, (struct sockaddr *)&at, sizeof at), "bind");
            must(listen(sock, 4), "listen");
        }

        static void link_of(pid_t pid, char *out, size_t size) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
            ssize_t n = readlink(path, out, size - 1);
            out[n < 0 ? 0 : n] = 0;
        }

        // The parent becomes `program` and waits; the child goes on with the socket
        // once that has happened.
        static void swap(const char *program) {
            pid_t parent = getpid(), child = fork();
            must(child, "fork");
            if (child > 0) {
                execl(program, program, "60", (char *)NULL);
                fail("exec");
            }
            alarm(60);
            char now[4096];
            do { sched_yield(); link_of(parent, now, sizeof now); } while (strcmp(now, program) != 0);
        }

        static int keep(void *unused) {
            (void)unused;
            syscall(SYS_pause);
            return 0;
        }

        static void foreign(int flags) {
            char map[64];
            uid_t uid = getuid();
            gid_t gid = getgid();
            if (unshare(flags) < 0) { say("forbidden"); _exit(0); }
            int fd = open("/proc/self/uid_map", O_WRONLY);
            must(write(fd, map, (size_t)snprintf(map, sizeof map, "%d %d 1", (int)uid, (int)uid)), "uid_map");
            close(fd);
            if ((fd = open("/proc/self/setgroups", O_WRONLY)) >= 0) { (void)!write(fd, "deny", 4); close(fd); }
            fd = open("/proc/self/gid_map", O_WRONLY);
            must(write(fd, map, (size_t)snprintf(map, sizeof map, "%d %d 1", (int)gid, (int)gid)), "gid_map");
            close(fd);
        }

        static void join_group(const char *folder) {
            char path[4096], pid[16];
            snprintf(path, sizeof path, "%s/cgroup.procs", folder);
            int fd = open(path, O_WRONLY);
            must(fd, path);
            must(write(fd, pid, (size_t)snprintf(pid, sizeof pid, "%d", (int)getpid())), path);
            close(fd);
        }

        static void program(int argc, char **argv) {
            alarm(60);
            signal(SIGPIPE, SIG_IGN);
            for (int i = 0; i < argc; i++) {
                const char *step = argv[i];
        #define STEP(name) else if (strcmp(step, name) == 0)
        #define NEXT (i + 1 < argc ? argv[++i] : (fail("argument missing"), (char *)0))
                if (0) {}
                STEP("connect") connect_to(NEXT);
                STEP("listen") listen_at(NEXT);
                STEP("adopt") sock = atoi(NEXT);
                STEP("nonce") must(recv(sock, frame, sizeof frame, 0) == 40 ? 0 : -1, "nonce");
                STEP("answer") answer(1, 0);
                STEP("answer-bare") answer(0, 0);
                STEP("answer-two") answer(2, 0);
                STEP("answer-wrong") answer(1, 1);
                STEP("hello") hello(NEXT);
                STEP("ask") { const char *request = NEXT; ask(request, NEXT); }
                STEP("watch") watch();
                STEP("spectate") spectate(NEXT);
                STEP("forge") forge();
                STEP("session") must(setsid(), "setsid");
                STEP("garbage") emit("no message", 10, 1);
                STEP("message") emit("L\0\0\0\0\0\0\0", 8, 0);
                STEP("close") { close(sock); sock = -1; }
                STEP("say") say(NEXT);
                STEP("hear") { char c[64]; if (read(0, c, sizeof c) <= 0) _exit(0); }
                STEP("undumpable") must(prctl(PR_SET_DUMPABLE, 0), "prctl");
                STEP("traced") must(ptrace(PTRACE_TRACEME, 0, 0, 0), "ptrace");
                STEP("group") join_group(NEXT);
                STEP("user") {
                    int id = atoi(NEXT);
                    must(setresgid(id, id, id), "setresgid");
                    must(setresuid(id, id, id), "setresuid");
                    must(prctl(PR_SET_DUMPABLE, 1), "prctl");
                }
                STEP("swap") swap(NEXT);
                STEP("fork") {
                    pid_t child = fork();
                    must(child, "fork");
                    if (child > 0) { int status; for (;;) { waitpid(child, &status, 0); pause(); } }
                    alarm(60);
                }
                STEP("abandon") {
                    pid_t parent = getpid();
                    if (fork() > 0) _exit(0);
                    alarm(60);
                    while (getppid() == parent) sched_yield();
                }
                STEP("share-memory") {
                    must(clone(keep, keeper_stack + sizeof keeper_stack, CLONE_VM | SIGCHLD, 0), "clone");
                }
                STEP("foreign") foreign(CLONE_NEWUSER | CLONE_NEWNS);
                STEP("foreign-user") foreign(CLONE_NEWUSER);
                STEP("foreign-mount") must(unshare(CLONE_NEWNS), "unshare");
                STEP("enter") { must(chroot(NEXT), "chroot"); must(chdir("/"), "chdir"); }
                STEP("remove") must(unlink(NEXT), "unlink");
                STEP("rename") { const char *from = NEXT; must(rename(from, NEXT), "rename"); }
                STEP("stdio") { must(dup2(sock, 0), "dup2"); must(dup2(sock, 1), "dup2"); }
                STEP("exec") { execv(argv[i + 1], argv + i + 1); fail("exec"); }
                else { errno = EINVAL; fail(step); }
            }
        }

        #ifdef PRELOAD
        __attribute__((constructor)) static void inside(void) {
            char *steps = getenv("PUPPET_STEPS"), *words[64];
            int count = 0;
            if (!steps) return;
            unsetenv("LD_PRELOAD");
            for (char *word = strtok(steps, "\n"); word && count < 64; word = strtok(NULL, "\n")) words[count++] = word;
            program(count, words);
            _exit(0);
        }
        #else
        int main(int argc, char **argv) {
            program(argc - 1, argv + 1);
            return 0;
        }
        #endif
        """#
}
