// Whoever links KeychainTesting is cut off from the user's own keychain before
// main() runs.
#ifndef LATCHKEY_TESTING_H
#define LATCHKEY_TESTING_H

// 1. Called by KeychainTesting, so that a linker which picks single objects out
// of an archive picks this one.
int lk_testing_anchor(void);

#endif
