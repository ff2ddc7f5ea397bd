// What a process of ours gives up for good: calls (seccomp(2)), files, network and
// other processes (landlock(7)), new code (PR_SET_MDWE), and starting programs, which
// a child that was forked before does for it.
#define _GNU_SOURCE
#include "latchkey_platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The headers that we build with may be older than the kernel that we run on.
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65          // linux/prctl.h, Linux 6.3
#define PR_GET_MDWE 66
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41   // linux/prctl.h, Linux 5.17
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

static int err(void) { return errno ? -errno : -EIO; }

// MARK: New code

// valgrind hands this on to the kernel and then cannot translate us; it knows no pidfds,
// which every kernel with PR_SET_MDWE does.
int lk_deny_new_code(void) {
    int pidfd = lk_pidfd_open(getpid());
    if (pidfd < 0) return pidfd;
    close(pidfd);
    return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 ? err() : 0;
}
int lk_denies_new_code(void) {
    int r = prctl(PR_GET_MDWE, 0, 0, 0, 0);
    return r < 0 ? 0 : (r & PR_MDWE_REFUSE_EXEC_GAIN) != 0;
}

int lk_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }
int lk_is_filtered(void) { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER; }

int lk_dumps_no_core(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0;
}

// A filter that we were started under may end whoever makes a call that it does not list
// (seccomp(2); a unit with SystemCallFilter=@system-service), and tells nobody which those are. So a
// child tries; its end is told to its parent alone (clone(2) without a signal), whatever
// that does with SIGCHLD. Asked before a filter of our own is in force, and remembered. Where no child
// can be made nothing is known, and the call is made: nearly every filter refuses and ends nobody.
int lk_may_call(long number) {
    static struct { long number; int may; } known[8];
    size_t place = 0;
    while (place < sizeof known / sizeof *known && known[place].may != 0 && known[place].number != number) place++;
    if (place < sizeof known / sizeof *known && known[place].may != 0) return known[place].may > 0;
    int may = 1;
    if (lk_is_filtered()) {
        long child = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
        if (child == 0) {
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
            // Arguments that no call takes.
            syscall(number, -1L, 0L, 0L, 0L, 0L, 0L);
            _exit(0);
        }
        if (child < 0) return 1;
        int status = 0;
        pid_t ended;
        do ended = waitpid((pid_t)child, &status, __WALL); while (ended < 0 && errno == EINTR);
        if (ended < 0) return 1;
        may = WIFEXITED(status) ? 1 : -1;
    }
    if (place < sizeof known / sizeof *known) {
        known[place].number = number;
        known[place].may = may;
    }
    return may > 0;
}

// MARK: Files, network, other processes

// linux/landlock.h as of ABI 7 (Linux 6.15); a kernel takes the size that it knows.
struct landlock_ruleset { uint64_t files, network, scopes; };
struct landlock_beneath { uint64_t allowed; int32_t parent; } __attribute__((packed));

// LANDLOCK_ACCESS_FS_* by the ABI that brought them.
static uint64_t file_rights(int abi) {
    uint64_t rights = (1ULL << 13) - 1;   // EXECUTE … MAKE_SYM
    if (abi >= 2) rights |= 1ULL << 13;   // REFER
    if (abi >= 3) rights |= 1ULL << 14;   // TRUNCATE
    if (abi >= 5) rights |= 1ULL << 15;   // IOCTL_DEV
    return rights;
}

int lk_landlock_version(void) {
    if (!lk_may_call(SYS_landlock_create_ruleset)) return -EPERM;
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U);   // LANDLOCK_CREATE_RULESET_VERSION
    return abi < 0 ? err() : (int)abi;
}

