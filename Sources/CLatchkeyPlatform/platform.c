#define _GNU_SOURCE
#include "latchkey_platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77   // asm-generic/socket.h, Linux 6.5
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446   // linux/magic.h, Linux 6.9
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U   // linux/memfd.h, Linux 6.3
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447   // Linux 5.14
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// glibc calls constructors as it calls main (elf/dl-init.c, csu/libc-start.c). Swift's own
// way is /proc/self/cmdline, which says that there are none where it cannot be opened: no
// descriptor is free, or a sandbox hides it.
static int32_t argument_count;
static char **arguments;

__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    argument_count = argc;
    arguments = argv;
}

int32_t lk_arguments(char *const **out) {
    *out = arguments;
    return argument_count;
}

static int err(void) { return errno ? -errno : -EIO; }
#define RETRY(result, call) do { (result) = (call); } while ((result) == -1 && errno == EINTR)

int lk_socketpair(int32_t out[2]) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) return err();
    out[0] = fds[0];
    out[1] = fds[1];
    return 0;
}

static int is_local_stream(int fd) {
    int domain, type;
    socklen_t size = sizeof domain, length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

static int whole(ssize_t done, size_t count) { return done < 0 ? err() : (size_t)done == count ? 0 : -EAGAIN; }

// The name of what is behind a descriptor is the kernel's (proc(5)) and asks no file system,
// as fstat(2) would that of a FUSE mount. Opened anew, so that O_NONBLOCK is ours alone.
int lk_write_now(int32_t fd, const void *bytes, size_t count) {
    char path[32], target[16] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) < 0) return err();
    ssize_t done;
    if (strncmp(target, "socket:[", 8) == 0) {
        // Others may wait for a lock that somebody holds, or send in our name.
        if (!is_local_stream(fd)) return -EINVAL;
        RETRY(done, send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL));
        return whole(done, count);
    }
    // The seals: a file of that name may be somebody's own file system's.
    if (strncmp(target, "/memfd:", 7) == 0 && fcntl(fd, F_GET_SEALS) >= 0) {
        RETRY(done, write(fd, bytes, count));
        return whole(done, count);
    }
    if (strncmp(target, "pipe:[", 6) != 0) return -EINVAL;
    int own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (own < 0) return err();
    RETRY(done, write(own, bytes, count));
    int result = whole(done, count);
    close(own);
    return result;
}

int lk_stream_socket(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? err() : fd;
}

int lk_seqpacket_socket(void) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return fd < 0 ? err() : fd;
}

static int address(const char *path, struct sockaddr_un *out, socklen_t *length) {
    size_t n = strlen(path);
    if (n >= sizeof out->sun_path) return -ENAMETOOLONG;
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    memcpy(out->sun_path, path, n + 1);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    return 0;
}

int lk_connect(int32_t fd, const char *path) {
    struct sockaddr_un to;
    socklen_t length;
    int r = address(path, &to, &length);
    if (r < 0) return r;
    // A full queue (a stopped server) is waited for, but not for ever: unix(7)
    // honours the send time-out for connect.
    struct timeval patience = {5, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    RETRY(r, connect(fd, (struct sockaddr *)&to, length));
    return r < 0 ? err() : 0;
}

int lk_bind_listen(int32_t fd, const char *path, int32_t backlog) {
    struct sockaddr_un to;
    socklen_t length;
    int r = address(path, &to, &length);
    if (r < 0) return r;
    if (bind(fd, (struct sockaddr *)&to, length) < 0) return err();
    return listen(fd, backlog) < 0 ? err() : 0;
}

int lk_accept(int32_t fd) {
    int r;
    RETRY(r, accept4(fd, NULL, NULL, SOCK_CLOEXEC));
    return r < 0 ? err() : r;
}

static int socket_option(int fd, int option, int32_t *out) {
    int value = 0;
    socklen_t length = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, option, &value, &length) < 0) return err();
    *out = value;
    return 0;
}

