#define _GNU_SOURCE
#include "latchkey_fido.h"

#include <errno.h>
#include <fido.h>
#include <fido/es256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct lk_fido {
    fido_dev_t *device;
};

#define MOST_DEVICES 32
#define CHALLENGE 32

static lk_fido_transport replacement;
static int is_replaced;

void lk_fido_replace_devices(const lk_fido_transport *transport) {
    is_replaced = transport != NULL;
    if (transport) replacement = *transport;
}

// MARK: Devices

static void name(lk_fido_place *place, const fido_dev_info_t *info) {
    const char *maker = fido_dev_info_manufacturer_string(info);
    const char *product = fido_dev_info_product_string(info);
    int has_both = maker && *maker && product && *product;
    snprintf(
        place->product, sizeof place->product, "%s%s%s", maker ? maker : "", has_both ? " " : "",
        product ? product : "");
}

// libfido2 also knows smart card readers and NFC; ours are what the kernel has as hidraw.
static int is_hidraw(const char *path) {
    return path && strncmp(path, "/dev/hidraw", strlen("/dev/hidraw")) == 0 && strlen(path) < LK_FIDO_PATH;
}

int32_t lk_fido_list(lk_fido_place *places, int32_t most) {
    if (is_replaced) return replacement.list(places, most);
    fido_init(0);
    fido_dev_info_t *list = fido_dev_info_new(MOST_DEVICES);
    if (!list) return -1;
    size_t found = 0;
    int code = fido_dev_info_manifest(list, MOST_DEVICES, &found);
    int32_t count = 0;
    for (size_t i = 0; code == FIDO_OK && i < found && count < most; i++) {
        const fido_dev_info_t *info = fido_dev_info_ptr(list, i);
        const char *path = fido_dev_info_path(info);
        if (!is_hidraw(path)) continue;
        strcpy(places[count].path, path);
        name(&places[count], info);
        count++;
    }
    fido_dev_info_free(&list, MOST_DEVICES);
    return code == FIDO_OK ? count : -1;
}

static int replace_input(fido_dev_t *device) {
    const fido_dev_io_t io = {
        .open = replacement.open, .close = replacement.close, .read = replacement.read, .write = replacement.write};
    return fido_dev_set_io_functions(device, &io);
}

static int32_t open_device(const char *path, lk_fido *key, int32_t milliseconds) {
    if (!is_replaced && access(path, R_OK | W_OK) < 0) {
        return errno == EACCES || errno == EPERM ? LK_FIDO_DENIED : LK_FIDO_ABSENT;
    }
    int code = is_replaced ? replace_input(key->device) : FIDO_OK;
    if (code == FIDO_OK) code = fido_dev_set_timeout(key->device, milliseconds);
    if (code == FIDO_OK) code = fido_dev_open(key->device, path);
    // libfido2 takes a key that does not answer what it is for one of U2F.
    return code == FIDO_OK && !fido_dev_is_fido2(key->device) ? LK_FIDO_OLD : code;
}

int32_t lk_fido_open(const char *path, lk_fido **out, int32_t milliseconds) {
    fido_init(0);
    *out = NULL;
    lk_fido *key = calloc(1, sizeof *key);
    if (!key) return FIDO_ERR_INTERNAL;
    key->device = fido_dev_new();
    int32_t code = key->device ? open_device(path, key, milliseconds) : FIDO_ERR_INTERNAL;
    if (code) lk_fido_close(key);
    else *out = key;
    return code;
}

void lk_fido_close(lk_fido *key) {
    if (!key) return;
    if (key->device) {
        fido_dev_close(key->device);
        fido_dev_free(&key->device);
    }
    free(key);
}

void lk_fido_limit(lk_fido *key, int32_t milliseconds) { fido_dev_set_timeout(key->device, milliseconds); }

void lk_fido_cancel(lk_fido *key) { fido_dev_cancel(key->device); }

// MARK: What it is

static uint32_t extends(const fido_cbor_info_t *info, const char *wanted) {
    char **names = fido_cbor_info_extensions_ptr(info);
    for (size_t i = 0; i < fido_cbor_info_extensions_len(info); i++) {
        if (strcmp(names[i], wanted) == 0) return 1;
    }
    return 0;
}

static uint32_t has_option(const fido_cbor_info_t *info, const char *wanted) {
    char **names = fido_cbor_info_options_name_ptr(info);
    const bool *values = fido_cbor_info_options_value_ptr(info);
    for (size_t i = 0; i < fido_cbor_info_options_len(info); i++) {
        if (strcmp(names[i], wanted) == 0) return values[i];
    }
    return 0;
}

int32_t lk_fido_describe(lk_fido *key, lk_fido_description *out) {
    memset(out, 0, sizeof *out);
    fido_cbor_info_t *info = fido_cbor_info_new();
    if (!info) return FIDO_ERR_INTERNAL;
    int code = fido_dev_get_cbor_info(key->device, info);
    if (code == FIDO_OK) {
        out->has_hmac_secret = extends(info, "hmac-secret");
        out->has_pin = has_option(info, "clientPin");
        out->always_verifies = has_option(info, "alwaysUv");
    }
    fido_cbor_info_free(&info);
    return code;
}

