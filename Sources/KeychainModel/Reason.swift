/// Why a call ended as it did: a closed list, each with what to do about it.
///
/// A reason may name keys of a dictionary, access groups and limits; it never
/// holds what a query looked for.
public enum Reason: Hashable, Sendable {
    /// Nothing that this program may see matches the query
    /// (`errSecItemNotFound`).
    case nothingMatches
    /// An item with the same primary key is there (`errSecDuplicateItem`).
    case duplicate
    /// The value of a key has the wrong type or form (`errSecParam`).
    case malformed(key: String)
    /// No class has this attribute (`errSecNoSuchAttr`).
    case unknownAttribute(key: String)
    /// Another class has this attribute, and the item's has not
    /// (`errSecNoSuchAttr`).
    case attributeNotOfClass(key: String)
    /// The dictionary names no class (`errSecParam`).
    case classMissing
    /// The class is none of the keychain's (`errSecNoSuchClass`).
    case classUnknown
    /// The persistent reference is of another class than the query names
    /// (`errSecNoSuchClass`).
    case classDisagrees
    /// The dictionary has more than 128 keys (`errSecParam`).
    case tooManyKeys
    /// This call does not take the key (`errSecParam`).
    case notAllowedHere(key: String)
    /// The class cannot be searched by this key (`errSecUnimplemented`).
    case matchUnsupported(key: String)
    /// The program has no access group at all (`errSecMissingEntitlement`).
    case noAccessGroups
    /// The program is not in the group that it names
    /// (`errSecMissingEntitlement`).
    case groupNotEntitled(group: String)
    /// The call needs an entitlement that the program does not have
    /// (`errSecMissingEntitlement`).
    case entitlementMissing(name: String)
    /// The program carries the entitlement `keychain-deny`
    /// (`errSecNotAvailable`).
    case keychainDenied
    /// The program is an app clip, which may use its own group alone
    /// (`errSecRestrictedAPI`).
    case appClipRestriction
    /// The class of protection, named by its tag, is locked
    /// (`errSecInteractionNotAllowed`).
    case locked(class: String)
    /// The class needs a passcode, and there is none (`errSecAuthFailed`).
    case passcodeNotSet
    /// Nothing here can enforce the access control yet: nothing was stored
    /// (`errSecUnimplemented`), or what was stored is not opened
    /// (`errSecInteractionNotAllowed`).
    case constraintNotEnforceable
    /// A value, an attribute or all attributes together are above their limit,
    /// in bytes; nothing was written (`errSecDataTooLarge`).
    case tooLarge(what: String, limit: Int, size: Int)
    /// Too many connections or requests at once, or no memory
    /// (`errSecNotAvailable`, `errSecAllocate`).
    case busy
    /// No answer came: in time, or before the daemon ended, which `underlying` says; where it may
    /// have happened all the same, look before trying again (`errSecNotAvailable`).
    case noAnswer(mayHaveHappened: Bool)
    /// The daemon that runs is of another version (`errSecNotAvailable`).
    case versionMismatch
    /// More damaged items than chance explains: nothing is changed until
    /// `latchkey doctor` has looked (`errSecNotAvailable`).
    case storeSuspect
    /// A newer program wrote the store, in this format; nothing was touched
    /// (`errSecNotAvailable`).
    case storeNewer(version: Int)
    /// Database and keybag belong to different stores (`errSecNotAvailable`).
    case storeMismatch
    /// The database cannot be read (`errSecNotAvailable`).
    case storeUnreadable
    /// The folder is on a file system whose locks cannot be trusted, a
    /// network's for example (`errSecNotAvailable`).
    case unsuitableFileSystem(name: String)
    /// Another process has the store open (`errSecNotAvailable`).
    case storeInUse
    /// The store cannot be written (`errSecReadOnly`).
    case readOnly
    /// The disk, or a quota, is full; nothing was written (`errSecNotAvailable`).
    case diskFull
    /// The disk reported an error (`errSecIO`).
    case inputOutput
    /// Neither copy of the keybag opens (`errSecNotAvailable`).
    case keybagUnreadable
    /// The process that holds the keys does not answer (`errSecNotAvailable`).
    case enclaveUnreachable
    /// It is there and says nothing: asking again at once would take as long again.
    case enclaveSilent
    /// There is no daemon to start (`errSecNotAvailable`).
    case daemonNotInstalled
    /// The daemon cannot be reached (`errSecNotAvailable`).
    case daemonUnreachable
    /// What listens on the socket is not the user's own daemon; nothing was
    /// sent to it (`errSecNotAvailable`).
    case serverUntrusted
    /// The daemon could not establish who calls (`errSecNotAvailable`).
    case identityRefused(why: String)
    /// It is not available here.
    case notImplemented(what: String)
    /// KeychainTesting is linked and no keychain scope is active
    /// (`errSecNotAvailable`).
    case outsideTestScope
    /// A fault of Latchkey itself (`errSecInternalComponent`).
    case internalFault(what: String)
    /// The database file is malformed: it is set aside whole, and a new one
    /// takes in what still opens (`errSecNotAvailable`).
    case storeMalformed
    /// Nothing that is left matches, and not everything is.
    case mayBeSetAside
    /// Items of a database that was set aside are on their way into the new one.
    case stillSalvaging
    /// The daemon was started in a way that it does not agree to.
    case startRefused(why: String)
    /// What a person brought is not what opens (`errSecAuthFailed`): a wrong
    /// passcode, recovery code or application password.
    case authenticationFailed
    /// Too many failed attempts: the next is taken after so many seconds, and
    /// this one was not looked at (`errSecAuthFailed`).
    case attemptsDelayed(seconds: Int)
    /// A person dismissed the prompt (`errSecUserCanceled`).
    case userCanceled
    /// Nobody answered the prompt in time (`errSecUserCanceled`).
    case promptTimedOut
    /// A person would have to agree, and the caller forbids asking
    /// (`errSecInteractionNotAllowed`).
    case interactionForbidden
    /// A person would have to agree, and there is no way to ask one
    /// (`errSecInteractionNotAllowed`).
    case nobodyToAsk(why: String)
    /// There is no source of biometry (`errSecAuthFailed`).
    case biometryNotAvailable
    /// The source of biometry knows no person (`errSecAuthFailed`).
    case biometryNotEnrolled
    /// Biometry counts again once the passcode was typed (`errSecAuthFailed`).
    case biometryLockedOut
    /// The authentication context was invalidated, or its connection has ended
    /// (`errSecAuthFailed`).
    case contextInvalid
    /// There is a passcode already (`errSecParam`).
    case passcodeIsSet
    /// This passcode, or any on this machine, cannot be set (`errSecParam`,
    /// `errSecAllocate`).
    case passcodeRefused(why: String)
    /// What the keychain is bound to cannot be changed so (`errSecParam`).
    case protectorRefused(why: String)
    /// A TPM or another device did not do what it was asked (`errSecNotAvailable`).
    case deviceFailed(why: String)
    /// The counter of a TPM does not say of the keychain's folder that it is the newest copy
    /// (`errSecNotAvailable`).
    case folderRefused(why: String)
    /// A folder or file of the keychain cannot be made, or its owner or mode is not
    /// what it has to be; nothing is damaged (`errSecNotAvailable`).
    case folderUnusable(why: String)
    /// The database was removed or replaced while it was open: it is read on, and what would
    /// be written would be lost with the daemon (`errSecNotAvailable`).
    case databaseAway
    /// The files that open the keys again were removed or replaced while they were open: what
    /// would be stored would be lost with the enclave (`errSecNotAvailable`).
    case keysAway
    /// The whole folder was moved while it was open: what is in it is read on, and nothing is
    /// written until it is back, or opened where it is now (`errSecNotAvailable`).
    case folderMoved(to: String)
    /// The database's log was removed, replaced, cut or written over while it was in use.
    case logChanged
    /// From a newer program than this one.
    case unknown(code: Int)
}

