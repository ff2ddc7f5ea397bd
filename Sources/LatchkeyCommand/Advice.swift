internal import KeychainClient
internal import KeychainModel

/// What to do about a failure: the last line a person reads.
enum Advice {
    static func line(for error: KeychainError) -> String {
        switch (error.reason, error.underlying) {
        case (.daemonUnreachable, ClientConfiguration.noHome?):
            "Where you have a home, try again. Else set XDG_DATA_HOME to a folder, or name one with --data-dir."
        case (.daemonUnreachable, ClientConfiguration.noTemporary?):
            "Run it in `latchkey temp`, or unset the variable."
        case (.daemonUnreachable, let below?) where below.hasSuffix(DaemonProgram.outside):
            "A daemon that runs already is used in there too: `latchkey list` outside, then try again."
        case (.storeInUse, let holder?) where holder.hasPrefix("latchkey"):
            "`latchkey lock --stop` ends this keychain's own programs; the next command starts them anew."
        default: line(for: error.reason)
        }
    }

    static func line(for reason: Reason) -> String {
        switch reason {
        case .nothingMatches: "`latchkey list` shows what there is."
        case .mayBeSetAside:
            "Run `latchkey doctor` before you store it anew: what you look for may be in what was set aside, or in a backup."
        case .tooLarge: "Store a smaller value, or encrypt a file and keep only its key here."
        case .locked: "Unlock it: `latchkey unlock`."
        case .passcodeNotSet, .authenticationFailed, .attemptsDelayed, .passcodeIsSet, .passcodeRefused,
            .userCanceled, .promptTimedOut, .interactionForbidden, .nobodyToAsk:
            person(reason)
        case .noAccessGroups, .groupNotEntitled, .entitlementMissing, .keychainDenied, .appClipRestriction:
            "`latchkey status` shows the groups that this program has."
        case .identityRefused, .serverUntrusted:
            "`latchkey status` in a fresh session shows who answers; ask who changed it."
        case .storeSuspect:
            "Run `latchkey doctor`: it says what is damaged and which command goes on from there."
        case .storeMalformed:
            "Try again, then run `latchkey doctor`: it says what came back and what did not."
        case .storeMismatch, .storeUnreadable, .keybagUnreadable:
            "Copy the data directory away before anything else, then restore it from a backup."
        case .databaseAway:
            "Put keychain.db back where it was, if it was renamed. Else `latchkey export FILE` now: ending latchkeyd, or "
                + "`latchkey lock --stop`, loses what is in no export or backup."
        case .keysAway:
            "Put the folder enclave back where it was, if it was renamed. Else `latchkey export FILE` now: ending "
                + "latchkey-enclave, or `latchkey lock --stop`, loses what is in no export or backup."
        case .folderMoved(let path):
            "Nothing is lost. Move it back; or end its programs (`latchkey --data-dir \(PrintableText.escaped(path)) lock "
                + "--stop`), and go on with it there."
        case .biometryNotAvailable, .biometryNotEnrolled, .biometryLockedOut: finger(reason)
        case .protectorRefused: "Nothing was changed. `latchkey protector list` shows what there is."
        case .deviceFailed:
            "Nothing was changed. `latchkey protector test` tries every protector; `latchkey unlock --recovery` takes "
                + "the recovery code instead."
        case .folderUnusable:
            "Nothing is damaged. Mend what it says of that path (owner, mode, a disk that is read-only), or name another "
                + "with --data-dir or XDG_DATA_HOME."
        case .logChanged:
            "Run `latchkey doctor` and try again: the database is opened anew, and it says whether anything is missing. "
                + "Keep other programs (a sync, a clean-up) away from that folder."
        case .folderRefused:
            "Where the TPM gave no answer, try again first. `latchkey protector counter accept` opens it with the "
                + "recovery code that belongs to this copy; look first where the copy comes from."
        default: unavailable(reason)
        }
    }

    /// What a person brought, or did not.
    private static func person(_ reason: Reason) -> String {
        switch reason {
        case .passcodeNotSet: "`latchkey passcode set` sets one."
        case .passcodeIsSet: "With the recovery code `latchkey passcode reset` replaces a forgotten one."
        case .passcodeRefused: "Nothing was changed; choose another one."
        case .authenticationFailed: "Nothing was changed; try again. `latchkey status` says how many attempts failed."
        case .attemptsDelayed: "Wait that long, then try again."
        // Unlocking is no agreement.
        case .nobodyToAsk: "Run it on a terminal, where a person can be asked."
        case .interactionForbidden:
            "Run it where a person can be asked, or unlock first: `latchkey unlock`."
        default: "Run it again and answer the prompt."
        }
    }

    /// What a finger is needed for, or would have been good for.
    private static func finger(_ reason: Reason) -> String {
        switch reason {
        case .biometryNotAvailable:
            "`latchkey unlock` takes the passcode. Fingers come through fprintd (`fprintd-verify` tries them)."
        case .biometryNotEnrolled: "`fprintd-enroll` has the reader know a finger of yours."
        default: "`latchkey unlock` takes the passcode."
        }
    }

    private static func unavailable(_ reason: Reason) -> String {
        switch reason {
        case .busy, .stillSalvaging: "Wait a moment and try again."
        case .enclaveUnreachable, .enclaveSilent:
            "Wait a moment and try again; where it stays so, `latchkey lock --stop` ends the keychain's programs, and the "
                + "next command starts them."
        case .noAnswer(mayHaveHappened: true): "Look with `latchkey status` and `latchkey list` before you try again."
        case .noAnswer:
            "Try again; where it stays so, `latchkey lock --stop` ends the daemon, and the next command starts it."
        case .startRefused:
            "Mend what it says; latchkey, latchkeyd and latchkey-enclave have to be of one installation."
        case .versionMismatch:
            "End the running daemon (its pid is in latchkeyd.lock of the data directory); the next command starts the new one."
        case .storeNewer: "Install the newer Latchkey again."
        case .unsuitableFileSystem: "Name a folder on a local disk: latchkey --data-dir DIR …; for `latchkey temp`, TMPDIR."
        case .storeInUse:
            "`latchkey lock --stop` ends this keychain's own programs, where one of them has it; else end the other "
                + "process, or name another folder with --data-dir."
        case .readOnly: "Check owner and mode of the data directory."
        case .diskFull: "Free some space and try again."
        case .inputOutput: "Check the disk (`dmesg`), then try again."
        case .daemonNotInstalled: "Run `make install` in the Latchkey sources, or put latchkeyd beside latchkey."
        case .daemonUnreachable:
            "Try again; where a folder is named above, check it. `latchkey status` shows where it looks."
        case .constraintNotEnforceable, .notImplemented: "Nothing was changed; a later version may offer it."
        default: "This is a fault of Latchkey: please report it with the line above and `latchkey --version`."
        }
    }
}
