// Around vfork(2), between the files of this target.
#pragma once
#include <signal.h>

// Before a child by vfork(2), which has the caller's memory until it executes a program: fork(2)
// copies the tables of all of it, a hundredth of a second for a program of a GiB. A handler of the
// caller's would run in that memory.
void lk_hold_all_signals(sigset_t *before);
// In the child: none of the caller's handlers is there once signals come.
void lk_reset_signals(void);