extension Reason {
    /// What failed, why, and what to do next.
    public var explanation: String {
        switch self {
        case .nothingMatches: "nothing that this program may see matches the query"
        case .duplicate: "an item with the same primary key is there already; update it instead"
        case .malformed(let key): "the value given for \(key) has the wrong type or form"
        case .unknownAttribute(let key): "\(key) is not an attribute of any item"
        case .attributeNotOfClass(let key): "\(key) is not an attribute of this class of item"
        case .classMissing: "the query names no kSecClass"
        case .classUnknown: "the query's kSecClass is not a class of items"
        case .classDisagrees: "the persistent reference is of another class than the query's kSecClass"
        case .tooManyKeys: "the dictionary has more than 128 keys"
        case .notAllowedHere(let key): "\(key) cannot be used in this call"
        case .matchUnsupported(let key): "\(key) cannot be used with this class of item"
        case .noAccessGroups:
            "this program has no access group at all, as one has none in a container or sandbox of which the system says "
                + "nothing; see `latchkey status`"
        case .groupNotEntitled(let group): "this program is not entitled to the access group \(group)"
        case .entitlementMissing(let name): "this needs the entitlement \(name)"
        case .keychainDenied: "this program carries the keychain-deny entitlement"
        case .appClipRestriction: "an app clip may use only its own application identifier and no synchronizable items"
        case .locked(let tag):
            "items of the protection class \(ProtectionClass(rawValue: tag).map { "\($0)" } ?? tag) are locked; "
                + "unlock the keychain and try again"
        case .passcodeNotSet: "items of this protection class need a passcode; there is none"
        case .constraintNotEnforceable:
            "nothing here can enforce this access control yet, so the item was not stored"
        case .tooLarge(let what, let limit, let size):
            "\(what) has \(size) bytes; the limit is \(limit); nothing was written"
        case .busy: "too many connections or requests at once; try again"
        case .noAnswer(let mayHaveHappened):
            mayHaveHappened
                ? "no answer came; whether the change was made is not known, look before trying again"
                : "no answer came; nothing was changed"
        case .versionMismatch: "the daemon is of another version; end it (pkill latchkeyd) and try again"
        case .storeSuspect:
            "too many damaged items at once: nothing more is written or moved until `latchkey doctor` has looked at it"
        case .storeNewer(let version):
            "the store was written by a newer program (format \(version)); install that version; nothing was touched"
        case .storeMismatch:
            "the database and the keybag belong to different stores, or to different times of one; "
                + "restore both from one backup"
        case .storeUnreadable: "the database cannot be read"
        case .unsuitableFileSystem(let name):
            "the data folder is on \(name), where locks and durable writes cannot be trusted; name another with --data-dir"
        case .storeInUse: "another process has this store open"
        case .readOnly: "the store cannot be written"
        case .diskFull: "the disk (or quota) is full; nothing was written"
        case .inputOutput: "the disk reported an error"
        case .keybagUnreadable: "neither copy of the keybag opens; restore the data folder from a backup"
        case .enclaveUnreachable: "the enclave process does not answer"
        case .enclaveSilent: "the enclave process gives no answer: it is stopped, or the machine is overloaded"
        case .daemonNotInstalled: "latchkeyd is not installed: run `make install` in the Latchkey sources"
        case .daemonUnreachable: "the keychain daemon cannot be reached"
        case .serverUntrusted: "what listens on the keychain's socket is not the user's own daemon"
        case .identityRefused(let why): "the daemon could not establish who is calling: \(why)"
        case .notImplemented(let what): "\(what) is not available here"
        case .outsideTestScope:
            "KeychainTesting is linked and no keychain scope is active: wrap the call in TestKeychain.withScope or install()"
        case .internalFault(let what): "a fault of Latchkey itself: \(what)"
        case .storeMalformed:
            "the database file is malformed; it is set aside whole and a new one takes in what still opens"
        case .mayBeSetAside:
            "nothing that is left matches the query; damaged items, or a database that could not be read to its end, were set aside"
        case .stillSalvaging:
            "items of a damaged database are still being brought back: nobody can say yet what is missing"
        case .startRefused(let why): "the daemon does not start: \(why)"
        case .authenticationFailed: "the passcode, recovery code or application password is not right"
        case .attemptsDelayed(let seconds):
            "too many failed attempts: the next is possible in \(seconds) seconds; this one was not looked at"
        case .userCanceled: "the prompt was dismissed"
        case .promptTimedOut: "nobody answered the prompt in time"
        case .interactionForbidden: "a person would have to agree, and the program forbids asking"
        case .nobodyToAsk(let why): "a person would have to agree, and there is no way to ask one: \(why)"
        case .biometryNotAvailable: "there is no fingerprint reader or other source of biometry"
        case .biometryNotEnrolled: "no finger is enrolled"
        case .biometryLockedOut: "a finger counts again once the passcode was typed"
        case .contextInvalid: "the authentication context is no longer valid; make a new one"
        case .passcodeIsSet: "there is a passcode already; change it with `latchkey passcode change`"
        case .passcodeRefused(let why): "the passcode cannot be set: \(why)"
        case .protectorRefused(let why): "the protectors stay as they are: \(why)"
        case .deviceFailed(let why): "the device failed: \(why)"
        case .folderRefused(let why): "the keychain's folder is not opened: \(why)"
        case .folderUnusable(let why): "the keychain's folder cannot be used: \(why)"
        case .databaseAway:
            "the database was moved or removed while in use, so nothing is written; what it holds can be read as long as "
                + "latchkeyd runs"
        case .keysAway:
            "the files of the keys were moved or removed while in use, so nothing is stored; what is there can be read as "
                + "long as latchkey-enclave runs"
        case .folderMoved(let path):
            "the keychain's folder was moved to \(path) while in use, so nothing is written; what it holds can be read"
        case .logChanged:
            "the database's log (keychain.db-wal) was removed, replaced or cut while it was in use; nothing was written"
        case .unknown(let code): "a reason that this version does not know (\(code))"
        }
    }

