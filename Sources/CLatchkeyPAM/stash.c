// A password between authentication and session.
#define _GNU_SOURCE
#include "latchkey_pam.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

struct lp_stash *lp_stash_make(const char *user, const char *password) {
    size_t name = strnlen(user, LP_LONGEST_NAME + 1), count = strnlen(password, LP_LONGEST_PASSWORD + 1);
    if (name == 0 || name > LP_LONGEST_NAME || count == 0 || count > LP_LONGEST_PASSWORD) {
        errno = 0;
        return NULL;
    }
    struct lp_stash *stash =
        mmap(NULL, sizeof *stash, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stash == MAP_FAILED)
        return NULL;
    if (mlock(stash, sizeof *stash) != 0 || madvise(stash, sizeof *stash, MADV_DONTDUMP) != 0 ||
        madvise(stash, sizeof *stash, MADV_WIPEONFORK) != 0) {
        int why = errno;
        munmap(stash, sizeof *stash);
        errno = why;
        return NULL;
    }
    memcpy(stash->user, user, name);
    memcpy(stash->password, password, count);
    return stash;
}

void lp_stash_free(struct lp_stash *stash) {
    if (stash == NULL)
        return;
    explicit_bzero(stash, sizeof *stash);
    munmap(stash, sizeof *stash);
}
