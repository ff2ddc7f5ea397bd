// sd-bus (libsystemd), and what Swift cannot do with it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define LK_SESSION_ENDED 2

// Takes what has come: 1 where there may be more, 0 where there is nothing,
// LK_SESSION_ENDED where the other side ended the connection, or -errno.
int lk_session_step(sd_bus *bus);
// Takes a name: 1, 0 where somebody else has it and keeps it, or -errno.
int lk_session_request(sd_bus *bus, const char *name, int replacing);
// Waits until one of the connections has something to do, or one of the descriptors can be
// read (which of those says ready[i]), or until that moment, in microseconds of CLOCK_MONOTONIC
// (UINT64_MAX: none). 0, or -errno.
int lk_session_wait(sd_bus *const *buses, size_t bus_count, const int *fds, size_t fd_count, uint64_t moment,
                    uint8_t *ready);
// A connection that was accepted, of which we are the serving side. It owns the
// descriptor, also where this fails.
int lk_session_accept(int fd, sd_bus **bus);
// Another descriptor of the same file, or -errno.
int lk_session_copy(int fd);
// Whether so many numbers for descriptors, or half of all where these are few (RLIMIT_NOFILE), lie behind the first
// free one. That is the one which the kernel gives next, so that what is opened only while this is so leaves so many.
int lk_session_has_room(unsigned descriptors);
// Says on a connection without a bus whom a message is for and, where not NULL, who says it.
int lk_session_address(sd_bus_message *message, const char *destination, const char *sender);
// Fails the call with that name and text; the last two as above, NULL on a bus.
int lk_session_refuse(sd_bus_message *call, const char *name, const char *text, const char *destination,
                      const char *sender);
// Bytes up to the zero.
size_t lk_session_length(const char *text);
// Calls and waits for the answer so long at the most: 0, or -errno with the error's name and text, both the
// caller's to give to lk_session_free.
int lk_session_call(sd_bus *bus, sd_bus_message *call, uint64_t microseconds, sd_bus_message **reply, char **name,
                    char **text);
void lk_session_free(char *text);