int lk_socket_kind(int32_t fd, struct lk_socket_kind *out) {
    int r = socket_option(fd, SO_DOMAIN, &out->domain);
    if (r == 0) r = socket_option(fd, SO_TYPE, &out->type);
    if (r == 0) r = socket_option(fd, SO_ACCEPTCONN, &out->listens);
    return r;
}

int64_t lk_socket_path(int32_t fd, char *out, size_t capacity) {
    struct sockaddr_un at;
    socklen_t length = sizeof at;
    memset(&at, 0, sizeof at);
    if (getsockname(fd, (struct sockaddr *)&at, &length) < 0) return err();
    if (at.sun_family != AF_UNIX || length <= offsetof(struct sockaddr_un, sun_path)) return 0;
    size_t count = strnlen(at.sun_path, sizeof at.sun_path);
    if (count > capacity) return -ENAMETOOLONG;
    memcpy(out, at.sun_path, count);
    return (int64_t)count;
}

int lk_listen(int32_t fd, int32_t backlog) { return listen(fd, backlog) < 0 ? err() : 0; }

int lk_pass_credentials(int32_t fd) {
    int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? err() : 0;
}

int64_t lk_send(int32_t fd, const void *a, size_t alen, const void *b, size_t blen, const void *c, size_t clen,
                int32_t descriptor, int32_t now) {
    struct iovec parts[3] = {{(void *)a, alen}, {(void *)b, blen}, {(void *)c, clen}};
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *passed = CMSG_FIRSTHDR(&message);
        passed->cmsg_level = SOL_SOCKET;
        passed->cmsg_type = SCM_RIGHTS;
        passed->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(passed), &descriptor, sizeof(int));
    }
    ssize_t r;
    RETRY(r, sendmsg(fd, &message, MSG_NOSIGNAL | (now ? MSG_DONTWAIT : 0)));
    return r < 0 ? err() : r;
}

int64_t lk_receive(int32_t fd, void *buffer, size_t capacity, int32_t how, struct lk_received *out) {
    struct iovec part = {buffer, capacity};
    // Room for SCM_CREDENTIALS and the 253 descriptors that one message can carry
    // (SCM_MAX_FD), so that none is left in the queue or leaks.
    union { char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(253 * sizeof(int)) + 256]; struct cmsghdr align; } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    memset(out, 0, sizeof *out);
    out->descriptor = -1;
    int flags = MSG_CMSG_CLOEXEC | (how == LK_NOW || how == LK_LOOK ? MSG_DONTWAIT : 0) | (how == LK_LOOK ? MSG_PEEK : 0);
    ssize_t r;
    /* Not begun anew after a signal: that would begin the whole wait (SO_RCVTIMEO)
       anew as well, and whoever gets signals would wait for ever. */
    do r = recvmsg(fd, &message, flags);
    while (r < 0 && errno == EINTR && how != LK_WAIT_ONCE);
    if (r < 0 && errno == EINTR) errno = EAGAIN;
    if (r < 0) return err();
    out->truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET) continue;
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            out->has_credentials = 1;
            out->pid = who.pid;
            out->uid = who.uid;
            out->gid = who.gid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < count; i++) {
                int got;
                memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof got);
                if (out->descriptors++ == 0) out->descriptor = got; else close(got);
            }
        }
    }
    return r;
}

int lk_is_readable_soon(int32_t fd, int64_t nanoseconds) {
    int64_t end = lk_monotonic_nanoseconds() + nanoseconds;
    do {
        char byte;
        if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN) return 1;
        for (int i = 0; i < 20; i++) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ volatile("isb");
#endif
        }
    } while (lk_monotonic_nanoseconds() < end);
    return 0;
}

int lk_file_identity(int32_t fd, uint64_t *device, uint64_t *file) {
    struct stat about;
    if (fstat(fd, &about) < 0) return err();
    *device = about.st_dev;
    *file = about.st_ino;
    return 0;
}

int lk_processor_count(void) {
    cpu_set_t set;
    // More processors than a set of fixed size has room for are more than one.
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
}

int lk_unread(int32_t fd) {
    int bytes = 0;
    return ioctl(fd, SIOCOUTQ, &bytes) < 0 ? err() : bytes;
}

