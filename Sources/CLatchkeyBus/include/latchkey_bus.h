// What we say on the system bus, through sd-bus (libsystemd): to fprintd and to
// logind, and to nobody else.
//
// Every call waits for its answer, LK_BUS_PATIENCE at the most, and returns 0 or -errno;
// what the other side refused is named by lk_bus_refusal. Signals that come meanwhile are
// kept for lk_bus_next, in order.
#pragma once
#include <stdint.h>

#define LK_BUS_NAME 256           // the D-Bus specification, "Message Protocol": 255 bytes
#define LK_BUS_PATH 512
#define LK_BUS_WORD 64
#define LK_BUS_PATIENCE 4000000   // microseconds, of one call

typedef struct lk_bus lk_bus;

// A stream socket that is connected to that path. The socket, or -errno.
int lk_bus_connect(const char *path);
// Another descriptor of the same socket, or -errno.
int lk_bus_copy(int32_t fd);
// Speaks on the socket, which it takes, from then on as a client of a bus.
int lk_bus_start(int32_t fd, lk_bus **bus);
void lk_bus_end(lk_bus *bus);
// What the last call was refused with: a D-Bus error's name, or "".
const char *lk_bus_refusal(const lk_bus *bus);

// Who has a name, by the name that is its connection's alone, and as which user; started
// first where `start` is not 0 and the bus knows how.
int lk_bus_owner(lk_bus *bus, const char *name, int32_t start, char owner[LK_BUS_NAME], uint32_t *uid);
// Has its end kept as a signal: a name that has another owner, or none.
int lk_bus_watch_owner(lk_bus *bus, const char *name);

enum { LK_BUS_SLEEP = 1, LK_BUS_LOCK = 2, LK_BUS_HINT = 3, LK_BUS_FINGER = 4, LK_BUS_OWNER = 5 };

typedef struct {
    int32_t kind;
    int32_t flag;                 // of SLEEP, HINT and FINGER ("done")
    char sender[LK_BUS_NAME];
    char path[LK_BUS_PATH];
    char word[LK_BUS_WORD];       // of FINGER: the result
} lk_bus_signal;

// Readable once something has come; a copy, the caller's to close.
int lk_bus_descriptor(const lk_bus *bus);
// Takes what has come: 1 where there may be more, 0 where there is nothing.
int lk_bus_step(lk_bus *bus);
// The oldest signal that was kept: 1, or 0 where there is none.
int lk_bus_next(lk_bus *bus, lk_bus_signal *out);

// fprintd (net.reactivated.Fprint), whose name's owner is `peer`.
int lk_finger_reader(lk_bus *bus, const char *peer, char path[LK_BUS_PATH]);
// How many fingers of our user it knows. None is no error.
int lk_finger_count(lk_bus *bus, const char *peer, const char *path, uint32_t *count);
// Whether fingers are drawn over the reader, not put on it.
int lk_finger_is_swiped(lk_bus *bus, const char *peer, const char *path, int32_t *swiped);
// For us alone from then on, with its signals.
int lk_finger_claim(lk_bus *bus, const char *peer, const char *path);
int lk_finger_begin(lk_bus *bus, const char *peer, const char *path);
int lk_finger_stop(lk_bus *bus, const char *peer, const char *path);
int lk_finger_release(lk_bus *bus, const char *peer, const char *path);

// logind (org.freedesktop.login1), whose name's owner is `peer`.
int lk_login_follow(lk_bus *bus, const char *peer);
// Whose session that is.
int lk_login_user(lk_bus *bus, const char *peer, const char *path, uint32_t *uid);
// Sleep waits for the descriptor, which is ours to close, or -errno.
int lk_login_delay_sleep(lk_bus *bus, const char *peer);