    /// The explanation for who knows none of Apple's names: "the label" for kSecAttrLabel.
    package var plainExplanation: String {
        switch self {
        case .malformed(let key): Reason.malformed(key: Self.plainName(key)).explanation
        case .tooLarge(let what, let limit, let size):
            Reason.tooLarge(what: Self.plainName(what), limit: limit, size: size).explanation
        default: explanation
        }
    }

    private static func plainName(_ key: String) -> String {
        guard key.hasPrefix("kSecAttr") else { return key }
        let name = key.dropFirst("kSecAttr".count)
        if name == "LatchkeyLookupAttributes" { return "the list of attributes" }
        return name.reduce(into: "the") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
    }

    /// The number and arguments under which a reason travels (FORMATS.md).
    package var wireForm: (code: Int, arguments: [String]) {
        switch self {
        case .nothingMatches: (1, [])
        case .duplicate: (2, [])
        case .malformed(let key): (3, [key])
        case .unknownAttribute(let key): (4, [key])
        case .attributeNotOfClass(let key): (5, [key])
        case .classMissing: (6, [])
        case .classUnknown: (7, [])
        case .classDisagrees: (8, [])
        case .tooManyKeys: (9, [])
        case .notAllowedHere(let key): (10, [key])
        case .matchUnsupported(let key): (11, [key])
        case .noAccessGroups: (12, [])
        case .groupNotEntitled(let group): (13, [group])
        case .entitlementMissing(let name): (14, [name])
        case .keychainDenied: (15, [])
        case .appClipRestriction: (16, [])
        case .locked(let name): (17, [name])
        case .passcodeNotSet: (18, [])
        case .constraintNotEnforceable: (19, [])
        case .tooLarge(let what, let limit, let size): (20, [what, "\(limit)", "\(size)"])
        case .busy: (21, [])
        case .noAnswer(let mayHaveHappened): (22, [mayHaveHappened ? "1" : "0"])
        case .versionMismatch: (23, [])
        case .storeSuspect: (24, [])
        case .storeNewer(let version): (25, ["\(version)"])
        case .storeMismatch: (26, [])
        case .storeUnreadable: (27, [])
        case .unsuitableFileSystem(let name): (28, [name])
        case .storeInUse: (29, [])
        case .readOnly: (30, [])
        case .diskFull: (31, [])
        case .inputOutput: (32, [])
        case .keybagUnreadable: (33, [])
        // One and the same to a client, which can do no more about the one than the other.
        case .enclaveUnreachable, .enclaveSilent: (34, [])
        case .daemonNotInstalled: (35, [])
        case .daemonUnreachable: (36, [])
        case .serverUntrusted: (37, [])
        case .identityRefused(let why): (38, [why])
        case .notImplemented(let what): (39, [what])
        case .outsideTestScope: (40, [])
        case .internalFault(let what): (41, [what])
        case .storeMalformed: (42, [])
        case .mayBeSetAside: (43, [])
        case .stillSalvaging: (44, [])
        case .startRefused(let why): (45, [why])
        case .authenticationFailed: (46, [])
        case .attemptsDelayed(let seconds): (47, ["\(seconds)"])
        case .userCanceled: (48, [])
        case .promptTimedOut: (49, [])
        case .interactionForbidden: (50, [])
        case .nobodyToAsk(let why): (51, [why])
        case .biometryNotAvailable: (52, [])
        case .biometryNotEnrolled: (53, [])
        case .biometryLockedOut: (70, [])
        case .contextInvalid: (54, [])
        case .passcodeIsSet: (55, [])
        case .passcodeRefused(let why): (56, [why])
        case .protectorRefused(let why): (57, [why])
        case .deviceFailed(let why): (58, [why])
        case .folderRefused(let why): (110, [why])
        case .folderUnusable(let why): (111, [why])
        case .databaseAway: (112, [])
        case .keysAway: (113, [])
        case .logChanged: (114, [])
        case .folderMoved(let path): (115, [path])
        case .unknown(let code): (code, [])
        }
    }

