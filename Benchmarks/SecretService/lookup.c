// What a lookup through org.freedesktop.secrets costs: the two calls that secret-tool makes
// for each (Service.SearchItems, Service.GetSecrets), one after the other, on one connection.
//
//   lookup floor            serves the name with answers of the same form and no store behind
//   lookup hops             the same, where the answers come from a process behind it (one round
//                           trip for the search), for the value through a second one: what
//                           keeping keys out of the service costs before anything is looked up
//   lookup fill FIRST END   stores items FIRST to END - 1; prints microseconds per store
//   lookup time N ROUNDS    looks up ROUNDS of N items; prints median and mean microseconds
//
// Sessions are plain: a cipher would cost the same everywhere.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>
#include <signal.h>

#define NAME "org.freedesktop.secrets"
#define ROOT "/org/freedesktop/secrets"
#define SERVICE "org.freedesktop.Secret.Service"
#define ITEM ROOT "/collection/login/g00112233445566778899aabbccddeeff"
static const char value[] = "correct horse battery staple";

static int check(int result, const char *what) {
    if (result >= 0) return result;
    fprintf(stderr, "lookup: %s: %s\n", what, strerror(-result));
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// The processes behind the floor: each answers as many bytes as it was asked with, the first,
// where the question says so, once the second has.

enum { PACKET = 256 };
static int behind = -1;

static void answer(int from, int onward) {
    char packet[PACKET];
    for (;;) {
        ssize_t size = recv(from, packet, sizeof packet, 0);
        if (size <= 0) _exit(0);
        if (onward >= 0 && packet[0] && (send(onward, packet, (size_t)size, 0) < 0 ||
                                         recv(onward, packet, sizeof packet, 0) <= 0)) _exit(1);
        if (send(from, packet, (size_t)size, 0) < 0) _exit(1);
    }
}

static int start(int onward) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) check(-errno, "socketpair");
    pid_t child = fork();
    if (child < 0) check(-errno, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        answer(pair[1], onward);
    }
    close(pair[1]);
    return pair[0];
}

static void ask_behind(int isForValue) {
    char packet[PACKET] = {(char)isForValue};
    if (behind < 0) return;
    if (send(behind, packet, sizeof packet, 0) < 0 || recv(behind, packet, sizeof packet, 0) <= 0)
        check(-errno, "the process behind");
}

// The floor.

static int search_items(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    ask_behind(0);
    return sd_bus_reply_method_return(call, "aoao", 1, ITEM, 0);
}

static int append_secret(sd_bus_message *message, const char *session) {
    check(sd_bus_message_open_container(message, 'r', "oayays"), "secret");
    check(sd_bus_message_append(message, "o", session), "secret");
    check(sd_bus_message_append_array(message, 'y', "", 0), "secret");
    check(sd_bus_message_append_array(message, 'y', value, sizeof value - 1), "secret");
    check(sd_bus_message_append(message, "s", "text/plain"), "secret");
    return sd_bus_message_close_container(message);
}

static int get_secrets(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    ask_behind(1);
    sd_bus_message *reply = NULL;
    check(sd_bus_message_new_method_return(call, &reply), "reply");
    check(sd_bus_message_open_container(reply, 'a', "{o(oayays)}"), "reply");
    check(sd_bus_message_open_container(reply, 'e', "o(oayays)"), "reply");
    check(sd_bus_message_append(reply, "o", ITEM), "reply");
    check(append_secret(reply, ROOT "/session/s1"), "reply");
    check(sd_bus_message_close_container(reply), "reply");
    check(sd_bus_message_close_container(reply), "reply");
    int result = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return result;
}

static int open_session(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    return sd_bus_reply_method_return(call, "vo", "s", "", ROOT "/session/s1");
}

static const sd_bus_vtable floor_table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("OpenSession", "sv", "vo", open_session, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SearchItems", "a{ss}", "aoao", search_items, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetSecrets", "aoo", "a{o(oayays)}", get_secrets, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static void serve_floor(sd_bus *bus) {
    check(sd_bus_add_object_vtable(bus, NULL, ROOT, SERVICE, floor_table, NULL), "vtable");
    check(sd_bus_request_name(bus, NAME, 0), NAME);
    for (;;) {
        int result = sd_bus_process(bus, NULL);
        if (result == -ECONNRESET || result == -ENOTCONN) return;
        if (check(result, "process") == 0) check(sd_bus_wait(bus, UINT64_MAX), "wait");
    }
}

// The client.

static sd_bus_message *call(sd_bus *bus, sd_bus_message *message, const char *what) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    if (sd_bus_call(bus, message, 60 * 1000000ull, &error, &reply) < 0) {
        fprintf(stderr, "lookup: %s: %s: %s\n", what, error.name ? error.name : "?", error.message ? error.message : "?");
        exit(1);
    }
    sd_bus_message_unref(message);
    return reply;
}

static sd_bus_message *method(sd_bus *bus, const char *path, const char *interface, const char *member) {
    sd_bus_message *message = NULL;
    check(sd_bus_message_new_method_call(bus, &message, NAME, path, interface, member), member);
    return message;
}