int32_t lk_fido_tries_left(lk_fido *key) {
    int tries = 0;
    return fido_dev_get_retry_count(key->device, &tries) == FIDO_OK ? tries : -1;
}

// MARK: Credentials

// What a server would send; nobody looks at what is signed, so that it matters to nobody.
static int challenge(unsigned char bytes[CHALLENGE]) {
    return getrandom(bytes, CHALLENGE, 0) == CHALLENGE ? FIDO_OK : FIDO_ERR_INTERNAL;
}

#define TRY(call)                          \
    do {                                   \
        int code_ = (call);                \
        if (code_ != FIDO_OK) return code_; \
    } while (0)

static int prepare_credential(fido_cred_t *credential, const char *relying_party) {
    unsigned char hash[CHALLENGE], user[CHALLENGE];
    TRY(challenge(hash));
    TRY(challenge(user));
    TRY(fido_cred_set_type(credential, COSE_ES256));
    TRY(fido_cred_set_clientdata_hash(credential, hash, sizeof hash));
    TRY(fido_cred_set_rp(credential, relying_party, "Latchkey"));
    TRY(fido_cred_set_user(credential, user, sizeof user, "keychain", NULL, NULL));
    return fido_cred_set_extensions(credential, FIDO_EXT_HMAC_SECRET);
}

static int make(
    lk_fido *key, fido_cred_t *credential, const char *relying_party, const char *pin, lk_fido_credential *out) {
    TRY(prepare_credential(credential, relying_party));
    TRY(fido_dev_make_cred(key->device, credential, pin));
    size_t count = fido_cred_id_len(credential);
    const unsigned char *identifier = fido_cred_id_ptr(credential);
    if (!identifier || count == 0 || count > sizeof out->bytes) return LK_FIDO_ODD_ANSWER;
    memcpy(out->bytes, identifier, count);
    out->count = (uint16_t)count;
    return 0;
}

int32_t lk_fido_make(lk_fido *key, const char *relying_party, const char *pin, lk_fido_credential *out) {
    memset(out, 0, sizeof *out);
    fido_cred_t *credential = fido_cred_new();
    if (!credential) return FIDO_ERR_INTERNAL;
    int code = make(key, credential, relying_party, pin, out);
    fido_cred_free(&credential);
    return code;
}

// MARK: Secrets

static int prepare_assertion(
    fido_assert_t *assertion, const char *relying_party, const lk_fido_credential *credential) {
    unsigned char hash[CHALLENGE];
    TRY(challenge(hash));
    TRY(fido_assert_set_clientdata_hash(assertion, hash, sizeof hash));
    TRY(fido_assert_set_rp(assertion, relying_party));
    return fido_assert_allow_cred(assertion, credential->bytes, credential->count);
}

static int ask(
    lk_fido *key, fido_assert_t *assertion, const char *relying_party, const lk_fido_credential *credential) {
    TRY(prepare_assertion(assertion, relying_party, credential));
    TRY(fido_assert_set_up(assertion, FIDO_OPT_FALSE));
    return fido_dev_get_assert(key->device, assertion, NULL);
}

int32_t lk_fido_knows(lk_fido *key, const char *relying_party, const lk_fido_credential *credential) {
    fido_assert_t *assertion = fido_assert_new();
    if (!assertion) return FIDO_ERR_INTERNAL;
    int code = ask(key, assertion, relying_party, credential);
    if (code == FIDO_OK && fido_assert_count(assertion) != 1) code = LK_FIDO_ODD_ANSWER;
    fido_assert_free(&assertion);
    return code;
}

static int take_secrets(
    lk_fido *key, fido_assert_t *assertion, const char *relying_party, const lk_fido_credential *credential,
    const uint8_t *salts, size_t count, uint8_t *secrets) {
    TRY(prepare_assertion(assertion, relying_party, credential));
    TRY(fido_assert_set_extensions(assertion, FIDO_EXT_HMAC_SECRET));
    TRY(fido_assert_set_hmac_salt(assertion, salts, count));
    TRY(fido_dev_get_assert(key->device, assertion, NULL));
    if (fido_assert_count(assertion) != 1 || fido_assert_hmac_secret_len(assertion, 0) != count) {
        return LK_FIDO_ODD_ANSWER;
    }
    memcpy(secrets, fido_assert_hmac_secret_ptr(assertion, 0), count);
    return 0;
}

int32_t lk_fido_secrets(
    lk_fido *key, const char *relying_party, const lk_fido_credential *credential, const uint8_t *salts,
    int32_t salt_count, uint8_t *secrets) {
    fido_assert_t *assertion = fido_assert_new();
    if (!assertion) return FIDO_ERR_INTERNAL;
    // libfido2 wipes what it took with the assertion.
    int code = take_secrets(
        key, assertion, relying_party, credential, salts, (size_t)salt_count * LK_FIDO_SALT, secrets);
    fido_assert_free(&assertion);
    return code;
}

const char *lk_fido_text(int32_t code) { return fido_strerr(code); }
