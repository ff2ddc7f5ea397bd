#define _GNU_SOURCE
#include "latchkey_bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define FPRINT "net.reactivated.Fprint"
#define LOGIN "org.freedesktop.login1"
#define BUS "org.freedesktop.DBus"

// More than come between two looks; whoever sends more loses us.
enum { most_signals = 64 };

struct lk_bus {
    sd_bus *bus;
    int overflowed, follows_finger;
    unsigned first, count;
    lk_bus_signal kept[most_signals];
    char refusal[LK_BUS_NAME];
};

static int err(void) { return errno ? -errno : -EIO; }

int lk_bus_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return err();
    // Where the bus takes nobody at the moment this fails (EAGAIN) and does not wait.
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int r = err();
        close(fd);
        return r;
    }
    return fd;
}

int lk_bus_copy(int32_t fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? err() : copy;
}

int lk_bus_start(int32_t fd, lk_bus **out) {
    lk_bus *self = calloc(1, sizeof *self);
    if (!self) {
        close(fd);
        return -ENOMEM;
    }
    int r = sd_bus_new(&self->bus);
    if (r >= 0) {
        r = sd_bus_set_fd(self->bus, fd, fd);
        if (r >= 0) fd = -1;
    }
    if (fd >= 0) close(fd);
    if (r >= 0) r = sd_bus_set_bus_client(self->bus, 1);
    if (r >= 0) r = sd_bus_negotiate_fds(self->bus, 1);
    if (r >= 0) r = sd_bus_set_method_call_timeout(self->bus, LK_BUS_PATIENCE);
    if (r >= 0) r = sd_bus_start(self->bus);
    if (r < 0) {
        lk_bus_end(self);
        return r;
    }
    *out = self;
    return 0;
}

void lk_bus_end(lk_bus *self) {
    if (self->bus) sd_bus_close(self->bus);
    sd_bus_unref(self->bus);
    free(self);
}

const char *lk_bus_refusal(const lk_bus *self) { return self->refusal; }

static void copy(char *to, size_t room, const char *from) {
    size_t length = from ? strlen(from) : 0;
    // What does not fit is no name of anything: it then matches nothing.
    if (length >= room) length = 0;
    if (length) memcpy(to, from, length);
    to[length] = 0;
}

// Remembers what a call was refused with.
static int said(lk_bus *self, int result, sd_bus_error *error) {
    copy(self->refusal, sizeof self->refusal, error->name);
    sd_bus_error_free(error);
    return result < 0 ? result : 0;
}

// A call with one string, or none; its answer where somebody wants it.
static int call(lk_bus *self, const char *peer, const char *path, const char *interface, const char *member,
                const char *text, sd_bus_message **answer) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int r = text ? sd_bus_call_method(self->bus, peer, path, interface, member, &error, answer, "s", text)
                 : sd_bus_call_method(self->bus, peer, path, interface, member, &error, answer, "");
    return said(self, r, &error);
}

// MARK: Names

int lk_bus_owner(lk_bus *self, const char *name, int32_t start, char owner[LK_BUS_NAME], uint32_t *uid) {
    sd_bus_message *answer = NULL;
    int r;
    if (start) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        r = sd_bus_call_method(self->bus, BUS, "/org/freedesktop/DBus", BUS, "StartServiceByName", &error, NULL, "su",
                               name, 0U);
        r = said(self, r, &error);
        if (r < 0) return r;
    }
    r = call(self, BUS, "/org/freedesktop/DBus", BUS, "GetNameOwner", name, &answer);
    const char *unique = NULL;
    if (r >= 0) r = sd_bus_message_read_basic(answer, 's', &unique);
    if (r > 0) copy(owner, LK_BUS_NAME, unique);
    sd_bus_message_unref(answer);
    if (r < 0) return r;
    answer = NULL;
    // Of the connection, not of the name, which may change hands in between.
    r = call(self, BUS, "/org/freedesktop/DBus", BUS, "GetConnectionUnixUser", owner, &answer);
    if (r >= 0) r = sd_bus_message_read_basic(answer, 'u', uid);
    sd_bus_message_unref(answer);
    return r < 0 ? r : 0;
}

// MARK: Signals

static lk_bus_signal *keep(lk_bus *self, sd_bus_message *message, int32_t kind) {
    if (self->count == most_signals) {
        self->overflowed = 1;
        return NULL;
    }
    lk_bus_signal *signal = &self->kept[(self->first + self->count++) % most_signals];
    memset(signal, 0, sizeof *signal);
    signal->kind = kind;
    copy(signal->sender, sizeof signal->sender, sd_bus_message_get_sender(message));
    copy(signal->path, sizeof signal->path, sd_bus_message_get_path(message));
    return signal;
}

