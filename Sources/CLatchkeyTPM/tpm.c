#define _GNU_SOURCE
#include "latchkey_tpm.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>
#include <unistd.h>

struct lk_tpm {
    TSS2_TCTI_CONTEXT *tcti;
    ESYS_CONTEXT *esys;
    ESYS_TR parent;
    ESYS_TR session;
};

#define TRY(call)                \
    do {                         \
        *step = #call;           \
        TSS2_RC rc_ = (call);    \
        if (rc_) return rc_;     \
    } while (0)

// The name of the command alone: what stands before the parenthesis.
static const char *name_of(const char *call) {
    static char name[64];
    size_t length = strcspn(call, "(");
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, call, length);
    name[length] = 0;
    return name;
}

static uint32_t said(uint32_t code, const char **step) {
    *step = *step ? name_of(*step) : "";
    return code;
}

// tpm2-tss says the same of all that keeps it from a device.
static uint32_t look_at(const char *tcti, const char *path) {
    struct stat status;
    // Nothing but a device or a socket is written to.
    if (stat(path, &status) < 0) return errno == EACCES ? LK_TPM_DENIED : LK_TPM_ABSENT;
    if (!(strcmp(tcti, "device") == 0 ? S_ISCHR(status.st_mode) : S_ISSOCK(status.st_mode))) return LK_TPM_ABSENT;
    if (access(path, R_OK | W_OK) == 0) return 0;
    return errno == EACCES || errno == EPERM ? LK_TPM_DENIED : LK_TPM_ABSENT;
}

static uint32_t open_tpm(const char *tcti, const char *configuration, lk_tpm *tpm, const char **step) {
    const char *path = strchr(configuration, '/');
    uint32_t code = path ? look_at(tcti, path) : 0;
    if (code) return code;
    TRY(Tss2_TctiLdr_Initialize_Ex(tcti, configuration, &tpm->tcti));
    TRY(Esys_Initialize(&tpm->esys, tpm->tcti, NULL));
    return 0;
}

uint32_t lk_tpm_open(const char *tcti, const char *configuration, lk_tpm **out, const char **step) {
    // The library prints what it thinks of errors; ours go to whoever asked.
    setenv("TSS2_LOG", "all+none", 1);
    *step = NULL;
    *out = NULL;
    lk_tpm *tpm = calloc(1, sizeof *tpm);
    if (!tpm) return said(TSS2_ESYS_RC_MEMORY, step);
    tpm->parent = tpm->session = ESYS_TR_NONE;
    uint32_t code = open_tpm(tcti, configuration, tpm, step);
    if (code) lk_tpm_close(tpm);
    else *out = tpm;
    return said(code, step);
}

void lk_tpm_close(lk_tpm *tpm) {
    if (!tpm) return;
    if (tpm->session != ESYS_TR_NONE) Esys_FlushContext(tpm->esys, tpm->session);
    if (tpm->parent != ESYS_TR_NONE) Esys_FlushContext(tpm->esys, tpm->parent);
    if (tpm->esys) Esys_Finalize(&tpm->esys);
    if (tpm->tcti) Tss2_TctiLdr_Finalize(&tpm->tcti);
    free(tpm);
}

// MARK: What it is

static uint32_t property(lk_tpm *tpm, uint32_t which, uint32_t *value, const char **step) {
    TPMS_CAPABILITY_DATA *data = NULL;
    TPMI_YES_NO more;
    TRY(Esys_GetCapability(
        tpm->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, TPM2_CAP_TPM_PROPERTIES, which, 1, &more, &data));
    // A TPM without the property answers with the next that it has.
    const TPML_TAGGED_TPM_PROPERTY *list = &data->data.tpmProperties;
    *value = list->count == 1 && list->tpmProperty[0].property == which ? list->tpmProperty[0].value : 0;
    Esys_Free(data);
    return 0;
}