int lk_set_send_room(int32_t fd, int32_t bytes) {
    int before = 0;
    socklen_t size = sizeof before;
    if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &before, &size) < 0) return err();
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) < 0) return err();
    // The kernel gives twice what it is asked for, for its own bookkeeping (socket(7)).
    return before / 2;
}

int lk_set_receive_limit(int32_t fd, int64_t nanoseconds) {
    struct timeval limit = {.tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds % 1000000000 / 1000};
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ? err() : 0;
}

void lk_keep_files_private(void) { umask(077); }

int lk_set_nonblocking(int32_t fd, int32_t on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return err();
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return fcntl(fd, F_SETFL, flags) < 0 ? err() : 0;
}

int lk_peer_credentials(int32_t fd, int32_t *pid, uint32_t *uid, uint32_t *gid) {
    struct ucred who;
    socklen_t length = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) < 0) return err();
    *pid = who.pid;
    *uid = who.uid;
    *gid = who.gid;
    return 0;
}

int lk_abstract_listener(const char *name, uint32_t *uid) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length >= sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(address.sun_path + 1, name, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return err();
    int32_t pid;
    uint32_t gid;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    int result = connect(fd, (struct sockaddr *)&address, size) < 0 ? err() : lk_peer_credentials(fd, &pid, uid, &gid);
    close(fd);
    return result;
}

int lk_peer_groups(int32_t fd, uint32_t *groups, int32_t capacity) {
    socklen_t length = (socklen_t)capacity * sizeof(gid_t);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) return err();
    return (int)(length / sizeof(gid_t));
}

int lk_peer_pidfd(int32_t fd) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) < 0) return err();
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    return pidfd;
}

int lk_pidfd_open(int32_t pid) {
    long r = syscall(SYS_pidfd_open, pid, 0);
    return r < 0 ? err() : (int)r;
}

int lk_descriptor_inode(int32_t fd, uint64_t *device, uint64_t *inode) {
    struct stat s;
    if (fstat(fd, &s) < 0) return err();
    *device = s.st_dev;
    *inode = s.st_ino;
    return 0;
}

int lk_is_pidfs(int32_t fd) {
    struct statfs s;
    if (fstatfs(fd, &s) < 0) return err();
    return (uint32_t)s.f_type == PID_FS_MAGIC;
}

// linux/pidfd.h, Linux 6.13: struct pidfd_info, PIDFD_INFO_SIZE_VER0 = 64.
struct pidfd_info_v0 {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid;
    uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    uint32_t spare;
};

int lk_pidfd_info(int32_t pidfd, struct lk_pidfd_info *out) {
    struct pidfd_info_v0 info;
    memset(&info, 0, sizeof info);
    info.mask = 1 | 2;   // PIDFD_INFO_PID | PIDFD_INFO_CREDS
    if (ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_info_v0), &info) < 0) return err();
    if ((info.mask & 3) != 3) return -EOPNOTSUPP;
    out->pid = (int32_t)info.tgid;
    out->ruid = info.ruid;
    out->euid = info.euid;
    out->rgid = info.rgid;
    out->egid = info.egid;
    return 0;
}

static int is_readable(int32_t fd) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    int r;
    RETRY(r, poll(&one, 1, 0));
    return r < 0 ? err() : r > 0;
}

int lk_has_ended(int32_t pidfd) { return is_readable(pidfd); }
int lk_has_arrived(int32_t fd) { return is_readable(fd); }

int lk_has_ended_in_silence(int32_t fd) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    int r;
    RETRY(r, poll(&one, 1, 0));
    if (r <= 0 || !(one.revents & POLLHUP)) return 0;
    /* A message without a byte reads as the end does: then it is that too. */
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

int lk_memfd(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd < 0 ? err() : fd;
}

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int lk_memfd_seal(int32_t fd) { return fcntl(fd, F_ADD_SEALS, all_seals) < 0 ? err() : 0; }

int lk_memfd_is_sealed(int32_t fd) {
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0) return err();
    int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    return (seals & wanted) == wanted;
}