int lk_restrict_files(const struct lk_folder_right *folders, int32_t count) {
    int abi = lk_landlock_version();
    if (abi < 0) return abi;
    if (!lk_may_call(SYS_landlock_add_rule) || !lk_may_call(SYS_landlock_restrict_self)) return -EPERM;
    struct landlock_ruleset all = {.files = file_rights(abi)};
    size_t size = sizeof all.files;
    if (abi >= 4) {
        all.network = 3;   // BIND_TCP, CONNECT_TCP
        size = offsetof(struct landlock_ruleset, scopes);
    }
    if (abi >= 6) {
        all.scopes = 3;    // abstract sockets, signals
        size = sizeof all;
    }
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0U);
    if (rules < 0) return err();
    int result = 0;
    for (int32_t i = 0; i < count && result == 0; i++) {
        struct landlock_beneath rule = {.parent = folders[i].folder};
        if (folders[i].rights & LK_REMOVE) rule.allowed |= 1ULL << 5;            // REMOVE_FILE
        if (folders[i].rights & LK_WRITE) {
            rule.allowed |= 1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 8;       // WRITE_FILE, READ_FILE, READ_DIR, MAKE_REG
            rule.allowed |= 1ULL << 14;                                          // TRUNCATE
        }
        if (folders[i].rights & LK_READ) rule.allowed |= 1ULL << 2 | 1ULL << 3;
        if (folders[i].rights & LK_DEVICES) rule.allowed |= 1ULL << 1 | 1ULL << 2 | 1ULL << 15;   // IOCTL_DEV
        rule.allowed &= all.files;
        if (syscall(SYS_landlock_add_rule, rules, 1, &rule, 0U) < 0) result = err();   // LANDLOCK_RULE_PATH_BENEATH
    }
    if (result == 0 && syscall(SYS_landlock_restrict_self, rules, 0U) < 0) result = err();
    close(rules);
    return result < 0 ? result : abi;
}

int lk_cannot_open_root(void) {
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES;
    close(fd);
    return 0;
}

// MARK: Calls

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WITH_SANITIZER 1
#endif
#endif

#define CALL(name) {SYS_##name, #name}

struct call { int32_t number; const char *name; };

// What any program of ours does: memory, descriptors that it has, waiting, threads, time.
static const struct call common[] = {
    CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(pwrite64), CALL(close), CALL(close_range),
    CALL(lseek), CALL(fstat), CALL(newfstatat), CALL(statx), CALL(statfs), CALL(fstatfs), CALL(faccessat),
    CALL(faccessat2), CALL(readlinkat), CALL(getdents64), CALL(fcntl), CALL(dup), CALL(dup3),
    CALL(openat), CALL(ftruncate), CALL(fallocate), CALL(fsync), CALL(fdatasync), CALL(renameat), CALL(renameat2),
    CALL(unlinkat),
    CALL(munmap), CALL(mremap), CALL(madvise), CALL(brk), CALL(mlock), CALL(mlock2), CALL(munlock), CALL(memfd_create),
    CALL(memfd_secret), CALL(mseal), CALL(membarrier),
    CALL(accept), CALL(accept4), CALL(sendmsg), CALL(sendto), CALL(recvmsg), CALL(recvfrom), CALL(getsockopt),
    CALL(setsockopt), CALL(getsockname), CALL(getpeername), CALL(shutdown),
    CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait), CALL(epoll_pwait2), CALL(ppoll), CALL(pselect6),
    CALL(eventfd2),
    CALL(futex), CALL(set_robust_list), CALL(get_robust_list), CALL(rseq), CALL(sched_yield),
    CALL(sched_getaffinity), CALL(sched_getparam), CALL(sched_getscheduler),
    CALL(sched_get_priority_max), CALL(sched_get_priority_min), CALL(set_tid_address), CALL(getcpu),
    CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(rt_sigsuspend), CALL(rt_sigtimedwait),
    CALL(rt_sigpending), CALL(sigaltstack), CALL(restart_syscall),
    CALL(exit), CALL(exit_group), CALL(nanosleep), CALL(clock_nanosleep), CALL(clock_gettime), CALL(clock_getres),
    CALL(gettimeofday), CALL(times), CALL(getrandom), CALL(getrusage), CALL(sysinfo), CALL(uname),
    CALL(getpid), CALL(getppid), CALL(gettid), CALL(getuid), CALL(geteuid), CALL(getgid), CALL(getegid),
    CALL(getgroups), CALL(getpgid), CALL(getsid), CALL(umask),
#ifdef SYS_open   // the older architecture's spellings
    CALL(open), CALL(stat), CALL(lstat), CALL(access), CALL(readlink), CALL(rename), CALL(unlink), CALL(dup2), CALL(epoll_wait), CALL(poll), CALL(select), CALL(time), CALL(getpgrp),
#endif
};