static uint32_t describe(lk_tpm *tpm, lk_tpm_description *out, const char **step) {
    uint32_t maker, permanent;
    uint32_t code;
    memset(out, 0, sizeof *out);
    if ((code = property(tpm, TPM2_PT_MANUFACTURER, &maker, step))) return code;
    if ((code = property(tpm, TPM2_PT_FIRMWARE_VERSION_1, &out->firmware_major, step))) return code;
    if ((code = property(tpm, TPM2_PT_FIRMWARE_VERSION_2, &out->firmware_minor, step))) return code;
    if ((code = property(tpm, TPM2_PT_PERMANENT, &permanent, step))) return code;
    if ((code = property(tpm, TPM2_PT_LOCKOUT_COUNTER, &out->failed_tries, step))) return code;
    if ((code = property(tpm, TPM2_PT_MAX_AUTH_FAIL, &out->most_tries, step))) return code;
    if ((code = property(tpm, TPM2_PT_LOCKOUT_INTERVAL, &out->recovery_seconds, step))) return code;
    for (int i = 0; i < 4; i++) {
        char c = (char)(maker >> (24 - 8 * i));
        out->manufacturer[i] = c >= 0x20 && c < 0x7f ? c : ' ';
    }
    out->in_lockout = (permanent & TPMA_PERMANENT_INLOCKOUT) != 0;
    return 0;
}

uint32_t lk_tpm_describe(lk_tpm *tpm, lk_tpm_description *out, const char **step) {
    *step = NULL;
    return said(describe(tpm, out, step), step);
}

// Of which session or handle a code speaks stands in the upper bits of one of format 1
// (Part 2, 6.6.3).
static uint32_t bare(uint32_t code) { return code & TPM2_RC_FMT1 ? code & (TPM2_RC_FMT1 | 0x3f) : code; }

// Whose password the owner hierarchy wants: none, where nobody took it.
static uint32_t owner_judged(uint32_t code) {
    return bare(code) == TPM2_RC_BAD_AUTH || bare(code) == TPM2_RC_AUTH_FAIL ? LK_TPM_OWNED : code;
}

// MARK: The storage key and a session with it

// The template of the storage root key: ECC P-256, AES-128-CFB (TCG "TPM v2.0
// Provisioning Guidance" 7.5.1). The same seed and template give the same key.
static const TPM2B_PUBLIC storage_template = {
    .publicArea = {
        .type = TPM2_ALG_ECC,
        .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
            TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT,
        .parameters.eccDetail = {
            .symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB},
            .scheme.scheme = TPM2_ALG_NULL,
            .curveID = TPM2_ECC_NIST_P256,
            .kdf.scheme = TPM2_ALG_NULL,
        },
    },
};

// The public area is what the library keeps of the key and encrypts the session's salt
// to: the one of this answer.
static uint32_t make_storage_key(lk_tpm *tpm, lk_tpm_area *area, const char **step) {
    const TPM2B_SENSITIVE_CREATE nothing = {0};
    const TPM2B_DATA outside = {0};
    const TPML_PCR_SELECTION none = {0};
    TPM2B_PUBLIC *public = NULL;
    size_t end = 0;
    TRY(Esys_CreatePrimary(
        tpm->esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &nothing, &storage_template, &outside,
        &none, &tpm->parent, &public, NULL, NULL, NULL));
    *step = "Tss2_MU_TPM2B_PUBLIC_Marshal";
    uint32_t code = Tss2_MU_TPM2B_PUBLIC_Marshal(public, area->bytes, sizeof area->bytes, &end);
    area->count = (uint16_t)end;
    Esys_Free(public);
    return code;
}

// A session whose key only that storage key can learn, and which encrypts the first
// parameter each way (TPM 2.0 Library, Part 1, 19.6.5 and 21): a listener on the bus
// of a separate chip hears no secret.
static uint32_t begin_session(lk_tpm *tpm, const char **step) {
    const TPMT_SYM_DEF cipher = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    TRY(Esys_StartAuthSession(
        tpm->esys, tpm->parent, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC, &cipher,
        TPM2_ALG_SHA256, &tpm->session));
    TRY(Esys_TRSess_SetAttributes(
        tpm->esys, tpm->session, TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT, 0xff));
    return 0;
}

// MARK: Sealing

// Bound to this TPM and to this parent; no PCR. Without a password no count of tries.
static const TPM2B_PUBLIC sealed_template = {
    .publicArea = {
        .type = TPM2_ALG_KEYEDHASH,
        .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
        .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL,
    },
};

