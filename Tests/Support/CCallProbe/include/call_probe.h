#ifndef CALL_PROBE_H
#define CALL_PROBE_H
#include <stdint.h>

// Makes one call as a program that was taken over would: 0 where the kernel did it, its
// errno where not; -1 for a name that is none. Where the kernel ends the process it does
// not return.
int probe_call(const char *name);
// Their names; NULL at the end.
const char *probe_name(int32_t index);

// Whether somebody else reads the byte there, which is not 0: 0, or 1 where it reads 0,
// or the errno, or 128 and the signal that ended it. By a forked child; by /proc/PID/mem.
int probe_child_sees(const void *at);
int probe_proc_sees(const void *at);

// What the running kernel has to confine a process with: the version of Landlock, 0 for
// none; whether there is PR_SET_MDWE, memfd_secret(2), a filter of calls.
int probe_landlock(void);
int probe_has_mdwe(void);
int probe_has_hidden_memory(void);
int probe_has_filters(void);
// Whether this user may mount in a mount namespace of its own, without a user namespace.
int probe_may_mount(void);

// Data of this program, 64 pages of it: written to in one, read in all; how many of them are
// in memory, or -1; whether they say what they are to.
enum { probe_data_size = 64 };
void probe_use_data(void);
int probe_data_pages(void);
int probe_data_is_whole(void);
// A thread that does nothing for as long as the process lives.
int probe_start_thread(void);

// From now on the call is not there (ENOSYS), or ends whoever makes it, for this process and
// what it becomes; 0.
int probe_refuse(const char *name, int ends);
int probe_become(char *const *argv);
#endif
