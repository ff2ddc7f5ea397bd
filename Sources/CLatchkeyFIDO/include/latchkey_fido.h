// Secrets that a FIDO2 security key makes (CTAP 2.1, 12.5: hmac-secret), through libfido2.
//
// Calls block for as long as the limit that is set says: whoever calls them can be killed.
// Every call returns 0 or a code of libfido2 (fido/err.h) or of this file.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define LK_FIDO_SECRET 32
#define LK_FIDO_SALT 32
#define LK_FIDO_CREDENTIAL 1024   // more than any credential's name of those that are sold
#define LK_FIDO_PATH 64
#define LK_FIDO_PRODUCT 128

typedef struct lk_fido lk_fido;

typedef struct {
    char path[LK_FIDO_PATH];
    char product[LK_FIDO_PRODUCT];   // who made it and what it is called; may be empty
} lk_fido_place;

typedef struct {
    uint32_t has_hmac_secret;
    uint32_t has_pin;          // one is set
    uint32_t always_verifies;  // takes a PIN or a finger for whatever it does
} lk_fido_description;

typedef struct {
    uint16_t count;            // at most LK_FIDO_CREDENTIAL
    uint8_t bytes[LK_FIDO_CREDENTIAL];
} lk_fido_credential;

// What the codes of this file are, beside libfido2's own (which have at most 8 bits).
#define LK_FIDO_ABSENT 0x10001     // no such device
#define LK_FIDO_DENIED 0x10002     // there is one, for others
#define LK_FIDO_ODD_ANSWER 0x10003 // what no security key answers
#define LK_FIDO_OLD 0x10004        // it says nothing of FIDO2: it knows U2F alone, or hangs

// At most `most` places; the number of those that there are, or a code below zero.
int32_t lk_fido_list(lk_fido_place *places, int32_t most);

int32_t lk_fido_open(const char *path, lk_fido **out, int32_t milliseconds);
void lk_fido_close(lk_fido *key);
// Of each call from then on.
void lk_fido_limit(lk_fido *key, int32_t milliseconds);
// It waits for nobody any more, and stops blinking.
void lk_fido_cancel(lk_fido *key);

int32_t lk_fido_describe(lk_fido *key, lk_fido_description *out);

// A new credential with the extension, which the key does not keep. Waits for a touch.
// `pin`: NULL: none.
int32_t lk_fido_make(lk_fido *key, const char *relying_party, const char *pin, lk_fido_credential *out);
// 0 where the key made that credential. Waits for nobody.
int32_t lk_fido_knows(lk_fido *key, const char *relying_party, const lk_fido_credential *credential);
// What the credential makes of one salt or two. Waits for a touch.
int32_t lk_fido_secrets(
    lk_fido *key, const char *relying_party, const lk_fido_credential *credential, const uint8_t *salts,
    int32_t salt_count, uint8_t *secrets);

// How many wrong PINs it still takes; below zero: it does not say.
int32_t lk_fido_tries_left(lk_fido *key);

// The name of a code; static storage.
const char *lk_fido_text(int32_t code);

// Devices of a test's own in the place of the machine's. No program of ours that is
// installed calls it; NULL: the machine's.
typedef struct {
    int32_t (*list)(lk_fido_place *places, int32_t most);
    void *(*open)(const char *path);
    void (*close)(void *handle);
    int (*read)(void *handle, unsigned char *bytes, size_t count, int milliseconds);
    int (*write)(void *handle, const unsigned char *bytes, size_t count);
} lk_fido_transport;
void lk_fido_replace_devices(const lk_fido_transport *transport);