static uint32_t marshal(
    const TPM2B_PUBLIC *public, const TPM2B_PRIVATE *private, lk_tpm_sealed *out, const char **step) {
    size_t end = 0;
    TRY(Tss2_MU_TPM2B_PUBLIC_Marshal(public, out->public_area.bytes, sizeof out->public_area.bytes, &end));
    out->public_area.count = (uint16_t)end;
    end = 0;
    TRY(Tss2_MU_TPM2B_PRIVATE_Marshal(private, out->private_area.bytes, sizeof out->private_area.bytes, &end));
    out->private_area.count = (uint16_t)end;
    return 0;
}

static uint32_t create(lk_tpm *tpm, TPM2B_SENSITIVE_CREATE *sensitive, lk_tpm_sealed *out, const char **step) {
    TPM2B_PUBLIC template = sealed_template;
    // A wrong password counts (Part 1, 19.8, "Dictionary Attack Protection").
    if (sensitive->sensitive.userAuth.size) template.publicArea.objectAttributes &= ~(TPMA_OBJECT)TPMA_OBJECT_NODA;
    const TPM2B_DATA outside = {0};
    const TPML_PCR_SELECTION none = {0};
    TPM2B_PRIVATE *private = NULL;
    TPM2B_PUBLIC *public = NULL;
    TRY(Esys_Create(
        tpm->esys, tpm->parent, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, sensitive, &template, &outside, &none,
        &private, &public, NULL, NULL, NULL));
    uint32_t code = marshal(public, private, out, step);
    Esys_Free(private);
    Esys_Free(public);
    return code;
}

static uint32_t seal(
    lk_tpm *tpm, const uint8_t secret[LK_TPM_SECRET], const uint8_t *password, lk_tpm_sealed *out, const char **step) {
    uint32_t code;
    memset(out, 0, sizeof *out);
    if ((code = make_storage_key(tpm, &out->parent, step))) return code;
    if ((code = begin_session(tpm, step))) return code;
    TPM2B_SENSITIVE_CREATE sensitive = {.sensitive.data.size = LK_TPM_SECRET};
    memcpy(sensitive.sensitive.data.buffer, secret, LK_TPM_SECRET);
    if (password) {
        sensitive.sensitive.userAuth.size = LK_TPM_PASSWORD;
        memcpy(sensitive.sensitive.userAuth.buffer, password, LK_TPM_PASSWORD);
    }
    code = create(tpm, &sensitive, out, step);
    explicit_bzero(&sensitive, sizeof sensitive);
    return code;
}

uint32_t lk_tpm_storage_key(lk_tpm *tpm, lk_tpm_area *out, const char **step) {
    *step = NULL;
    memset(out, 0, sizeof *out);
    return said(owner_judged(make_storage_key(tpm, out, step)), step);
}

uint32_t lk_tpm_seal(
    lk_tpm *tpm, const uint8_t secret[LK_TPM_SECRET], const uint8_t *password, lk_tpm_sealed *out, const char **step) {
    *step = NULL;
    return said(seal(tpm, secret, password, out, step), step);
}

static uint32_t find_parent(lk_tpm *tpm, const lk_tpm_area *expected, const char **step) {
    lk_tpm_area found = {0};
    uint32_t code = make_storage_key(tpm, &found, step);
    if (code) return code;
    // Before anything is encrypted to it: whoever sits between us and the TPM cannot
    // put a key of his own in its place.
    *step = "Esys_CreatePrimary";
    int same = found.count == expected->count && memcmp(found.bytes, expected->bytes, found.count) == 0;
    return same ? 0 : LK_TPM_OTHER_PARENT;
}

static uint32_t take(lk_tpm *tpm, ESYS_TR object, uint8_t secret[LK_TPM_SECRET], const char **step) {
    TPM2B_SENSITIVE_DATA *data = NULL;
    TRY(Esys_Unseal(tpm->esys, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &data));
    int fits = data->size == LK_TPM_SECRET;
    if (fits) memcpy(secret, data->buffer, LK_TPM_SECRET);
    explicit_bzero(data, sizeof *data);
    Esys_Free(data);
    return fits ? 0 : LK_TPM_ODD_ANSWER;
}

