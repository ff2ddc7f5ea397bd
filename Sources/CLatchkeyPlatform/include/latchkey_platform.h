// The system calls that Swift's Glibc module cannot spell: variadics, macros
// and ancillary data. Every function returns -errno on failure, never -1, and
// retries EINTR, so that the Swift side has one way to read an answer.
#ifndef LATCHKEY_PLATFORM_H
#define LATCHKEY_PLATFORM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What came beside the bytes of one datagram.
struct lk_received {
    int32_t descriptor;    // the one descriptor that came, close-on-exec, or -1
    int32_t descriptors;   // how many came (all but the first are closed)
    int32_t truncated;     // the datagram was longer than the buffer
    int32_t has_credentials;
    int32_t pid;           // SCM_CREDENTIALS, as the kernel stamped it
    uint32_t uid, gid;
};

int lk_socketpair(int32_t out[2]);
int lk_stream_socket(void);
// Writes all of it into an anonymous pipe, a local stream or a memory file that somebody handed us,
// or fails; no reader makes us wait. -EINVAL: it is something else; -EAGAIN: it takes nothing now.
int lk_write_now(int32_t fd, const void *bytes, size_t count);
int lk_seqpacket_socket(void);
int lk_connect(int32_t fd, const char *path);
int lk_bind_listen(int32_t fd, const char *path, int32_t backlog);
int lk_accept(int32_t fd);
// What a socket is: its domain, its type and whether it listens (socket(7)).
struct lk_socket_kind { int32_t domain, type, listens; };
int lk_socket_kind(int32_t fd, struct lk_socket_kind *out);
// The path that a Unix socket is bound to (getsockname(2)): its length, 0 for none.
int64_t lk_socket_path(int32_t fd, char *out, size_t capacity);
// listen(2), also on a socket that listens already.
int lk_listen(int32_t fd, int32_t backlog);
int lk_pass_credentials(int32_t fd);
// Bytes that the other end has not received yet, as the kernel counts them.
int lk_unread(int32_t fd);
// Looks again and again, without giving the processor up, for as long at the most: 1 where
// there is something to receive, or an end or error to be told of.
int lk_is_readable_soon(int32_t fd, int64_t nanoseconds);
// Which file an open descriptor stands for.
int lk_file_identity(int32_t fd, uint64_t *device, uint64_t *file);
// Takes the code and the constants of this program, and of the libraries that it has loaded, out of
// its memory; what is used next comes back from the kernel's cache of files, or from the disk. What
// can be written stays as it is.
void lk_let_go_of_code(void);
// Opens what says which pages were written to, for a process that will not be let look at itself
// (PR_SET_DUMPABLE).
void lk_open_page_map(void);
// The same for what can be written and was not, in a process of one thread that has opened it; in
// another, and where /proc/self/pagemap does not say, nothing is done. Once.
void lk_let_go_of_unwritten_data(void);
// Gives the kernel back whole pages that the allocator has free.
void lk_let_go_of_free_pages(void);
// As many places to allocate from as processors, two at the least and 64 at the most.
void lk_share_arenas(void);
// How many processors this thread may run on.
int lk_processor_count(void);
// Sets the room for them and says what it was.
int lk_set_send_room(int32_t fd, int32_t bytes);
int64_t lk_send(int32_t fd, const void *a, size_t alen, const void *b, size_t blen, const void *c, size_t clen,
                int32_t descriptor, int32_t now);
/* How to receive: wait; not wait; wait, but end with EAGAIN when a signal came. */
// LK_LOOK: as LK_NOW, and the message stays where it is.
enum { LK_WAIT = 0, LK_NOW = 1, LK_WAIT_ONCE = 2, LK_LOOK = 3 };
int64_t lk_receive(int32_t fd, void *buffer, size_t capacity, int32_t how, struct lk_received *out);
int lk_set_nonblocking(int32_t fd, int32_t on);
/* What this process makes is its user's alone (umask 077). */
void lk_keep_files_private(void);
/* How long a receive that waits waits (SO_RCVTIMEO). */
int lk_set_receive_limit(int32_t fd, int64_t nanoseconds);