int lk_ofd_lock(int32_t fd, int32_t exclusive, int32_t wait) {
    struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
    int r;
    RETRY(r, fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock));
    if (r < 0) return errno == EACCES ? -EAGAIN : err();
    return 0;
}

int lk_ofd_is_locked(int32_t fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) < 0 ? err() : lock.l_type != F_UNLCK;
}

int lk_open(const char *path, int32_t flags, uint32_t mode) { return lk_openat(AT_FDCWD, path, flags, mode); }

int lk_openat(int32_t dir, const char *path, int32_t flags, uint32_t mode) {
    int r;
    RETRY(r, openat(dir, path, flags | O_CLOEXEC, mode));
    return r < 0 ? err() : r;
}

int64_t lk_mount_id(int32_t dir, const char *path) {
#ifdef STATX_MNT_ID
    struct statx s;
    int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH);
    if (statx(dir, path, flags, STATX_MNT_ID, &s) < 0) return err();
    return s.stx_mask & STATX_MNT_ID ? (int64_t)s.stx_mnt_id : -ENOSYS;
#else
    (void)dir, (void)path;
    return -ENOSYS;
#endif
}

int64_t lk_filesystem_magic(int32_t fd) {
    struct statfs s;
    if (fstatfs(fd, &s) < 0) return err();
    return (int64_t)(uint32_t)s.f_type;
}

int lk_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? err() : 0; }
int lk_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
int lk_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? err() : 0; }

int lk_no_core_dumps(void) {
    // The handlers of the Swift runtime start a program that reads our memory and writes
    // registers with what they point to (docs/Backtracing.rst of Swift); where it lies,
    // the environment says.
    static const int crashes[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
    struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none) < 0 ? err() : 0;
}

int lk_at_secure(void) { return getauxval(AT_SECURE) != 0; }

// No dynamic linker was loaded beside it (getauxval(3): the interpreter's address).
int lk_is_static(void) { return getauxval(AT_BASE) == 0; }

int lk_parent_death_signal(int32_t signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) < 0 ? err() : 0; }

int lk_close_range(uint32_t first, uint32_t last) {
    if (syscall(SYS_close_range, first, last, 0) == 0) return 0;
    // What does not know the call, or a container's filter that does not (EPERM).
    if (errno != ENOSYS && errno != EPERM) return err();
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return err();
    for (rlim_t fd = first; fd < limit.rlim_cur && fd <= last; fd++) close((int)fd);
    return 0;
}

int64_t lk_random(void *buffer, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t r = getrandom((char *)buffer + done, count - done, 0);
        if (r < 0) {
            if (errno == EINTR) continue;
            return err();
        }
        done += (size_t)r;
    }
    return (int64_t)done;
}

void lk_wipe(void *buffer, size_t count) {
    if (count) explicit_bzero(buffer, count);
}

void *lk_map_secret(size_t count, int32_t *locked) {
    void *at = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, count, MADV_DONTDUMP);
    madvise(at, count, MADV_WIPEONFORK);
    /* Each page as it is first touched (mlock2(2)): nobody waits for pages that
       no secret ever lies in. Where the limit is too low this fails like mlock. */
    *locked = mlock2(at, count, MLOCK_ONFAULT) == 0;
    return at;
}

static void *map_hidden(size_t count) {
    if (!lk_may_call(SYS_memfd_secret)) return NULL;
    int fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
    if (fd < 0) return NULL;
    void *at = ftruncate(fd, (off_t)count) < 0 ? MAP_FAILED : mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) return NULL;
    // Locked and left out of dumps by its nature; shared, so that a child would see it.
    if (madvise(at, count, MADV_DONTFORK) == 0) return at;
    munmap(at, count);
    return NULL;
}

void *lk_map_slab(size_t count, int32_t hidden, int32_t *kind) {
    void *at = hidden ? map_hidden(count) : NULL;
    if (at) {
        *kind = 2;
        return at;
    }
    return lk_map_secret(count, kind);
}

void lk_unmap_secret(void *address, size_t count) {
    explicit_bzero(address, count);
    munmap(address, count);
}