    package init(code: Int, arguments: [String]) {
        func text(_ index: Int) -> String { index < arguments.count ? arguments[index] : "" }
        func number(_ index: Int) -> Int { Int(text(index)) ?? 0 }
        let plain: [Int: Reason] = [
            1: .nothingMatches, 2: .duplicate, 6: .classMissing, 7: .classUnknown, 8: .classDisagrees,
            9: .tooManyKeys, 12: .noAccessGroups, 15: .keychainDenied, 16: .appClipRestriction,
            18: .passcodeNotSet, 19: .constraintNotEnforceable, 21: .busy, 23: .versionMismatch,
            24: .storeSuspect, 26: .storeMismatch, 27: .storeUnreadable, 29: .storeInUse, 30: .readOnly,
            31: .diskFull, 32: .inputOutput, 33: .keybagUnreadable, 34: .enclaveUnreachable,
            35: .daemonNotInstalled, 36: .daemonUnreachable, 37: .serverUntrusted, 40: .outsideTestScope,
            42: .storeMalformed, 43: .mayBeSetAside, 44: .stillSalvaging, 46: .authenticationFailed,
            48: .userCanceled, 49: .promptTimedOut, 50: .interactionForbidden, 52: .biometryNotAvailable,
            53: .biometryNotEnrolled, 54: .contextInvalid, 55: .passcodeIsSet, 70: .biometryLockedOut,
            112: .databaseAway, 113: .keysAway, 114: .logChanged,
        ]
        switch code {
        case 3: self = .malformed(key: text(0))
        case 4: self = .unknownAttribute(key: text(0))
        case 5: self = .attributeNotOfClass(key: text(0))
        case 10: self = .notAllowedHere(key: text(0))
        case 11: self = .matchUnsupported(key: text(0))
        case 13: self = .groupNotEntitled(group: text(0))
        case 14: self = .entitlementMissing(name: text(0))
        case 17: self = .locked(class: text(0))
        case 20: self = .tooLarge(what: text(0), limit: number(1), size: number(2))
        case 22: self = .noAnswer(mayHaveHappened: text(0) == "1")
        case 25: self = .storeNewer(version: number(0))
        case 28: self = .unsuitableFileSystem(name: text(0))
        case 38: self = .identityRefused(why: text(0))
        case 39: self = .notImplemented(what: text(0))
        case 41: self = .internalFault(what: text(0))
        case 45: self = .startRefused(why: text(0))
        case 47: self = .attemptsDelayed(seconds: number(0))
        case 51: self = .nobodyToAsk(why: text(0))
        case 56: self = .passcodeRefused(why: text(0))
        case 57: self = .protectorRefused(why: text(0))
        case 58: self = .deviceFailed(why: text(0))
        case 110: self = .folderRefused(why: text(0))
        case 111: self = .folderUnusable(why: text(0))
        case 115: self = .folderMoved(to: text(0))
        default: self = plain[code] ?? .unknown(code: code)
        }
    }
}
