// The same work through gnome-keyring: C libsecret's simple password API, one
// process, one session. Usage: libsecret ITEMS READS ADDS. Prints the medians in
// microseconds: {"read_us": …, "add_us": …}.
#include <libsecret/secret.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const SecretSchema schema = {
    "org.example.Bench", SECRET_SCHEMA_NONE,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"account", SECRET_SCHEMA_ATTRIBUTE_STRING}, {NULL, 0}},
    0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, int count) {
    qsort(samples, count, sizeof *samples, ascending);
    return samples[count / 2];
}

static void fail(const char *what, GError *error) {
    fprintf(stderr, "libsecret: %s: %s\n", what, error ? error->message : "nothing found");
    exit(1);
}

static double read_one(int items, unsigned index) {
    char service[64], account[64];
    unsigned item = index * 7919u % (unsigned)items;
    snprintf(service, sizeof service, "bench %u", item / 1000);
    snprintf(account, sizeof account, "item %u", item);
    GError *error = NULL;
    double start = now_us();
    char *value = secret_password_lookup_sync(&schema, NULL, &error, "service", service, "account", account, NULL);
    double spent = now_us() - start;
    if (!value) fail("lookup", error);
    secret_password_free(value);
    return spent;
}

static double add_one(int index) {
    char account[64];
    snprintf(account, sizeof account, "item %d %ld", index, (long)getpid());
    GError *error = NULL;
    double start = now_us();
    if (!secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, account, "correct horse battery", NULL, &error,
                                    "service", "bench added", "account", account, NULL))
        fail("store", error);
    return now_us() - start;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int items = atoi(argv[1]), reads = atoi(argv[2]), adds = atoi(argv[3]);
    double *samples = calloc((size_t)(reads > adds ? reads : adds) + 1, sizeof *samples);
    for (int i = 0; i < 5; i++) read_one(items, (unsigned)i);
    for (int i = 0; i < reads; i++) samples[i] = read_one(items, (unsigned)i + 100);
    double read_us = median(samples, reads);
    for (int i = 0; i < adds; i++) samples[i] = add_one(i);
    printf("{\"read_us\": %.1f, \"add_us\": %.1f}\n", read_us, median(samples, adds));
    return 0;
}