// What a TPM says of a password.
static uint32_t judged(uint32_t code) {
    if (bare(code) == TPM2_RC_AUTH_FAIL) return LK_TPM_WRONG;
    return code == TPM2_RC_LOCKOUT ? LK_TPM_LOCKED_OUT : code;
}

static uint32_t set_password(lk_tpm *tpm, ESYS_TR object, const uint8_t *password, const char **step) {
    if (!password) return 0;
    TPM2B_AUTH auth = {.size = LK_TPM_PASSWORD};
    memcpy(auth.buffer, password, LK_TPM_PASSWORD);
    *step = "Esys_TR_SetAuth";
    uint32_t code = Esys_TR_SetAuth(tpm->esys, object, &auth);
    explicit_bzero(&auth, sizeof auth);
    return code;
}

static uint32_t unseal(
    lk_tpm *tpm, const lk_tpm_sealed *sealed, const uint8_t *password, uint8_t secret[LK_TPM_SECRET],
    const char **step) {
    TPM2B_PUBLIC public = {0};
    TPM2B_PRIVATE private = {0};
    ESYS_TR object;
    size_t end = 0;
    uint32_t code;
    TRY(Tss2_MU_TPM2B_PUBLIC_Unmarshal(sealed->public_area.bytes, sealed->public_area.count, &end, &public));
    end = 0;
    TRY(Tss2_MU_TPM2B_PRIVATE_Unmarshal(sealed->private_area.bytes, sealed->private_area.count, &end, &private));
    if ((code = find_parent(tpm, &sealed->parent, step))) return code;
    if ((code = begin_session(tpm, step))) return code;
    TRY(Esys_Load(
        tpm->esys, tpm->parent, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &private, &public, &object));
    if (!(code = set_password(tpm, object, password, step))) code = judged(take(tpm, object, secret, step));
    Esys_FlushContext(tpm->esys, object);
    return code;
}

uint32_t lk_tpm_unseal(
    lk_tpm *tpm, const lk_tpm_sealed *sealed, const uint8_t *password, uint8_t secret[LK_TPM_SECRET],
    const char **step) {
    *step = NULL;
    return said(unseal(tpm, sealed, password, secret, step), step);
}

// MARK: A record in an NV index

// Read and written by whoever has its password, and by nobody else; wrong ones are counted
// by nobody (Part 2, 13.4). The owner of the TPM can remove it.
static const TPMA_NV index_attributes = TPMA_NV_AUTHREAD | TPMA_NV_AUTHWRITE | TPMA_NV_NO_DA;

// Counted up and read by whoever has its password; it never goes back, not even where it is
// removed and defined anew (TPM_NT_COUNTER: Part 1, "NV Counter Index"; Part 2, 13.4).
static const TPMA_NV counter_attributes =
    TPMA_NV_AUTHREAD | TPMA_NV_AUTHWRITE | TPMA_NV_NO_DA | TPM2_NT_COUNTER << TPMA_NV_TPM2_NT_SHIFT;
#define COUNTER_SIZE 8   // big-endian (Part 3, TPM2_NV_Read)

static uint16_t size_of(TPMA_NV attributes) { return attributes == counter_attributes ? COUNTER_SIZE : LK_TPM_RECORD; }

static TPM2B_NV_PUBLIC public_of(const lk_tpm_index *index, TPMA_NV attributes) {
    TPM2B_NV_PUBLIC public = {
        .nvPublic = {
            .nvIndex = index->handle,
            .nameAlg = TPM2_ALG_SHA256,
            .attributes = attributes,
            .authPolicy.size = LK_TPM_LABEL,
            .dataSize = size_of(attributes),
        },
    };
    memcpy(public.nvPublic.authPolicy.buffer, index->label, LK_TPM_LABEL);
    return public;
}