// The daemon's besides: sockets of its own, looking at callers, SQLite, folders, children.
static const struct call of_daemon[] = {
    CALL(connect), CALL(bind), CALL(listen), CALL(pipe2), CALL(pidfd_open), CALL(pidfd_send_signal), CALL(kill),
    CALL(wait4), CALL(waitid), CALL(inotify_init1), CALL(inotify_add_watch), CALL(inotify_rm_watch),
    CALL(timerfd_create), CALL(timerfd_settime), CALL(timerfd_gettime), CALL(signalfd4),
    CALL(mkdirat), CALL(fchmod), CALL(fchmodat), CALL(fchmodat2), CALL(fchown), CALL(fchownat), CALL(utimensat),
    CALL(truncate), CALL(fadvise64), CALL(copy_file_range), CALL(sendfile), CALL(msync), CALL(mincore), CALL(flock),
    CALL(getcwd), CALL(cachestat), CALL(linkat),
#ifdef SYS_open
    CALL(mkdir), CALL(rmdir), CALL(link), CALL(chmod), CALL(chown), CALL(utimes),
#endif
};

// Of the one that talks to the system bus, on the socket that it has: to end by itself.
static const struct call of_bus[] = {
    CALL(setitimer),
#ifdef SYS_open
    CALL(alarm),
#endif
};

// Nothing of ours ever does these, nor what ours start: whoever tries is not us any more.
static const struct call never[] = {
    CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(process_madvise), CALL(kcmp),
    CALL(pidfd_getfd), CALL(bpf), CALL(perf_event_open), CALL(userfaultfd), CALL(io_uring_setup),
    CALL(io_uring_enter), CALL(io_uring_register), CALL(init_module), CALL(finit_module), CALL(delete_module),
    CALL(kexec_load), CALL(reboot), CALL(swapon), CALL(swapoff), CALL(acct), CALL(quotactl), CALL(syslog),
    CALL(open_by_handle_at), CALL(fanotify_init), CALL(clock_settime), CALL(settimeofday), CALL(adjtimex),
    CALL(clock_adjtime), CALL(sethostname), CALL(setdomainname), CALL(vhangup),
#ifdef SYS_kexec_file_load
    CALL(kexec_file_load),
#endif
#ifdef SYS_fork
    CALL(iopl), CALL(ioperm), CALL(modify_ldt),
#endif
};

// Nor these; but a pinentry, which a spawner's prompt starts, gives up its user id, and
// its libraries start others apart.
static const struct call never_ours[] = {
    CALL(execve), CALL(execveat), CALL(add_key), CALL(request_key), CALL(keyctl), CALL(mount), CALL(umount2),
    CALL(pivot_root), CALL(chroot), CALL(move_mount), CALL(open_tree), CALL(fsopen), CALL(fsconfig), CALL(fsmount),
    CALL(fspick), CALL(mount_setattr), CALL(setns), CALL(unshare), CALL(personality), CALL(setuid), CALL(setgid),
    CALL(setreuid), CALL(setregid), CALL(setresuid), CALL(setresgid), CALL(setgroups), CALL(capset),
#ifdef SYS_fork
    CALL(fork), CALL(vfork),
#endif
};

// Of enclave and bus: they have their sockets.
static const struct call fatal_in_enclave[] = {
    CALL(socket), CALL(socketpair), CALL(connect), CALL(bind), CALL(listen),
};

// Calls of which an argument decides. What is not allowed is refused (EPERM) or fatal.
enum test { ONE_OF, HAS_ALL, HAS_NONE, IS_NULL };
struct argument {
    int32_t number;
    const char *name;
    int32_t index;
    enum test test;
    int32_t is_fatal, count;
    uint32_t values[12];
};

#define ALL_OF(name, index, bits, fatal) {SYS_##name, #name, index, HAS_ALL, fatal, 1, {bits}}
#define NONE_OF(name, index, bits) {SYS_##name, #name, index, HAS_NONE, 0, 1, {bits}}

// Threads, and no processes.
static const struct argument threads_alone = ALL_OF(clone, 0, CLONE_THREAD, 1);

