// Calls that a confined process is not to make, each tried as it would be used: what
// would harm this machine has arguments that the kernel refuses by itself.
#define _GNU_SOURCE
#include "call_probe.h"

#include <sys/mount.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long result(long r) { return r < 0 ? errno : 0; }

static int child_of(long pid) {
    if (pid < 0) return errno;
    if (pid == 0) _exit(0);
    int status;
    waitpid((pid_t)pid, &status, __WALL);
    return 0;
}

static char *no_words[] = {"true", NULL};
static int p_execve(void) { return result(execve("/bin/true", no_words, NULL)); }
static int p_execveat(void) { return result(syscall(SYS_execveat, AT_FDCWD, "/bin/true", no_words, NULL, 0)); }
static int p_memfd_exec(void) {
    int fd = memfd_create("code", MFD_CLOEXEC);
    if (fd < 0) return errno;
    return result(syscall(SYS_execveat, fd, "", no_words, NULL, AT_EMPTY_PATH));
}
static int p_fork(void) { return child_of(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)); }
#ifdef SYS_fork
static int p_old_fork(void) { return child_of(syscall(SYS_fork)); }
#endif
static int p_clone3(void) {
    uint64_t arguments[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
    return child_of(syscall(SYS_clone3, arguments, sizeof arguments));
}
static int p_ptrace(void) { return result(syscall(SYS_ptrace, PTRACE_SEIZE, getppid(), 0, 0)); }
static int vm(long call) {
    char byte;
    struct iovec here = {&byte, 1}, there = {NULL, 1};   // nothing of the other process is touched
    return result(syscall(call, getppid(), &here, 1, &there, 1, 0));
}
static int p_vm_read(void) { return vm(SYS_process_vm_readv); }
static int p_vm_write(void) { return vm(SYS_process_vm_writev); }
static int p_pidfd_getfd(void) { return result(syscall(SYS_pidfd_getfd, -1, 0, 0)); }
static int p_socket_unix(void) { return result(socket(AF_UNIX, SOCK_SEQPACKET, 0)); }
static int p_socket_inet(void) { return result(socket(AF_INET, SOCK_STREAM, 0)); }
static int p_socket_netlink(void) { return result(socket(AF_NETLINK, SOCK_RAW, 0)); }
static int p_socketpair(void) {
    int two[2];
    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, two));
}
static int p_connect(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/nowhere"};
    return result(connect(-1, (struct sockaddr *)&to, sizeof to));
}
// One that was made before: to another process's abstract name, and by TCP.
static int p_connect_abstract(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *name = getenv("PROBE_ABSTRACT");
    if (!name) return -1;
    memcpy(to.sun_path + 1, name, strlen(name));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return errno;
    return result(connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))));
}
static int p_connect_tcp(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) return errno;
    return result(connect(fd, (struct sockaddr *)&to, sizeof to));
}
static int p_bind_tcp(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) return errno;
    return result(bind(fd, (struct sockaddr *)&at, sizeof at));
}
static int p_bind(void) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    return result(bind(-1, (struct sockaddr *)&at, sizeof at));
}
static int p_kill(void) { return result(kill(getppid(), 0)); }
static int p_tgkill(void) { return result(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
static int p_tgkill_self(void) { return result(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0)); }
static int p_bpf(void) { return result(syscall(SYS_bpf, 0, NULL, 0)); }
static int p_perf(void) { return result(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0)); }
static int p_userfaultfd(void) { return result(syscall(SYS_userfaultfd, 0)); }
static int p_io_uring(void) { return result(syscall(SYS_io_uring_setup, 0, NULL)); }
static int p_keyctl(void) { return result(syscall(SYS_keyctl, 6, -3, 0, 0, 0)); }
static int p_add_key(void) { return result(syscall(SYS_add_key, NULL, NULL, NULL, 0, -3)); }
static int p_mount(void) { return result(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL)); }
static int p_umount(void) { return result(syscall(SYS_umount2, NULL, 0)); }
static int p_chroot(void) { return result(chroot("/nowhere")); }
static int p_unshare(void) { return result(unshare(CLONE_NEWUSER)); }
static int p_setns(void) { return result(setns(-1, 0)); }
static int p_module(void) { return result(syscall(SYS_init_module, NULL, 0, NULL)); }
static int p_finit_module(void) { return result(syscall(SYS_finit_module, -1, NULL, 0)); }
static int p_kexec(void) { return result(syscall(SYS_kexec_load, 0, 17, NULL, 0)); }
static int p_reboot(void) { return result(syscall(SYS_reboot, 0, 0, 0, NULL)); }
static int p_swapon(void) { return result(syscall(SYS_swapon, NULL, 0)); }
static int p_setuid(void) { return result(syscall(SYS_setuid, getuid())); }
static int p_personality(void) { return result(syscall(SYS_personality, 0xffffffff)); }
static int p_open_by_handle(void) { return result(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }
static int p_dumpable(void) { return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }
static int p_core(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    return result(setrlimit(RLIMIT_CORE, &limit));
}
static int p_tiocsti(void) { return result(ioctl(-1, TIOCSTI, "x")); }
static int p_unread(void) { int count; return result(ioctl(-1, TIOCOUTQ, &count)); }
static int p_inotify(void) { return result(syscall(SYS_inotify_init1, 0)); }
static int p_newer(void) { return result(syscall(5000)); }
static int p_code_map(void) {
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? errno : 0;
}
static int p_code_protect(void) {
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? errno : (int)result(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}
static int p_read_passwd(void) { return result(open("/etc/passwd", O_RDONLY)); }
static int p_read_proc(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", getppid());
    return result(open(path, O_RDONLY));
}
static int p_make_elsewhere(void) { return result(open("/tmp", O_WRONLY | O_TMPFILE, 0600)); }
// In the current folder, which is the one that the process keeps.
static int p_make_here(void) {
    int fd = open("made", O_RDWR | O_CREAT, 0600);
    if (fd < 0) return errno;
    if (ftruncate(fd, 0) < 0) return errno;
    close(fd);
    return result(rename("made", "renamed"));
}
static int p_remove_here(void) { return result(unlink("there")); }
static int p_read_here(void) { return result(open("kept", O_RDONLY)); }
static int p_write_here(void) { return result(open("kept", O_WRONLY)); }
static int p_use_device(void) {
    int fd = open("/dev/null", O_RDWR);
    return fd < 0 ? errno : write(fd, "x", 1) == 1 ? 0 : errno;
}
static int p_use_other_device(void) { return result(open("/dev/ptmx", O_RDWR | O_NOCTTY)); }
static int p_list_devices(void) { return result(open("/dev", O_RDONLY | O_DIRECTORY)); }
// How a security key is found.
static int p_read_sysfs(void) {
    const char *const places[] = {"/sys/bus", "/sys/class", "/sys/devices/system/cpu/online"};
    for (int i = 0; i < 3; i++) {
        int fd = open(places[i], O_RDONLY);
        if (fd < 0) return errno;
        close(fd);
    }
    return 0;
}
static int p_read_other_sysfs(void) { return result(open("/sys/kernel", O_RDONLY | O_DIRECTORY)); }
static int p_make_folder_here(void) { return result(mkdir("folder", 0700)); }
static void *nothing(void *context) { return context; }
static int p_thread(void) {
    pthread_t thread;
    int r = pthread_create(&thread, NULL, nothing, NULL);
    return r ? r : pthread_join(thread, NULL);
}

static const struct { const char *name; int (*body)(void); } probes[] = {
    {"execve", p_execve}, {"execveat", p_execveat}, {"memfd_exec", p_memfd_exec}, {"fork", p_fork},
#ifdef SYS_fork
    {"old_fork", p_old_fork},
#endif
    {"clone3", p_clone3}, {"ptrace", p_ptrace}, {"process_vm_readv", p_vm_read}, {"process_vm_writev", p_vm_write},
    {"pidfd_getfd", p_pidfd_getfd}, {"socket_unix", p_socket_unix}, {"socket_inet", p_socket_inet},
    {"socket_netlink", p_socket_netlink}, {"socketpair", p_socketpair}, {"connect", p_connect},
    {"connect_abstract", p_connect_abstract}, {"connect_tcp", p_connect_tcp}, {"bind_tcp", p_bind_tcp}, {"bind", p_bind},
    {"kill", p_kill}, {"tgkill", p_tgkill}, {"tgkill_self", p_tgkill_self}, {"bpf", p_bpf},
    {"perf_event_open", p_perf}, {"userfaultfd", p_userfaultfd}, {"io_uring_setup", p_io_uring},
    {"keyctl", p_keyctl}, {"add_key", p_add_key}, {"mount", p_mount}, {"umount2", p_umount}, {"chroot", p_chroot},
    {"unshare", p_unshare}, {"setns", p_setns}, {"init_module", p_module}, {"finit_module", p_finit_module},
    {"kexec_load", p_kexec}, {"reboot", p_reboot}, {"swapon", p_swapon}, {"setuid", p_setuid},
    {"personality", p_personality}, {"open_by_handle_at", p_open_by_handle}, {"dumpable", p_dumpable},
    {"core_limit", p_core}, {"tiocsti", p_tiocsti}, {"unread", p_unread}, {"inotify", p_inotify}, {"newer_call", p_newer},
    {"code_map", p_code_map}, {"code_protect", p_code_protect}, {"read_passwd", p_read_passwd},
    {"read_proc", p_read_proc}, {"make_elsewhere", p_make_elsewhere}, {"make_here", p_make_here},
    {"remove_here", p_remove_here}, {"read_here", p_read_here}, {"make_folder_here", p_make_folder_here},
    {"write_here", p_write_here}, {"use_device", p_use_device},
    {"use_other_device", p_use_other_device}, {"list_devices", p_list_devices}, {"read_sysfs", p_read_sysfs},
    {"read_other_sysfs", p_read_other_sysfs},
    {"thread", p_thread},
};
enum { count = sizeof probes / sizeof *probes };

const char *probe_name(int32_t index) { return index < count ? probes[index].name : NULL; }

int probe_call(const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(probes[i].name, name) == 0) return probes[i].body();
    }
    return -1;
}