static uint32_t write_record(
    lk_tpm *tpm, ESYS_TR index, const uint8_t *password, const uint8_t *record, const char **step) {
    uint32_t code = set_password(tpm, index, password, step);
    if (code) return code;
    TPM2B_MAX_NV_BUFFER data = {.size = LK_TPM_RECORD};
    memcpy(data.buffer, record, LK_TPM_RECORD);
    *step = "Esys_NV_Write";
    code = Esys_NV_Write(tpm->esys, index, index, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &data, 0);
    explicit_bzero(&data, sizeof data);
    return code;
}

static uint32_t define_space(
    lk_tpm *tpm, const lk_tpm_index *index, TPMA_NV attributes, const uint8_t *password, ESYS_TR *object,
    const char **step) {
    const TPM2B_NV_PUBLIC public = public_of(index, attributes);
    TPM2B_AUTH auth = {.size = LK_TPM_PASSWORD};
    memcpy(auth.buffer, password, LK_TPM_PASSWORD);
    *step = "Esys_NV_DefineSpace";
    uint32_t code = Esys_NV_DefineSpace(
        tpm->esys, ESYS_TR_RH_OWNER, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &auth, &public, object);
    explicit_bzero(&auth, sizeof auth);
    if (code == TPM2_RC_NV_DEFINED) return LK_TPM_TAKEN;
    return code == TPM2_RC_NV_SPACE ? LK_TPM_FULL : owner_judged(code);
}

// A session with the TPM that has that storage key: what it answers in it, nobody else says.
static uint32_t meet(lk_tpm *tpm, const lk_tpm_area *storage_key, const char **step) {
    uint32_t code = find_parent(tpm, storage_key, step);
    return code ? owner_judged(code) : begin_session(tpm, step);
}

// Whether the other end of a socket is closed: nobody hears the answer any more.
static int is_closed(int socket) {
    struct pollfd end = {.fd = socket, .events = POLLRDHUP};
    return poll(&end, 1, 0) > 0 && end.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL);
}

static uint32_t define(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t *password,
    const uint8_t *record, int asker, const char **step) {
    ESYS_TR object = ESYS_TR_NONE;
    uint32_t code;
    if ((code = meet(tpm, storage_key, step))) return code;
    // Whoever asked may have looked for it already, and have found nothing.
    if (is_closed(asker)) return LK_TPM_UNWANTED;
    if ((code = define_space(tpm, index, index_attributes, password, &object, step))) return code;
    code = write_record(tpm, object, password, record, step);
    if (!code && is_closed(asker)) code = LK_TPM_UNWANTED;
    if (!code) return 0;
    // Where that fails as well, whoever asked looks for it.
    Esys_NV_UndefineSpace(tpm->esys, ESYS_TR_RH_OWNER, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE);
    return code;
}

uint32_t lk_tpm_define(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    const uint8_t record[LK_TPM_RECORD], int asker, const char **step) {
    *step = NULL;
    return said(define(tpm, index, storage_key, password, record, asker, step), step);
}

// Whether it is the index as we defined it, with a record or a counter, written to or not.
static int is_ours(const TPMS_NV_PUBLIC *found, const lk_tpm_index *index) {
    const TPMA_NV attributes = found->attributes & ~TPMA_NV_WRITTEN;
    return found->nvIndex == index->handle && found->nameAlg == TPM2_ALG_SHA256 &&
        (attributes == index_attributes || attributes == counter_attributes) &&
        found->dataSize == size_of(attributes) &&
        found->authPolicy.size == LK_TPM_LABEL &&
        memcmp(found->authPolicy.buffer, index->label, LK_TPM_LABEL) == 0;
}

// An error has no HMAC, so anybody on the way can say that there is no such handle; the
// list of the handles has one, in a session for audit (Part 1, 17.12).
static uint32_t prove_absence(lk_tpm *tpm, const lk_tpm_index *index, const char **step) {
    TPMS_CAPABILITY_DATA *data = NULL;
    TPMI_YES_NO more;
    TRY(Esys_TRSess_SetAttributes(
        tpm->esys, tpm->session, TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_AUDIT, 0xff));
    TRY(Esys_GetCapability(
        tpm->esys, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, TPM2_CAP_HANDLES, index->handle, 1, &more, &data));
    const TPML_HANDLE *list = &data->data.handles;
    int there = list->count > 0 && list->handle[0] == index->handle;
    Esys_Free(data);
    return there ? LK_TPM_ODD_ANSWER : LK_TPM_GONE;
}

