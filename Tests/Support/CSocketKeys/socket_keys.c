#define _GNU_SOURCE
#include "socket_keys.h"

#include <latchkey_fido.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REPORT 64

static char folder[80];

static int connect_to(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

static int32_t list(lk_fido_place *places, int32_t most) {
    int32_t count = 0;
    for (int i = 0; i < 4 && count < most; i++) {
        char name[16];
        snprintf(name, sizeof name, "hidraw%d", i);
        int fd = connect_to(name);
        if (fd < 0) continue;
        close(fd);
        snprintf(places[count].path, sizeof places[count].path, "/dev/%s", name);
        snprintf(places[count].product, sizeof places[count].product, "Test Key %d", i);
        count++;
    }
    return count;
}

static void *open_key(const char *path) {
    int fd = connect_to(strrchr(path, '/') + 1);
    if (fd < 0) return NULL;
    int *handle = malloc(sizeof *handle);
    if (!handle) abort();
    *handle = fd;
    return handle;
}

static void close_key(void *handle) {
    close(*(int *)handle);
    free(handle);
}

static int read_key(void *handle, unsigned char *bytes, size_t count, int milliseconds) {
    struct pollfd one = {.fd = *(int *)handle, .events = POLLIN};
    if (poll(&one, 1, milliseconds) != 1) return -1;
    ssize_t got = recv(one.fd, bytes, count, 0);
    return got == REPORT ? (int)got : -1;
}

// Behind the number of the report.
static int write_key(void *handle, const unsigned char *bytes, size_t count) {
    if (count != REPORT + 1) return -1;
    ssize_t sent = send(*(int *)handle, bytes + 1, REPORT, MSG_NOSIGNAL);
    return sent == REPORT ? (int)count : -1;
}

void use_socket_keys(const char *path) {
    snprintf(folder, sizeof folder, "%s", path);
    const lk_fido_transport transport = {
        .list = list, .open = open_key, .close = close_key, .read = read_key, .write = write_key};
    lk_fido_replace_devices(&transport);
}