static int on_owner(sd_bus_message *message, void *self, sd_bus_error *error) {
    (void)error;
    keep(self, message, LK_BUS_OWNER);
    return 0;
}

static int on_sleep(sd_bus_message *message, void *self, sd_bus_error *error) {
    (void)error;
    int starts = 0;
    if (sd_bus_message_read_basic(message, 'b', &starts) <= 0) return 0;
    lk_bus_signal *signal = keep(self, message, LK_BUS_SLEEP);
    if (signal) signal->flag = starts;
    return 0;
}

static int on_lock(sd_bus_message *message, void *self, sd_bus_error *error) {
    (void)error;
    keep(self, message, LK_BUS_LOCK);
    return 0;
}

// LockedHint among the properties that changed: sa{sv}as.
static int on_properties(sd_bus_message *message, void *self, sd_bus_error *error) {
    (void)error;
    const char *text = NULL;
    if (sd_bus_message_read_basic(message, 's', &text) <= 0) return 0;
    if (sd_bus_message_enter_container(message, 'a', "{sv}") <= 0) return 0;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        int locked = 0;
        if (sd_bus_message_read_basic(message, 's', &text) <= 0) return 0;
        if (strcmp(text, "LockedHint") == 0 && sd_bus_message_enter_container(message, 'v', "b") > 0) {
            if (sd_bus_message_read_basic(message, 'b', &locked) <= 0) return 0;
            lk_bus_signal *signal = keep(self, message, LK_BUS_HINT);
            if (signal) signal->flag = locked;
            return 0;
        }
        if (sd_bus_message_skip(message, "v") < 0 || sd_bus_message_exit_container(message) < 0) return 0;
    }
    return 0;
}

static int on_finger(sd_bus_message *message, void *self, sd_bus_error *error) {
    (void)error;
    const char *result = NULL;
    int done = 0;
    if (sd_bus_message_read_basic(message, 's', &result) <= 0) return 0;
    if (sd_bus_message_read_basic(message, 'b', &done) <= 0) return 0;
    lk_bus_signal *signal = keep(self, message, LK_BUS_FINGER);
    if (signal) {
        signal->flag = done;
        copy(signal->word, sizeof signal->word, result);
    }
    return 0;
}

static int follow(lk_bus *self, const char *sender, const char *path, const char *interface, const char *member,
                  sd_bus_message_handler_t handler) {
    // It is in force when this returns.
    return sd_bus_match_signal(self->bus, NULL, sender, path, interface, member, handler, self);
}

int lk_bus_watch_owner(lk_bus *self, const char *name) {
    char rule[2 * LK_BUS_NAME];
    static const char begins[] =
        "type='signal',sender='" BUS "',interface='" BUS "',member='NameOwnerChanged',arg0='";
    if (strlen(name) + sizeof begins + 1 >= sizeof rule) return -ENAMETOOLONG;
    strcpy(rule, begins);
    strcat(rule, name);
    strcat(rule, "'");
    return sd_bus_add_match(self->bus, NULL, rule, on_owner, self);
}

int lk_bus_descriptor(const lk_bus *self) {
    int fd = sd_bus_get_fd(self->bus);
    return fd < 0 ? fd : lk_bus_copy(fd);
}

int lk_bus_step(lk_bus *self) {
    int r = sd_bus_process(self->bus, NULL);
    return self->overflowed ? -EOVERFLOW : r;
}

int lk_bus_next(lk_bus *self, lk_bus_signal *out) {
    if (self->count == 0) return 0;
    *out = self->kept[self->first];
    self->first = (self->first + 1) % most_signals;
    self->count -= 1;
    return 1;
}

// MARK: fprintd

#define DEVICE FPRINT ".Device"

int lk_finger_reader(lk_bus *self, const char *peer, char path[LK_BUS_PATH]) {
    sd_bus_message *answer = NULL;
    int r = call(self, peer, "/net/reactivated/Fprint/Manager", FPRINT ".Manager", "GetDefaultDevice", NULL, &answer);
    const char *found = NULL;
    if (r >= 0) r = sd_bus_message_read_basic(answer, 'o', &found);
    if (r > 0) copy(path, LK_BUS_PATH, found);
    sd_bus_message_unref(answer);
    return r < 0 ? r : path[0] ? 0 : -EBADMSG;
}

