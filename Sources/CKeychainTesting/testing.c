#include "latchkey_testing.h"

#include "latchkey_platform.h"

__attribute__((constructor)) static void cut_off_from_user_keychain(void) { lk_mark_testing_linked(); }

int lk_testing_anchor(void) { return 1; }