int64_t lk_monotonic_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t lk_boottime_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double lk_wall_seconds_since_2001(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    // 978307200: 2001-01-01T00:00:00Z in Unix time, the epoch of Foundation's Date.
    return (double)(t.tv_sec - 978307200) + (double)t.tv_nsec / 1e9;
}

int lk_wait(int32_t fd, int32_t events, int32_t wake, int64_t nanoseconds) {
    struct pollfd fds[2] = {{.fd = fd, .events = (short)(((events & 1) ? POLLIN : 0) | ((events & 2) ? POLLOUT : 0))},
                            {.fd = wake, .events = POLLIN}};
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    int r = ppoll(fds, wake >= 0 ? 2 : 1, nanoseconds < 0 ? NULL : &limit, NULL);
    if (r < 0) return errno == EINTR ? 0 : err();
    int bits = 0;
    if (fds[0].revents & (POLLIN | POLLOUT)) bits |= 1;
    if (wake >= 0 && (fds[1].revents & POLLIN)) bits |= 2;
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) bits |= 4;
    return bits;
}

int lk_epoll(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? err() : fd;
}

int lk_epoll_add(int32_t ep, int32_t fd, uint64_t data, int32_t oneshot) {
    // EPOLLEXCLUSIVE takes no EPOLLRDHUP beside it (epoll_ctl(2)); a closed peer
    // is readable anyway.
    struct epoll_event e = {.events = EPOLLIN | (oneshot ? EPOLLRDHUP | EPOLLONESHOT : EPOLLEXCLUSIVE)};
    e.data.u64 = data;
    return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0 ? err() : 0;
}

int lk_epoll_rearm(int32_t ep, int32_t fd, uint64_t data) {
    struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT};
    e.data.u64 = data;
    return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e) < 0 ? err() : 0;
}

int lk_epoll_rearm_for_end(int32_t ep, int32_t fd, uint64_t data) {
    struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT};
    e.data.u64 = data;
    return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e) < 0 ? err() : 0;
}

int lk_epoll_remove(int32_t ep, int32_t fd) { return epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL) < 0 ? err() : 0; }

int lk_epoll_wait(int32_t ep, uint64_t *data, int64_t nanoseconds) {
    struct epoll_event e;
    int64_t milliseconds = nanoseconds < 0 ? -1 : (nanoseconds + 999999) / 1000000;
    int r = epoll_wait(ep, &e, 1, milliseconds > 0x7fffffff ? 0x7fffffff : (int)milliseconds);
    if (r < 0) return errno == EINTR ? 0 : err();
    if (r == 1) *data = e.data.u64;
    return r;
}

int lk_timerfd(void) {
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return fd < 0 ? err() : fd;
}

int lk_timerfd_set(int32_t fd, int64_t nanoseconds) {
    // Nothing at all would stop it.
    if (nanoseconds < 1) nanoseconds = 1;
    struct itimerspec when = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(fd, 0, &when, NULL) < 0 ? err() : 0;
}

int lk_eventfd(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? err() : fd;
}

int lk_eventfd_signal(int32_t fd) { return eventfd_write(fd, 1) < 0 ? err() : 0; }

int lk_eventfd_drain(int32_t fd) {
    eventfd_t value;
    return eventfd_read(fd, &value) < 0 && errno != EAGAIN ? err() : 0;
}

