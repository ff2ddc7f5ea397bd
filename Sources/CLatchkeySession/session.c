#define _GNU_SOURCE
#include "latchkey_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <time.h>

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

int lk_session_wait(sd_bus *bus) {
    uint64_t moment;
    int events = sd_bus_get_events(bus);
    if (events < 0) return events;
    int result = sd_bus_get_timeout(bus, &moment);
    if (result < 0) return result;
    struct pollfd watched = {.fd = sd_bus_get_fd(bus), .events = (short)events};
    // A signal that ends nothing only shortens the wait.
    if (poll(&watched, 1, milliseconds_to(moment)) < 0) return errno == EINTR ? 0 : -errno;
    return 0;
}

int lk_session_copy(int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? -errno : copy;
}

int lk_session_refuse(sd_bus_message *call, const char *name, const char *text) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_error_set(&error, name, text);
    int result = sd_bus_reply_method_error(call, &error);
    sd_bus_error_free(&error);
    return result;
}