static const struct argument arguments[] = {
    // No new code, also where PR_SET_MDWE is not there.
    NONE_OF(mmap, 2, PROT_EXEC), NONE_OF(mprotect, 2, PROT_EXEC), NONE_OF(pkey_mprotect, 2, PROT_EXEC),
    // Limits are read and not set.
    {SYS_prlimit64, "prlimit64", 2, IS_NULL, 0, 0, {0}},
    // To ask what holds for us, and to name memory; not to become dumpable.
    {SYS_prctl, "prctl", 0, ONE_OF, 0, 7, {PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_GET_MDWE,
                                           PR_GET_NAME, PR_SET_NAME, PR_SET_VMA}},
};

static const struct argument arguments_of_daemon[] = {
    {SYS_socket, "socket", 0, ONE_OF, 1, 1, {AF_UNIX}},
    {SYS_socketpair, "socketpair", 0, ONE_OF, 1, 1, {AF_UNIX}},
    // TCGETS (isatty), SIOCOUTQ, PIDFD_GET_INFO.
    {SYS_ioctl, "ioctl", 1, ONE_OF, 0, 3, {0x5401, 0x5411, 0xC040FF0B}},
};

// Of the enclave, for answers in many messages: SIOCOUTQ.
static const struct argument arguments_of_enclave[] = {{SYS_ioctl, "ioctl", 1, ONE_OF, 0, 1, {0x5411}}};

// Of the hands: a device's socket is a local one.
static const struct argument arguments_of_hardware[] = {{SYS_socket, "socket", 0, ONE_OF, 0, 1, {AF_UNIX}}};

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof *(table)))

const char *lk_allowed_call(int32_t whose, int32_t index) {
    int is_daemon = whose == LK_CALLS_OF_DAEMON;
    const struct { const struct call *table; int32_t count; } parts[] = {
        {common, COUNT(common)}, {of_daemon, is_daemon ? COUNT(of_daemon) : 0},
        {of_bus, whose == LK_CALLS_OF_BUS ? COUNT(of_bus) : 0}};
    for (size_t i = 0; i < 3; i++) {
        if (index < parts[i].count) return parts[i].table[index].name;
        index -= parts[i].count;
    }
    if (index == 0) return threads_alone.name;
    index -= 1;
    if (index < COUNT(arguments)) return arguments[index].name;
    index -= COUNT(arguments);
    if (!is_daemon) return index < COUNT(arguments_of_enclave) ? arguments_of_enclave[index].name : NULL;
    return index < COUNT(arguments_of_daemon) ? arguments_of_daemon[index].name : NULL;
}

#if defined(OUR_ARCHITECTURE) && !defined(WITH_SANITIZER)
struct program { struct sock_filter steps[2048]; unsigned short count; };

