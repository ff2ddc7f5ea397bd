#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H
#include <stdint.h>

// posix_spawn(3): `streams` as descriptors 0 to 2 and no other, no signal blocked or
// ignored, a process group of its own. 0, or the errno.
int test_spawn(
    int32_t *process, const char *path, char *const argv[], char *const envp[], int32_t input, int32_t output,
    int32_t errors);
#endif
