// A secret of 32 bytes sealed by a TPM 2.0, a record in an NV index of its own, and a counter in
// one, through tpm2-tss (ESAPI).
//
// Calls block for as long as the TPM takes: whoever calls them can be killed.
// Every call returns 0, or a TSS2_RC (TCG "TSS 2.0 Overview and Common Structures",
// 5.2), and says in `step` which command it was.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define LK_TPM_SECRET 32
#define LK_TPM_PASSWORD 32
#define LK_TPM_AREA 512         // more than any public or sensitive area of ours
#define LK_TPM_LABEL 32
#define LK_TPM_RECORD 92

typedef struct lk_tpm lk_tpm;

typedef struct {
    uint16_t count;             // at most LK_TPM_AREA
    uint8_t bytes[LK_TPM_AREA];
} lk_tpm_area;

typedef struct {
    lk_tpm_area parent;         // TPM2B_PUBLIC of the storage key above it
    lk_tpm_area public_area;    // TPM2B_PUBLIC
    lk_tpm_area private_area;   // TPM2B_PRIVATE, encrypted by the TPM
} lk_tpm_sealed;

// An NV index of ours: with a record, or a counter. The label is 32 random bytes that stand in its public area
// in the place of a policy: an index that somebody else defined there has another.
typedef struct {
    uint32_t handle;
    uint8_t label[LK_TPM_LABEL];
} lk_tpm_index;

typedef struct {
    char manufacturer[5];
    uint32_t firmware_major, firmware_minor;
    uint32_t in_lockout;        // 1: the machine's owner has to reset it, or time to pass
    uint32_t failed_tries, most_tries, recovery_seconds;
} lk_tpm_description;

// What the codes of this file are, beside tpm2-tss's own.
#define LK_TPM_OTHER_PARENT 0x00090001u  // the storage key is another one: cleared, or another TPM
#define LK_TPM_ODD_ANSWER 0x00090002u    // an answer that a TPM does not give
#define LK_TPM_ABSENT 0x00090003u        // no such device or socket
#define LK_TPM_DENIED 0x00090004u        // there is one, for others
#define LK_TPM_WRONG 0x00090005u         // not the password of what was sealed
#define LK_TPM_LOCKED_OUT 0x00090006u    // too many of them; the right one is refused as well
#define LK_TPM_TAKEN 0x00090007u         // another index has the handle
#define LK_TPM_GONE 0x00090008u          // there is no such index, or it is another one: the right TPM says so
#define LK_TPM_OWNED 0x00090009u         // the owner hierarchy has a password
#define LK_TPM_FULL 0x0009000au          // no room for another index
#define LK_TPM_CHANGED 0x0009000bu       // the index does not take the password, or says that it is empty
#define LK_TPM_UNWANTED 0x0009000cu      // whoever asked is gone: nothing was defined, or it was taken back
#define LK_TPM_BUSY 0x0009000du          // it puts off writing, to spare its memory

// `tcti`: "device" or "swtpm", the name of a module of tpm2-tss; never a path.
uint32_t lk_tpm_open(const char *tcti, const char *configuration, lk_tpm **out, const char **step);
void lk_tpm_close(lk_tpm *tpm);
uint32_t lk_tpm_describe(lk_tpm *tpm, lk_tpm_description *out, const char **step);
// `password`: of LK_TPM_PASSWORD bytes, or NULL for none. What has one is subject to the
// TPM's count of wrong passwords: LK_TPM_WRONG, LK_TPM_LOCKED_OUT.
uint32_t lk_tpm_seal(
    lk_tpm *tpm, const uint8_t secret[LK_TPM_SECRET], const uint8_t *password, lk_tpm_sealed *out, const char **step);
uint32_t lk_tpm_unseal(
    lk_tpm *tpm, const lk_tpm_sealed *sealed, const uint8_t *password, uint8_t secret[LK_TPM_SECRET],
    const char **step);
// TPM2B_PUBLIC of the storage key, by which this TPM is known again: one that was cleared,
// and any other, has another.
uint32_t lk_tpm_storage_key(lk_tpm *tpm, lk_tpm_area *out, const char **step);
// Defines the index and writes the record, where this is the TPM of that storage key
// (LK_TPM_OTHER_PARENT) and the other end of the socket `asker` is open. Only reading it
// shows that it is whole, and only lk_tpm_undefine, after a failure, that there is none.
uint32_t lk_tpm_define(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    const uint8_t record[LK_TPM_RECORD], int asker, const char **step);
// LK_TPM_GONE: what was written there is no more. Nothing else says that.
uint32_t lk_tpm_read(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint8_t record[LK_TPM_RECORD], const char **step);
// Takes no password of the index: the owner of the TPM removes it. Another index at its
// handle stays (LK_TPM_GONE). 0 and LK_TPM_GONE alone say that it is not there.
uint32_t lk_tpm_undefine(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const char **step);
// Defines a counter under the same conditions, and counts once: before that it has no value.
uint32_t lk_tpm_define_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    int asker, uint64_t *value, const char **step);
uint32_t lk_tpm_read_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint64_t *value, const char **step);
// Counts once where that brings it to `target`, and the other end of the socket `asker` is
// open; the value is what it has afterwards, whatever that is. A TPM that puts off writing is
// asked again for `milliseconds`, and then LK_TPM_BUSY.
uint32_t lk_tpm_raise_counter(
    lk_tpm *tpm, const lk_tpm_index *index, const lk_tpm_area *storage_key, const uint8_t password[LK_TPM_PASSWORD],
    uint64_t target, uint32_t milliseconds, int asker, uint64_t *value, const char **step);
// Text of a code; static storage.
const char *lk_tpm_text(uint32_t code);
