// sd-bus (libsystemd), and what Swift cannot do with it.
#pragma once
#include <systemd/sd-bus.h>

#define LK_SESSION_ENDED 2

// Takes what has come: 1 where there may be more, 0 where there is nothing,
// LK_SESSION_ENDED where the other side ended the connection, or -errno.
int lk_session_step(sd_bus *bus);
// Takes a name: 1, 0 where somebody else has it and keeps it, or -errno.
int lk_session_request(sd_bus *bus, const char *name, int replacing);
// Waits until the bus has something to do. 0, or -errno.
int lk_session_wait(sd_bus *bus);
// Another descriptor of the same file, or -errno.
int lk_session_copy(int fd);
// Fails the call with that name and text.
int lk_session_refuse(sd_bus_message *call, const char *name, const char *text);