static void session(sd_bus *bus, char *out, size_t size) {
    const char *path;
    sd_bus_message *message = method(bus, ROOT, SERVICE, "OpenSession");
    check(sd_bus_message_append(message, "sv", "plain", "s", ""), "OpenSession");
    sd_bus_message *reply = call(bus, message, "OpenSession");
    check(sd_bus_message_skip(reply, "v"), "OpenSession");
    check(sd_bus_message_read(reply, "o", &path), "OpenSession");
    snprintf(out, size, "%s", path);
    sd_bus_message_unref(reply);
}

static void store(sd_bus *bus, const char *session, unsigned number) {
    char account[32], label[48];
    snprintf(account, sizeof account, "account-%u", number);
    snprintf(label, sizeof label, "Item %u", number);
    sd_bus_message *message =
        method(bus, ROOT "/aliases/default", "org.freedesktop.Secret.Collection", "CreateItem");
    check(
        sd_bus_message_append(
            message, "a{sv}", 2, "org.freedesktop.Secret.Item.Label", "s", label,
            "org.freedesktop.Secret.Item.Attributes", "a{ss}", 2, "service", "bench", "account", account),
        "CreateItem");
    append_secret(message, session);
    check(sd_bus_message_append(message, "b", 1), "CreateItem");
    sd_bus_message_unref(call(bus, message, "CreateItem"));
}

static void lookup(sd_bus *bus, const char *session, unsigned number) {
    char account[32];
    const char *path;
    snprintf(account, sizeof account, "account-%u", number);
    sd_bus_message *message = method(bus, ROOT, SERVICE, "SearchItems");
    check(sd_bus_message_append(message, "a{ss}", 2, "service", "bench", "account", account), "SearchItems");
    sd_bus_message *found = call(bus, message, "SearchItems");
    check(sd_bus_message_enter_container(found, 'a', "o"), "SearchItems");
    if (check(sd_bus_message_read(found, "o", &path), "SearchItems") == 0) {
        fprintf(stderr, "lookup: item %u is not there\n", number);
        exit(1);
    }
    message = method(bus, ROOT, SERVICE, "GetSecrets");
    check(sd_bus_message_append(message, "aoo", 1, path, session), "GetSecrets");
    sd_bus_message *secrets = call(bus, message, "GetSecrets");
    const void *bytes;
    size_t size;
    check(sd_bus_message_enter_container(secrets, 'a', "{o(oayays)}"), "GetSecrets");
    check(sd_bus_message_enter_container(secrets, 'e', "o(oayays)"), "GetSecrets");
    check(sd_bus_message_skip(secrets, "o"), "GetSecrets");
    check(sd_bus_message_enter_container(secrets, 'r', "oayays"), "GetSecrets");
    check(sd_bus_message_skip(secrets, "oay"), "GetSecrets");
    check(sd_bus_message_read_array(secrets, 'y', &bytes, &size), "GetSecrets");
    if (size != sizeof value - 1 || memcmp(bytes, value, size) != 0) {
        fprintf(stderr, "lookup: item %u has another value\n", number);
        exit(1);
    }
    sd_bus_message_unref(found);
    sd_bus_message_unref(secrets);
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static void measure(sd_bus *bus, const char *session, unsigned count, unsigned rounds) {
    double *times = calloc(rounds, sizeof *times), sum = 0;
    // The same items in every run.
    uint64_t state = 88172645463325252ull;
    for (unsigned i = 0; i < 20; i++) lookup(bus, session, i % count);
    for (unsigned i = 0; i < rounds; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;  // xorshift64 (Marsaglia 2003)
        double start = microseconds();
        lookup(bus, session, (unsigned)(state % count));
        sum += times[i] = microseconds() - start;
    }
    qsort(times, rounds, sizeof *times, compare);
    printf("%.1f %.1f\n", times[rounds / 2], sum / rounds);
    free(times);
}

int main(int count, char **arguments) {
    sd_bus *bus = NULL;
    char path[256];
    const char *what = count > 1 ? arguments[1] : "";
    check(sd_bus_open_user(&bus), "the session bus");
    if (strcmp(what, "floor") == 0) {
        serve_floor(bus);
    } else if (strcmp(what, "hops") == 0) {
        behind = start(start(-1));
        serve_floor(bus);
    } else if (count == 4 && strcmp(what, "fill") == 0) {
        unsigned first = (unsigned)atoi(arguments[2]), end = (unsigned)atoi(arguments[3]);
        session(bus, path, sizeof path);
        double start = microseconds();
        for (unsigned i = first; i < end; i++) store(bus, path, i);
        printf("%.1f\n", end > first ? (microseconds() - start) / (end - first) : 0.0);
    } else if (count == 4 && strcmp(what, "time") == 0) {
        session(bus, path, sizeof path);
        measure(bus, path, (unsigned)atoi(arguments[2]), (unsigned)atoi(arguments[3]));
    } else {
        fprintf(stderr, "usage: lookup floor | hops | fill FIRST END | time N ROUNDS\n");
        return 64;
    }
    sd_bus_flush_close_unref(bus);
    return 0;
}