static void step(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
    p->steps[p->count++] = (struct sock_filter){code, yes, no, k};
}
static void load(struct program *p, size_t offset) { step(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void end(struct program *p, uint32_t action) { step(p, BPF_RET | BPF_K, action, 0, 0); }

static void add_calls(struct program *p, const struct call *calls, int32_t count, uint32_t action) {
    for (int32_t i = 0; i < count; i++) {
        step(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1);
        end(p, action);
    }
}

// The low half decides: the kernel reads these arguments as 32 bits. A pointer is both.
static void add_argument(struct program *p, const struct argument *a, uint32_t otherwise) {
    size_t low = offsetof(struct seccomp_data, args) + 8 * (size_t)a->index;   // little endian
    unsigned short jump = p->count;
    step(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)a->number, 0, 0);
    load(p, low);
    switch (a->test) {
    case ONE_OF:
        for (int32_t i = 0; i < a->count; i++) {
            step(p, BPF_JMP | BPF_JEQ | BPF_K, a->values[i], 0, 1);
            end(p, SECCOMP_RET_ALLOW);
        }
        break;
    case HAS_ALL:
    case HAS_NONE:
        step(p, BPF_JMP | BPF_JSET | BPF_K, a->values[0], a->test == HAS_ALL ? 0 : 1, a->test == HAS_ALL ? 1 : 0);
        end(p, SECCOMP_RET_ALLOW);
        break;
    case IS_NULL:
        step(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
        load(p, low + 4);
        step(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
        end(p, SECCOMP_RET_ALLOW);
        break;
    }
    end(p, otherwise);
    p->steps[jump].jf = (uint8_t)(p->count - jump - 1);
}

static void add_arguments(struct program *p, const struct argument *table, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        add_argument(p, &table[i], table[i].is_fatal ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM);
    }
}

// No other architecture's calls; then the number is loaded.
static void begin(struct program *p) {
    load(p, offsetof(struct seccomp_data, arch));
    step(p, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0);
    end(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    step(p, BPF_JMP | BPF_JSET | BPF_K, 0x40000000, 0, 1);   // __X32_SYSCALL_BIT
    end(p, SECCOMP_RET_KILL_PROCESS);
#endif
}

// libc takes clone3 for a newer kernel's and does the same by clone, whose flags a filter
// can see.
static const struct call absent[] = {CALL(clone3)};

// What is in the lists and nothing else.
static void make_narrow(struct program *p, int32_t whose) {
    int is_daemon = whose == LK_CALLS_OF_DAEMON;
    add_calls(p, common, COUNT(common), SECCOMP_RET_ALLOW);
    if (is_daemon) add_calls(p, of_daemon, COUNT(of_daemon), SECCOMP_RET_ALLOW);
    if (whose == LK_CALLS_OF_BUS) add_calls(p, of_bus, COUNT(of_bus), SECCOMP_RET_ALLOW);
    add_arguments(p, &threads_alone, 1);
    add_arguments(p, arguments, COUNT(arguments));
    if (is_daemon) add_arguments(p, arguments_of_daemon, COUNT(arguments_of_daemon));
    else add_arguments(p, arguments_of_enclave, COUNT(arguments_of_enclave));
    // A signal to ourselves (abort) and to nobody else.
    const struct argument to_us = {SYS_tgkill, "tgkill", 0, ONE_OF, 0, 1, {(uint32_t)getpid()}};
    add_argument(p, &to_us, SECCOMP_RET_ERRNO | EPERM);
    add_calls(p, never, COUNT(never), SECCOMP_RET_KILL_PROCESS);
    add_calls(p, never_ours, COUNT(never_ours), SECCOMP_RET_KILL_PROCESS);
    if (!is_daemon) add_calls(p, fatal_in_enclave, COUNT(fatal_in_enclave), SECCOMP_RET_KILL_PROCESS);
    add_calls(p, absent, COUNT(absent), SECCOMP_RET_ERRNO | ENOSYS);
    // Likewise what is newer than these lists.
    step(p, BPF_JMP | BPF_JGT | BPF_K, SYS_mseal, 0, 1);
    end(p, SECCOMP_RET_ERRNO | ENOSYS);
    end(p, SECCOMP_RET_ERRNO | EPERM);
}

static void make(struct program *p, int32_t whose) {
    begin(p);
    switch (whose) {
    case LK_CALLS_OF_HARDWARE:
        add_arguments(p, &threads_alone, 1);
        add_arguments(p, arguments_of_hardware, COUNT(arguments_of_hardware));
        add_calls(p, never, COUNT(never), SECCOMP_RET_KILL_PROCESS);
        add_calls(p, never_ours, COUNT(never_ours), SECCOMP_RET_KILL_PROCESS);
        add_calls(p, absent, COUNT(absent), SECCOMP_RET_ERRNO | ENOSYS);
        end(p, SECCOMP_RET_ALLOW);
        break;
    case LK_CALLS_OF_SPAWNER:
        add_calls(p, never, COUNT(never), SECCOMP_RET_ERRNO | EPERM);
        end(p, SECCOMP_RET_ALLOW);
        break;
    default: make_narrow(p, whose);
    }
}

int lk_restrict_calls(int32_t whose) {
    struct program program;
    program.count = 0;
    make(&program, whose);
    struct sock_fprog filter = {.len = program.count, .filter = program.steps};
    // Memory may be hidden later: no child can be asked then.
    lk_may_call(SYS_memfd_secret);
    unsigned flags = SECCOMP_FILTER_FLAG_TSYNC;
#ifdef LATCHKEY_LOG_REFUSED_CALLS
    flags |= SECCOMP_FILTER_FLAG_LOG;
#endif
    if (!lk_may_call(SYS_seccomp)) return -EPERM;
    long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    if (r < 0) return err();
    return r > 0 ? -ESRCH : 0;   // a thread that could not be taken along
}
#else
int lk_restrict_calls(int32_t whose) {
    (void)whose;
    return -EOPNOTSUPP;
}
#endif
