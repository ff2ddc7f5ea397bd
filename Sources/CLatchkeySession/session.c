#define _GNU_SOURCE
#include "latchkey_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-id128.h>
#include <time.h>
#include <unistd.h>

int lk_session_step(sd_bus *bus) {
    int result = sd_bus_process(bus, NULL);
    if (result == -ECONNRESET || result == -ENOTCONN || result == -EPIPE) return LK_SESSION_ENDED;
    return result > 0 ? 1 : result;
}

int lk_session_request(sd_bus *bus, const char *name, int replacing) {
    int result = sd_bus_request_name(bus, name, replacing ? SD_BUS_NAME_REPLACE_EXISTING : 0);
    if (result == -EALREADY) return 1;
    if (result == -EEXIST) return 0;
    return result < 0 ? result : 1;
}

// sd_bus_get_timeout(3): CLOCK_MONOTONIC; UINT64_MAX for none.
static int milliseconds_to(uint64_t moment) {
    struct timespec now;
    if (moment == UINT64_MAX) return -1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t present = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    if (moment <= present) return 0;
    uint64_t left = (moment - present + 999) / 1000;
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

// Of all connections the next moment at which one has something to do. One that has ended
// has: its next step says so, and the others go on.
static void gather(sd_bus *const *buses, size_t count, struct pollfd *watched, uint64_t *next) {
    for (size_t i = 0; i < count; i++) {
        uint64_t moment = 0;
        int events = sd_bus_get_events(buses[i]);
        int fd = events < 0 ? events : sd_bus_get_fd(buses[i]);
        if (fd < 0 || sd_bus_get_timeout(buses[i], &moment) < 0) moment = 0;
        if (moment < *next) *next = moment;
        // poll(2) passes over a descriptor that is none.
        watched[i] = (struct pollfd){.fd = fd < 0 ? -1 : fd, .events = (short)(fd < 0 ? 0 : events)};
    }
}

int lk_session_wait(sd_bus *const *buses, size_t bus_count, const int *fds, size_t fd_count, uint64_t moment,
                    uint8_t *ready) {
    struct pollfd *watched = calloc(bus_count + fd_count + 1, sizeof *watched);
    uint64_t next = moment;
    if (!watched) return -ENOMEM;
    int result = 0;
    gather(buses, bus_count, watched, &next);
    for (size_t i = 0; i < fd_count; i++) watched[bus_count + i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    // A signal that ends nothing only shortens the wait.
    if (poll(watched, bus_count + fd_count, milliseconds_to(next)) < 0 && errno != EINTR)
        result = -errno;
    for (size_t i = 0; i < fd_count; i++) ready[i] = watched[bus_count + i].revents != 0;
    free(watched);
    return result;
}

// The steps of sd_bus_set_server(3); the identifier names nothing that lasts.
static int serve(sd_bus *bus) {
    sd_id128_t identifier;
    int result = sd_id128_randomize(&identifier);
    if (result < 0) return result;
    if ((result = sd_bus_set_server(bus, 1, identifier)) < 0) return result;
    // No call that comes without a bus takes a descriptor, and libsystemd 252 keeps those of a
    // message that says fewer than came, also once the connection has ended. A bus counts them.
    if ((result = sd_bus_negotiate_fds(bus, 0)) < 0) return result;
    return sd_bus_start(bus);
}

int lk_session_accept(int fd, sd_bus **bus) {
    *bus = NULL;
    int result = sd_bus_new(bus);
    if (result >= 0) result = sd_bus_set_fd(*bus, fd, fd);
    if (result < 0) close(fd);
    else result = serve(*bus);
    if (result < 0) *bus = sd_bus_unref(*bus);
    return result < 0 ? result : 0;
}

int lk_session_copy(int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? -errno : copy;
}

int lk_session_has_room(unsigned descriptors) {
    struct rlimit limit;
    int first = lk_session_copy(STDOUT_FILENO);
    if (first < 0) return 0;
    close(first);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
    rlim_t half = limit.rlim_cur / 2;
    return (rlim_t)first + (half < descriptors ? half : descriptors) <= limit.rlim_cur;
}

int lk_session_address(sd_bus_message *message, const char *destination, const char *sender) {
    // The answer to a call that named its sender is addressed already.
    if (destination && !sd_bus_message_get_destination(message)) {
        int result = sd_bus_message_set_destination(message, destination);
        if (result < 0) return result;
    }
    return sender ? sd_bus_message_set_sender(message, sender) : 0;
}

int lk_session_refuse(sd_bus_message *call, const char *name, const char *text, const char *destination,
                      const char *sender) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    sd_bus_error_set(&error, name, text);
    int result = sd_bus_message_new_method_error(call, &reply, &error);
    if (result >= 0) result = lk_session_address(reply, destination, sender);
    if (result >= 0) result = sd_bus_message_send(reply);
    sd_bus_message_unref(reply);
    sd_bus_error_free(&error);
    return result;
}

size_t lk_session_length(const char *text) { return strlen(text); }

int lk_session_call(sd_bus *bus, sd_bus_message *call, uint64_t microseconds, sd_bus_message **reply, char **name,
                    char **text) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    *name = *text = NULL;
    int result = sd_bus_call(bus, call, microseconds, &error, reply);
    if (result < 0) {
        *name = strdup(error.name ? error.name : "org.freedesktop.DBus.Error.Failed");
        *text = strdup(error.message ? error.message : strerror(-result));
    }
    sd_bus_error_free(&error);
    return result < 0 ? result : 0;
}

void lk_session_free(char *text) { free(text); }
