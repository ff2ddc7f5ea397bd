#include "latchkey_testing.h"

#include "latchkey_platform.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((constructor)) static void cut_off_from_user_keychain(void) { lk_mark_testing_linked(); }

int lk_testing_anchor(void) { return 1; }

void lk_testing_raise_descriptors(void) {
    const rlim_t most = 65536;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= most) return;
    limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
    // Where that fails it stays as it is.
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int lk_testing_has_descriptors(int count) {
    int opened[64];
    int number = 0;
    while (number < count && number < 64) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd < 0) break;
        opened[number++] = fd;
    }
    for (int index = 0; index < number; index++) close(opened[index]);
    return number >= count;
}