// In a session (`meet`), after which nothing but what was found is done in it.
static uint32_t find_index(lk_tpm *tpm, const lk_tpm_index *index, ESYS_TR *object, const char **step) {
    *step = "Esys_TR_FromTPMPublic";
    uint32_t code = Esys_TR_FromTPMPublic(
        tpm->esys, index->handle, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, object);
    if (code) return bare(code) == TPM2_RC_HANDLE ? prove_absence(tpm, index, step) : code;
    TPM2B_NV_PUBLIC *public = NULL;
    TRY(Esys_NV_ReadPublic(tpm->esys, *object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &public, NULL));
    int ours = is_ours(&public->nvPublic, index);
    Esys_Free(public);
    return ours ? 0 : LK_TPM_GONE;
}

static uint32_t take_record(lk_tpm *tpm, ESYS_TR object, uint8_t *record, const char **step) {
    TPM2B_MAX_NV_BUFFER *data = NULL;
    *step = "Esys_NV_Read";
    uint32_t code = Esys_NV_Read(
        tpm->esys, object, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, LK_TPM_RECORD, 0, &data);
    // Defined anew with our label, or said by somebody on the way: an error has no HMAC.
    if (bare(code) == TPM2_RC_BAD_AUTH || bare(code) == TPM2_RC_AUTH_FAIL || code == TPM2_RC_NV_UNINITIALIZED)
        return LK_TPM_CHANGED;
    if (code) return code;
    int fits = data->size == LK_TPM_RECORD;
    if (fits) memcpy(record, data->buffer, LK_TPM_RECORD);
    explicit_bzero(data, sizeof *data);
    Esys_Free(data);
    return fits ? 0 : LK_TPM_ODD_ANSWER;
}

static uint32_t read_index(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t *password, uint8_t *record,
    const char **step) {
    ESYS_TR object = ESYS_TR_NONE;
    uint32_t code;
    if ((code = meet(tpm, storage_key, step))) return code;
    if ((code = find_index(tpm, index, &object, step))) return code;
    if ((code = set_password(tpm, object, password, step))) return code;
    return take_record(tpm, object, record, step);
}

uint32_t lk_tpm_read(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint8_t record[LK_TPM_RECORD], const char **step) {
    *step = NULL;
    return said(read_index(tpm, index, storage_key, password, record, step), step);
}

static uint32_t undefine(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const char **step) {
    ESYS_TR object = ESYS_TR_NONE;
    uint32_t code;
    if ((code = meet(tpm, storage_key, step))) return code;
    if ((code = find_index(tpm, index, &object, step))) return code;
    *step = "Esys_NV_UndefineSpace";
    return owner_judged(Esys_NV_UndefineSpace(
        tpm->esys, ESYS_TR_RH_OWNER, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE));
}

uint32_t lk_tpm_undefine(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const char **step) {
    *step = NULL;
    return said(undefine(tpm, index, storage_key, step), step);
}

// MARK: A counter

static uint32_t value_of(lk_tpm *tpm, ESYS_TR object, uint64_t *value, const char **step) {
    TPM2B_MAX_NV_BUFFER *data = NULL;
    TRY(Esys_NV_Read(
        tpm->esys, object, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, COUNTER_SIZE, 0, &data));
    int fits = data->size == COUNTER_SIZE;
    *value = 0;
    for (int i = 0; fits && i < COUNTER_SIZE; i++) *value = *value << 8 | data->buffer[i];
    Esys_Free(data);
    return fits ? 0 : LK_TPM_ODD_ANSWER;
}

static uint32_t count_once(lk_tpm *tpm, ESYS_TR object, const char **step) {
    TRY(Esys_NV_Increment(tpm->esys, object, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE));
    return 0;
}