int probe_child_sees(const void *at) {
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) _exit(*(const volatile unsigned char *)at ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int probe_proc_sees(const void *at) {
    int fd = open("/proc/self/mem", O_RDONLY);
    unsigned char byte = 0;
    if (fd < 0) return errno;
    ssize_t got = pread(fd, &byte, 1, (off_t)(uintptr_t)at);
    return got < 0 ? errno : byte ? 0 : 1;
}

int probe_landlock(void) {
    long version = syscall(444, NULL, 0, 1U);   // landlock_create_ruleset, LANDLOCK_CREATE_RULESET_VERSION
    return version < 0 ? 0 : (int)version;
}
int probe_has_mdwe(void) { return prctl(66, 0, 0, 0, 0) >= 0; }   // PR_GET_MDWE
int probe_has_hidden_memory(void) {
    int fd = (int)syscall(447, 0);   // memfd_secret
    if (fd < 0) return 0;
    close(fd);
    return 1;
}
int probe_has_filters(void) {
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int probe_refuse(const char *name, int ends) {
    static const struct { const char *name; int number; } calls[] = {
        {"memfd_secret", 447}, {"landlock_create_ruleset", 444}, {"landlock_add_rule", 445},
        {"landlock_restrict_self", 446}, {"seccomp", SYS_seccomp},
        {"inotify_init1", SYS_inotify_init1}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name) != 0) continue;
        struct sock_filter steps[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, ends ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | ENOSYS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
        // By prctl: seccomp(2) may be one of those that are gone.
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? errno : 0;
    }
    return -1;
}

int probe_may_mount(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
              && mount("none", "/mnt", "tmpfs", 0, NULL) == 0 ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int probe_become(char *const *argv) {
    execv(argv[0], argv);
    return errno;
}

enum { page = 4096 };
static volatile uint8_t data[probe_data_size * page] __attribute__((aligned(page))) = {1};

void probe_use_data(void) {
    for (int i = 0; i < probe_data_size; i++) (void)data[i * page];
    data[5 * page + 1] = 7;
}

int probe_data_pages(void) {
    // Open from the first look on: a process that hides cannot open it.
    static int pagemap = -1;
    if (pagemap < 0) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int count = 0;
    uint64_t entries[probe_data_size];
    ssize_t length = pread(pagemap, entries, sizeof entries, (off_t)((uintptr_t)data / page * sizeof *entries));
    if (length != sizeof entries) return -1;
    for (int i = 0; i < probe_data_size; i++) count += (int)(entries[i] >> 63);
    return count;
}

int probe_data_is_whole(void) { return data[0] == 1 && data[5 * page + 1] == 7 && data[6 * page] == 0; }

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

int probe_start_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, wait_for_ever, NULL);
}