int lk_spawn_daemon(const char *path, char *const argv[], char *const envp[], int32_t keep) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return err();
    pid_t child = fork();
    if (child < 0) {
        int r = err();
        close(report[0]);
        close(report[1]);
        return r;
    }
    if (child == 0) {
        // Only async-signal-safe calls from here: the caller may have threads.
        int failure = 0;
        setsid();
        pid_t grandchild = fork();
        if (grandchild != 0) _exit(grandchild < 0 ? 1 : 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
        umask(077);
        int null = open("/dev/null", O_RDWR);
        // The report pipe moves to 4 (close-on-exec) and the kept descriptor to 3.
        int channel = fcntl(report[1], F_DUPFD_CLOEXEC, 10);
        int kept = keep >= 0 ? fcntl(keep, F_DUPFD, 10) : -1;
        if (null < 0 || channel < 0 || (keep >= 0 && kept < 0) || chdir("/") < 0) failure = errno;
        if (!failure) {
            dup2(null, 0);
            dup2(null, 1);
            dup2(null, 2);
            if (kept >= 0) dup2(kept, 3); else close(3);
            dup3(channel, 4, O_CLOEXEC);
            if (syscall(SYS_close_range, 5U, ~0U, 0) != 0) {
                for (int fd = 5; fd < 4096; fd++) close(fd);
            }
            execve(path, argv, envp);
            failure = errno;
            (void)!write(4, &failure, sizeof failure);
            _exit(127);
        }
        (void)!write(report[1], &failure, sizeof failure);
        _exit(127);
    }
    close(report[1]);
    int status, failure = 0, r;
    RETRY(r, waitpid(child, &status, 0));
    ssize_t got;
    RETRY(got, read(report[0], &failure, sizeof failure));
    close(report[0]);
    if (got == (ssize_t)sizeof failure && failure) return -failure;
    // Without a grandchild there is nothing.
    return r == child && WIFEXITED(status) && WEXITSTATUS(status) != 0 ? -EAGAIN : 0;
}

void lk_end_after(uint32_t seconds) {
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
}

static int testing_linked;
void lk_mark_testing_linked(void) { testing_linked = 1; }
int lk_testing_is_linked(void) { return testing_linked; }

static volatile int termination_fd = -1;

static void on_termination(int signal) {
    (void)signal;
    int saved = errno;
    uint64_t one = 1;
    (void)!write(termination_fd, &one, sizeof one);
    errno = saved;
}

int lk_signal_on_termination(int32_t fd) {
    termination_fd = fd;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_termination;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &action, NULL) < 0) return err();
    }
    return 0;
}

int lk_watch_removals(const char *path, int writes) {
    uint32_t mask = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
    if (writes) mask |= IN_CLOSE_WRITE | IN_MOVED_TO;
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return err();
    if (inotify_add_watch(fd, path, mask) < 0) {
        int r = err();
        close(fd);
        return r;
    }
    return fd;
}

int lk_drain_removals(int32_t fd) {
    char buffer[4096];
    int seen = 0;
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0) seen = 1;
    return seen;
}

int lk_wait_any(const int32_t *fds, int32_t count, int64_t nanoseconds) {
    struct pollfd watched[16];
    if (count > 16) return -EINVAL;
    for (int32_t i = 0; i < count; i++) watched[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    int r = ppoll(watched, (nfds_t)count, nanoseconds < 0 ? NULL : &limit, NULL);
    if (r < 0) return errno == EINTR ? count : err();
    for (int32_t i = 0; i < count; i++) {
        if (watched[i].revents) return i;
    }
    return count;
}

int lk_shutdown(int32_t fd) { return shutdown(fd, SHUT_RDWR) < 0 ? err() : 0; }
int lk_shutdown_receiving(int32_t fd) { return shutdown(fd, SHUT_RD) < 0 ? err() : 0; }

int lk_rename_new(int32_t dir, const char *from, int32_t todir, const char *to) {
    return renameat2(dir, from, todir, to, RENAME_NOREPLACE) == 0 ? 0 : -errno;
}

int lk_rename(int32_t dir, const char *from, const char *to) { return renameat(dir, from, dir, to) < 0 ? err() : 0; }

int lk_ofd_unlock(int32_t fd) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? err() : 0;
}

void lk_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int64_t lk_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return err();
    return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}

struct waiting_lock { int32_t fd, event; };

static void *wait_for_lock(void *context) {
    struct waiting_lock waiting = *(struct waiting_lock *)context;
    free(context);
    if (lk_ofd_lock(waiting.fd, 1, 1) == 0) lk_eventfd_signal(waiting.event);
    close(waiting.fd);
    close(waiting.event);
    return NULL;
}