int lk_peer_credentials(int32_t fd, int32_t *pid, uint32_t *uid, uint32_t *gid);
/* Who listens on an abstract stream socket; -ECONNREFUSED where nobody does. */
int lk_abstract_listener(const char *name, uint32_t *uid);
int lk_peer_groups(int32_t fd, uint32_t *groups, int32_t capacity);
int lk_peer_pidfd(int32_t fd);                 // SO_PEERPIDFD, Linux 6.5
int lk_pidfd_open(int32_t pid);                // Linux 5.3
int lk_descriptor_inode(int32_t fd, uint64_t *device, uint64_t *inode);
int lk_is_pidfs(int32_t fd);                   // 1 where pidfds have inodes of their own (Linux 6.9)
struct lk_pidfd_info { int32_t pid; uint32_t ruid, euid, rgid, egid; };
int lk_pidfd_info(int32_t pidfd, struct lk_pidfd_info *out);   // PIDFD_GET_INFO, Linux 6.13
int lk_has_ended(int32_t pidfd);               // 1 once the process has ended (a zombie has), 0 while it runs
int lk_has_arrived(int32_t fd);                // 1 where a read would not wait: data, end of file or an error
int lk_has_ended_in_silence(int32_t fd);       // 1 where a socket's other end is closed and nothing is left to read

int lk_memfd(const char *name);
int lk_memfd_seal(int32_t fd);
int lk_memfd_is_sealed(int32_t fd);
int lk_ofd_lock(int32_t fd, int32_t exclusive, int32_t wait);   // 0, or -EAGAIN
// Waits for the lock in a thread of its own and makes the eventfd readable then.
int lk_ofd_lock_in_thread(int32_t fd, int32_t event);
int lk_ofd_unlock(int32_t fd);
// 1 where another open file has a lock on it, 0 where none has, or -errno.
int lk_ofd_is_locked(int32_t fd);
int lk_open(const char *path, int32_t flags, uint32_t mode);
int lk_openat(int32_t dir, const char *path, int32_t flags, uint32_t mode);
// Which mount a file was reached by (statx(2), STATX_MNT_ID, Linux 5.8); "": the descriptor itself.
int64_t lk_mount_id(int32_t dir, const char *path);
int64_t lk_filesystem_magic(int32_t fd);

int lk_not_dumpable(void);
int lk_is_dumpable(void);
int lk_no_new_privileges(void);
int lk_no_core_dumps(void);
void lk_raise_descriptor_limit(void);
int64_t lk_descriptor_limit(void);
int lk_at_secure(void);
int lk_is_static(void);
int lk_parent_death_signal(int32_t signal);
int lk_close_range(uint32_t first, uint32_t last);
int64_t lk_random(void *buffer, size_t count);
void lk_wipe(void *buffer, size_t count);

// What a process gives up for good (confinement.c).
int lk_deny_new_code(void);            // PR_SET_MDWE, Linux 6.3
int lk_denies_new_code(void);
int lk_has_no_new_privileges(void);
int lk_dumps_no_core(void);
// The rights that are left in a folder and below it: to read, make, change and list
// files; to remove them; to read and list; to use devices.
enum { LK_WRITE = 1, LK_REMOVE = 2, LK_READ = 4, LK_DEVICES = 8 };
struct lk_folder_right { int32_t folder; uint32_t rights; };
int lk_landlock_version(void);         // Linux 5.13
// Files elsewhere, TCP, abstract sockets and signals to others are out of reach from
// then on, as far as this kernel knows them; the version of Landlock, or -errno.
int lk_restrict_files(const struct lk_folder_right *folders, int32_t count);
int lk_cannot_open_root(void);         // 1 where opening / is denied, which only Landlock does
// Whose calls are left. Of hardware and spawner, all but those that are named: a device's
// library makes its own, and what is started before it confines itself.
enum { LK_CALLS_OF_ENCLAVE = 0, LK_CALLS_OF_DAEMON = 1, LK_CALLS_OF_HARDWARE = 2, LK_CALLS_OF_SPAWNER = 3,
       LK_CALLS_OF_BUS = 4 };
