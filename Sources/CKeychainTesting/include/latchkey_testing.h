// Whoever links KeychainTesting is cut off from the user's own keychain before
// main() runs.
#ifndef LATCHKEY_TESTING_H
#define LATCHKEY_TESTING_H

// 1. Called by KeychainTesting, so that a linker which picks single objects out
// of an archive picks this one.
int lk_testing_anchor(void);

// 2. Raises the number of files that this process may have open to what it may raise it
// to, 65536 at the most.
void lk_testing_raise_descriptors(void);

// Whether so many more may be opened now.
int lk_testing_has_descriptors(int count);

#endif