static uint32_t define_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t *password, int asker,
    uint64_t *value, const char **step) {
    ESYS_TR object = ESYS_TR_NONE;
    uint32_t code;
    if ((code = meet(tpm, storage_key, step))) return code;
    if (is_closed(asker)) return LK_TPM_UNWANTED;
    if ((code = define_space(tpm, index, counter_attributes, password, &object, step))) return code;
    if (!(code = set_password(tpm, object, password, step)) && !(code = count_once(tpm, object, step)))
        code = value_of(tpm, object, value, step);
    if (!code && is_closed(asker)) code = LK_TPM_UNWANTED;
    if (!code) return 0;
    // Where that fails as well, whoever asked looks for it.
    Esys_NV_UndefineSpace(tpm->esys, ESYS_TR_RH_OWNER, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE);
    return code;
}

uint32_t lk_tpm_define_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    int asker, uint64_t *value, const char **step) {
    *step = NULL;
    return said(define_counter(tpm, index, storage_key, password, asker, value, step), step);
}

// In a session with the right TPM, its password set.
static uint32_t find_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t *password, ESYS_TR *object,
    uint64_t *value, const char **step) {
    uint32_t code;
    if ((code = meet(tpm, storage_key, step))) return code;
    if ((code = find_index(tpm, index, object, step))) return code;
    if ((code = set_password(tpm, *object, password, step))) return code;
    code = value_of(tpm, *object, value, step);
    // Defined anew with our label, or said by somebody on the way: an error has no HMAC.
    return bare(code) == TPM2_RC_BAD_AUTH || bare(code) == TPM2_RC_AUTH_FAIL ? LK_TPM_CHANGED : code;
}

uint32_t lk_tpm_read_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint64_t *value, const char **step) {
    ESYS_TR object = ESYS_TR_NONE;
    *step = NULL;
    return said(find_counter(tpm, index, storage_key, password, &object, value, step), step);
}

// A TPM that is asked for more writes than its memory is made for puts them off
// (TPM_RC_NV_RATE: Part 3, TPM2_NV_Increment). What an error says that has no HMAC is not
// believed: the value is read before each try.
static uint32_t raise_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t *password, uint64_t target,
    uint32_t milliseconds, int asker, uint64_t *value, const char **step) {
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    ESYS_TR object = ESYS_TR_NONE;
    uint32_t code = find_counter(tpm, index, storage_key, password, &object, value, step);
    for (uint32_t waited = 0; !code && *value + 1 == target; waited += 50) {
        if (waited > milliseconds) return LK_TPM_BUSY;
        if (waited > 0) nanosleep(&pause, NULL);
        if (is_closed(asker)) return LK_TPM_UNWANTED;
        code = count_once(tpm, object, step);
        if (code && code != TPM2_RC_NV_RATE) return code;
        code = value_of(tpm, object, value, step);
    }
    return code;
}

uint32_t lk_tpm_raise_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint64_t target, uint32_t milliseconds, int asker, uint64_t *value, const char **step) {
    *step = NULL;
    return said(
        raise_counter(tpm, index, storage_key, password, target, milliseconds, asker, value, step), step);
}

const char *lk_tpm_text(uint32_t code) {
    switch (code) {
    case LK_TPM_OTHER_PARENT: return "the TPM was cleared, or it is another one";
    case LK_TPM_ABSENT: return "there is no such TPM: the machine has none, or it is turned off in the firmware";
    case LK_TPM_DENIED: return "this user may not use the TPM; on Debian, members of the group tss may";
    case LK_TPM_WRONG: return "it was sealed with another password";
    case LK_TPM_LOCKED_OUT: return "the TPM takes no password for now, because too many were wrong";
    case LK_TPM_TAKEN: return "another program has that place in the TPM; try again";
    case LK_TPM_GONE: return "it is not in the TPM any more";
    case LK_TPM_OWNED: return "the TPM's owner has set a password; Latchkey uses a TPM whose owner has none";
    case LK_TPM_CHANGED: return "somebody put another secret in its place in the TPM";
    case LK_TPM_UNWANTED: return "whoever asked for it waits no longer";
    case LK_TPM_BUSY: return "the TPM puts off writing for now, to spare its memory; try again";
    case LK_TPM_FULL: return "the TPM has no room left (tpm2_nvundefine makes some)";
    case LK_TPM_ODD_ANSWER: return "the TPM answered what no TPM answers";
    default: return Tss2_RC_Decode(code);
    }
}