// -EOPNOTSUPP on other processors and under a sanitizer, whose own calls are others.
int lk_restrict_calls(int32_t whose);
int lk_is_filtered(void);
// 0 where a filter would end us for a call that not every kernel has; asked of a child.
int lk_may_call(long number);
// Names of calls that are left to enclave, daemon or bus, some of them for some arguments;
// NULL at the end.
const char *lk_allowed_call(int32_t whose, int32_t index);

// What this process was started with, its own name first: as the kernel laid it out, also
// where /proc cannot be read.
int32_t lk_arguments(char *const **out);

// A program that a spawner may start: as a daemon (lk_spawn_daemon), as a child of its
// own (lk_spawn_child), or as one whose descriptor 3 is a socket that the spawner makes.
enum { LK_AS_CHILD = 0, LK_AS_DAEMON = 1, LK_AS_PEER = 2 };
struct lk_startable { const char *path; char *const *environment; int32_t kind; };
// Forks a process that starts these programs and no others, for as long as our end of
// the socket, which is the result, is open. Where this process has no threads yet. The
// arguments' place in the list of processes gets another name.
// Where that process is killed its child takes its place, and makes a child of its own.
// Back once that process has its name. *end is a pipe's, of which nobody has the other
// end once none of them is left.
int lk_fork_spawner(const struct lk_startable *programs, int32_t count, int32_t *end);
// Has it start one, by its place, with arguments that a NUL ends each, and `keep` as
// descriptor 3 where it is not -1; number tells this question from every other. 0 for a
// daemon, the number of a child, whose pidfd is *handle then, or of a peer, whose socket
// it is; or -errno, ETIMEDOUT once the socket has waited as long as it may.
int lk_ask_spawner(int32_t fd, uint32_t number, int32_t index, const void *arguments, size_t count, int32_t keep,
                   int32_t *handle);
int lk_signal_process(int32_t handle, int32_t signal);   // pidfd_send_signal(2)

void *lk_map_secret(size_t count, int32_t *locked);   // anonymous, not dumped, wiped on fork
void lk_unmap_secret(void *address, size_t count);
// The same for a slab that lives as long as the process; where it is to be hidden, by
// memfd_secret(2), if the kernel has it: not even the kernel reads it then, and a forked
// child has nothing there. *kind: 2 hidden, 1 locked, 0 neither.
void *lk_map_slab(size_t count, int32_t hidden, int32_t *kind);

int64_t lk_monotonic_nanoseconds(void);
/// Goes on while the machine sleeps (clock_gettime(2), CLOCK_BOOTTIME).
int64_t lk_boottime_nanoseconds(void);
double lk_wall_seconds_since_2001(void);
// Waits until fd is ready (events: 1 read, 2 write), wake is readable, or the
// time is over (nanoseconds < 0: no limit). Bits: 1 fd ready, 2 wake ready, 4 hung up.
int lk_wait(int32_t fd, int32_t events, int32_t wake, int64_t nanoseconds);
// Waits until one of the descriptors is readable or hung up: its index, or
// count when the time is over.
int lk_wait_any(const int32_t *fds, int32_t count, int64_t nanoseconds);
int lk_shutdown(int32_t fd);
int lk_shutdown_receiving(int32_t fd);
// Never over another file (RENAME_NOREPLACE).
int lk_rename_new(int32_t dir, const char *from, int32_t todir, const char *to);
int lk_rename(int32_t dir, const char *from, const char *to);

// epoll, with the caller's number as data.
int lk_epoll(void);
int lk_epoll_add(int32_t ep, int32_t fd, uint64_t data, int32_t oneshot);
int lk_epoll_rearm(int32_t ep, int32_t fd, uint64_t data);
int lk_epoll_rearm_for_end(int32_t epoll, int32_t fd, uint64_t data);
int lk_epoll_remove(int32_t ep, int32_t fd);
int lk_epoll_wait(int32_t ep, uint64_t *data, int64_t nanoseconds);   // 1, 0 on time-out
// timerfd_create(2); readable once, so long after it was set last. Drained as an eventfd.
int lk_timerfd(void);
int lk_timerfd_set(int32_t fd, int64_t nanoseconds);
int lk_eventfd(void);
int lk_eventfd_signal(int32_t fd);
int lk_eventfd_drain(int32_t fd);