int lk_ofd_lock_in_thread(int32_t fd, int32_t event) {
    struct waiting_lock *waiting = malloc(sizeof *waiting);
    if (!waiting) return -ENOMEM;
    // Copies of its own: the caller may give up and close its descriptors. The
    // lock belongs to the open file, so a copy takes it for all.
    waiting->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    waiting->event = fcntl(event, F_DUPFD_CLOEXEC, 0);
    pthread_t thread;
    int failure = waiting->fd < 0 || waiting->event < 0 ? errno : pthread_create(&thread, NULL, wait_for_lock, waiting);
    if (failure) {
        if (waiting->fd >= 0) close(waiting->fd);
        if (waiting->event >= 0) close(waiting->event);
        free(waiting);
        return -failure;
    }
    pthread_detach(thread);
    return 0;
}

// A segment that can be written has what its loader put in (dl_iterate_phdr(3), elf(5)), and
// nothing brings that back.
static int let_go_of_code_of(struct dl_phdr_info *object, size_t size, void *page_size) {
    (void)size;
    uintptr_t page = *(uintptr_t *)page_size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t first = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void lk_let_go_of_code(void) {
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(let_go_of_code_of, &page_size);
}

// Another thread could write to a page between the look and its end. 1 where it is not certain
// that there is none.
static int has_other_threads(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return 1;
    int count = 0;
    for (struct dirent *one = readdir(threads); one; one = readdir(threads)) count += one->d_name[0] != '.';
    closedir(threads);
    return count != 1;
}

// The kernel's Documentation/admin-guide/mm/pagemap.rst: eight bytes a page; bit 63: it is in
// memory, bit 61: it is a file's still, and no copy of its own that was written to.
static const uint64_t present = 1ull << 63, of_file = 1ull << 61;

struct unwritten { int32_t pagemap; uintptr_t page; };

static int let_go_of_unwritten_data_of(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct unwritten *unwritten = context;
    uintptr_t page = unwritten->page;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W)) continue;
        uintptr_t first = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        while (first < end) {
            uint64_t entries[512];
            size_t count = (end - first) / page;
            if (count > sizeof entries / sizeof *entries) count = sizeof entries / sizeof *entries;
            ssize_t length = pread(unwritten->pagemap, entries, count * sizeof *entries,
                                   (off_t)(first / page * sizeof *entries));
            if (length != (ssize_t)(count * sizeof *entries)) return 1;
            for (size_t at = 0; at < count;) {
                size_t run = at;
                while (run < count && (entries[run] & (present | of_file)) == (present | of_file)) run++;
                if (run > at) madvise((void *)(first + at * page), (run - at) * page, MADV_DONTNEED);
                at = run + 1;
            }
            first += count * page;
        }
    }
    return 0;
}

// Whether it speaks of these addresses: of a page that was just written to, and of code. An emulator
// hands out its own (qemu-user), in which ours stand elsewhere, and what is let go of by such a map
// was somebody's.
static int is_of_this_process(const struct unwritten *map) {
    static volatile uint8_t written;
    written++;
    uintptr_t looked[] = {(uintptr_t)&written, (uintptr_t)&has_other_threads};
    const uint64_t expected[] = {present, present | of_file};
    for (int i = 0; i < 2; i++) {
        uint64_t entry;
        off_t place = (off_t)(looked[i] / map->page * sizeof entry);
        if (pread(map->pagemap, &entry, sizeof entry, place) != sizeof entry) return 0;
        if ((entry & (present | of_file)) != expected[i]) return 0;
    }
    return 1;
}

// Of this process's memory, whoever has it: a child that was forked would look at its parent's.
static int32_t page_map = -1;

void lk_open_page_map(void) {
    if (page_map < 0) page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

void lk_let_go_of_unwritten_data(void) {
    struct unwritten unwritten = {page_map, (uintptr_t)sysconf(_SC_PAGESIZE)};
    if (page_map < 0) return;
    if (!has_other_threads() && is_of_this_process(&unwritten)) dl_iterate_phdr(let_go_of_unwritten_data_of, &unwritten);
    close(page_map);
    page_map = -1;
}

void lk_let_go_of_free_pages(void) { malloc_trim(0); }

// Two on one processor, for whoever holds one while it is not running.
void lk_share_arenas(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    mallopt(M_ARENA_MAX, processors < 2 ? 2 : processors > 64 ? 64 : (int)processors);
}
