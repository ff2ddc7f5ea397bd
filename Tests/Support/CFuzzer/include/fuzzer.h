// libFuzzer, where the program was linked with it (scripts/fuzz).
#ifndef LATCHKEY_FUZZER_H
#define LATCHKEY_FUZZER_H
#include <stddef.h>
#include <stdint.h>

enum { LK_FUZZ_NOT_LINKED = -1 };

int lk_fuzz(int32_t argc, char **argv, int32_t (*one)(const uint8_t *, size_t));
#endif