// Starts path as a daemon: forked twice, session of its own, cwd /, standard
// descriptors on /dev/null, all others closed but `keep` (which becomes 3), the
// given environment and arguments. 0, or -errno of what failed.
int lk_spawn_daemon(const char *path, char *const argv[], char *const envp[], int32_t keep);

// SIGALRM ends this process after so many seconds; 0: no longer.
void lk_end_after(uint32_t seconds);

// Starts path as a direct child in a session of its own: cwd /, standard
// descriptors on /dev/null, `third` and `fourth` as 3 and 4, all others closed.
// Its pid, or -errno of what failed.
int lk_spawn_child(const char *path, char *const argv[], char *const envp[], int32_t third, int32_t fourth);

// Runs argv[0], looked for in PATH, in this process's own group and terminal and
// waits for it. Signals sent to this process are handed on; those that a terminal
// makes reach the command by themselves. Where this process is killed the command
// gets SIGTERM. On return those signals stay blocked, so that nothing cuts the
// caller's tidying short. *outcome is the exit status as a shell shows it; the
// result is 0, or -errno of the exec that failed. `input` becomes its standard
// input; -1: it keeps ours.
int lk_run_command(char *const argv[], char *const envp[], int32_t input, int32_t *outcome);

// Becomes the program argv[0], looked for in PATH, with the environment and the variables
// given (NAME=value, NULL at the end), which stand in place of those of the same name.
// -errno where that fails.
int lk_become(char *const argv[], const char *const given[]);
int lk_keep_on_exec(int32_t fd);

// Starts a program by its path: `in`, `out` and `log` become descriptors 0, 1 and 2,
// all others are closed. In our session and terminal or, where `apart` is not 0, in a
// session of its own and in /. Returns the pid or -errno.
int lk_spawn_tool(const char *path, char *const argv[], char *const envp[], int32_t in, int32_t out, int32_t log,
                  int32_t apart);
int lk_reap(int32_t pid);   // 0 once the child is gone (or was not ours)
// The same, and its status as a shell shows it.
int lk_reap_status(int32_t pid);

// Keeps signals that end or stop a program, and SIGWINCH, for a signalfd; and lets
// them come again (those that wait come at once).
int lk_hold_signals(void);
void lk_release_signals(void);
int lk_next_signal(int32_t fd);
int lk_terminal_size(int32_t fd, int32_t *columns, int32_t *rows);
int lk_kill(int32_t pid);
int lk_terminate(int32_t pid);
int lk_empty_descriptor(int32_t fd);   // /dev/null in its place
int lk_pipe(int32_t out[2]);   // close-on-exec: read end, write end

char *const *lk_environment(void);   // environ(7)

// Opens what is missing of descriptors 0, 1 and 2 so that using it fails, and so
// that no file or socket of ours takes its number.
void lk_fill_standard_descriptors(void);

// Lines from the terminal `in` without echo, each after a prompt on `out`. From the
// first line to the end the echo stays away, so that nothing that is typed or pasted
// between two lines shows, or gets lost. The terminal is put back also when a signal
// comes, which then takes its course.
struct lk_hidden_input;
struct lk_hidden_input *lk_hidden_input_begin(int32_t in, int32_t out);
// The length without the newline, -ECANCELED at end of file, -E2BIG for a line
// longer than a terminal takes or the buffer.
int64_t lk_hidden_input_line(struct lk_hidden_input *input, const char *prompt, char *buffer, size_t capacity);
void lk_hidden_input_end(struct lk_hidden_input *input);

// SIGTERM, SIGINT and SIGHUP make fd (an eventfd) readable from now on.
int lk_signal_on_termination(int32_t fd);
// An inotify descriptor that reports when entries of the directory go, with writes also when
// one was put there, or was written and closed.
int lk_watch_removals(const char *path, int writes);
// Reads what was reported: 1 where the directory lost an entry or itself went.
int lk_drain_removals(int32_t fd);

// Set by KeychainTesting when it is linked into a program: from then on the
// user's own keychain is out of reach of that process.
void lk_mark_testing_linked(void);
int lk_testing_is_linked(void);
#endif
