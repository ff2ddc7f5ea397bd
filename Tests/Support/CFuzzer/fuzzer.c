#include "fuzzer.h"

// https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
__attribute__((weak)) int LLVMFuzzerRunDriver(int *, char ***, int (*)(const uint8_t *, size_t));

int lk_fuzz(int32_t argc, char **argv, int32_t (*one)(const uint8_t *, size_t)) {
    if (!LLVMFuzzerRunDriver) return LK_FUZZ_NOT_LINKED;
    int count = argc;
    return LLVMFuzzerRunDriver(&count, &argv, one);
}