int lk_finger_count(lk_bus *self, const char *peer, const char *path, uint32_t *count) {
    sd_bus_message *answer = NULL;
    *count = 0;
    // "" is whoever asks.
    int r = call(self, peer, path, DEVICE, "ListEnrolledFingers", "", &answer);
    if (r < 0) return strcmp(self->refusal, FPRINT ".Error.NoEnrolledPrints") == 0 ? 0 : r;
    r = sd_bus_message_enter_container(answer, 'a', "s");
    const char *finger;
    while (r > 0 && (r = sd_bus_message_read_basic(answer, 's', &finger)) > 0) *count += 1;
    sd_bus_message_unref(answer);
    return r < 0 ? r : 0;
}

int lk_finger_is_swiped(lk_bus *self, const char *peer, const char *path, int32_t *swiped) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer = NULL;
    const char *type = "";
    // sd_bus_get_property takes no name with a hyphen.
    int r = said(self, sd_bus_call_method(self->bus, peer, path, BUS ".Properties", "Get", &error, &answer, "ss",
                                          DEVICE, "scan-type"), &error);
    if (r >= 0) r = sd_bus_message_enter_container(answer, 'v', "s");
    if (r > 0) r = sd_bus_message_read_basic(answer, 's', &type);
    *swiped = r > 0 && strcmp(type, "swipe") == 0;
    sd_bus_message_unref(answer);
    return r < 0 ? r : r > 0 ? 0 : -EBADMSG;
}

int lk_finger_claim(lk_bus *self, const char *peer, const char *path) {
    int r = call(self, peer, path, DEVICE, "Claim", "", NULL);
    if (r < 0 || self->follows_finger) return r;
    // From now on alone: fprintd tells everybody of everybody's fingers, and what it said to
    // whoever had the reader before us came before its answer.
    r = follow(self, peer, path, DEVICE, "VerifyStatus", on_finger);
    self->follows_finger = r >= 0;
    return r < 0 ? r : 0;
}

int lk_finger_begin(lk_bus *self, const char *peer, const char *path) {
    return call(self, peer, path, DEVICE, "VerifyStart", "any", NULL);
}

int lk_finger_stop(lk_bus *self, const char *peer, const char *path) {
    return call(self, peer, path, DEVICE, "VerifyStop", NULL, NULL);
}

int lk_finger_release(lk_bus *self, const char *peer, const char *path) {
    return call(self, peer, path, DEVICE, "Release", NULL, NULL);
}

// MARK: logind

#define SESSION LOGIN ".Session"

int lk_login_follow(lk_bus *self, const char *peer) {
    int r = follow(self, peer, "/org/freedesktop/login1", LOGIN ".Manager", "PrepareForSleep", on_sleep);
    if (r >= 0) r = follow(self, peer, NULL, SESSION, "Lock", on_lock);
    if (r < 0) return r;
    char rule[2 * LK_BUS_NAME];
    static const char ends[] = "',interface='" BUS ".Properties',member='PropertiesChanged',arg0='" SESSION "'";
    strcpy(rule, "type='signal',sender='");
    strncat(rule, peer, LK_BUS_NAME);
    strcat(rule, ends);
    r = sd_bus_add_match(self->bus, NULL, rule, on_properties, self);
    return r < 0 ? r : 0;
}

int lk_login_user(lk_bus *self, const char *peer, const char *path, uint32_t *uid) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer = NULL;
    int r = said(self, sd_bus_get_property(self->bus, peer, path, SESSION, "User", &error, &answer, "(uo)"), &error);
    if (r >= 0) r = sd_bus_message_enter_container(answer, 'r', "uo");
    if (r > 0) r = sd_bus_message_read_basic(answer, 'u', uid);
    sd_bus_message_unref(answer);
    return r < 0 ? r : r > 0 ? 0 : -EBADMSG;
}

int lk_login_delay_sleep(lk_bus *self, const char *peer) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer = NULL;
    int r = sd_bus_call_method(self->bus, peer, "/org/freedesktop/login1", LOGIN ".Manager", "Inhibit", &error,
                               &answer, "ssss", "sleep", "Latchkey", "Locks the keychain first", "delay");
    r = said(self, r, &error);
    int fd = -1;
    if (r >= 0) r = sd_bus_message_read_basic(answer, 'h', &fd);
    if (r > 0) {
        // The message has it, and takes it along.
        r = lk_bus_copy(fd);
    }
    sd_bus_message_unref(answer);
    return r;
}
