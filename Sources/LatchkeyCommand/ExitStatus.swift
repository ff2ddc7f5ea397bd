package import KeychainModel

/// How `latchkey` ends (documented in its --help; `temp` passes its command's on).
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let done = ExitStatus(rawValue: 0)
    package static let noMatch = ExitStatus(rawValue: 1)
    package static let usage = ExitStatus(rawValue: 2)
    /// Locked, or a person would have to be asked and cannot be.
    package static let locked = ExitStatus(rawValue: 3)
    package static let denied = ExitStatus(rawValue: 4)
    package static let damaged = ExitStatus(rawValue: 5)
    /// The keychain cannot be reached or cannot work (EX_UNAVAILABLE of sysexits.h).
    package static let unavailable = ExitStatus(rawValue: 69)
    /// A fault of Latchkey itself (EX_SOFTWARE).
    package static let fault = ExitStatus(rawValue: 70)
}

extension ExitStatus {
    package init(_ error: KeychainError) {
        self = Self.byStatus[error.status] ?? Self.byReason(error.reason)
    }

    /// Statuses that say it whatever the reason.
    private static let byStatus: [Status: ExitStatus] = [
        .itemNotFound: .noMatch, .interactionNotAllowed: .locked, .interactionRequired: .locked,
        .authFailed: .locked, .userCanceled: .locked, .missingEntitlement: .denied, .decode: .damaged,
        .dataTooLarge: .usage, .diskFull: .unavailable,
    ]

    private static func byReason(_ reason: Reason) -> ExitStatus {
        switch reason {
        case .nothingMatches, .mayBeSetAside: .noMatch
        case .tooLarge: .usage
        case .locked, .passcodeNotSet, .authenticationFailed, .attemptsDelayed, .userCanceled, .promptTimedOut,
            .interactionForbidden, .nobodyToAsk, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockedOut,
            .contextInvalid:
            .locked
        case .passcodeIsSet, .passcodeRefused, .protectorRefused: .usage
        case .noAccessGroups, .groupNotEntitled, .entitlementMissing, .keychainDenied, .appClipRestriction,
            .identityRefused, .serverUntrusted:
            .denied
        case .storeSuspect, .storeMismatch, .storeUnreadable, .storeMalformed, .keybagUnreadable, .folderRefused,
            .databaseAway, .keysAway, .folderMoved:
            .damaged
        case .folderUnusable, .logChanged, .constraintNotEnforceable, .busy, .noAnswer, .versionMismatch, .storeNewer,
            .unsuitableFileSystem,
            .storeInUse, .readOnly, .diskFull, .inputOutput, .deviceFailed, .enclaveUnreachable, .enclaveSilent,
            .stillSalvaging,
            .startRefused,
            .daemonNotInstalled,
            .daemonUnreachable, .notImplemented, .unknown:
            .unavailable
        case .duplicate, .malformed, .unknownAttribute, .attributeNotOfClass, .classMissing, .classUnknown,
            .classDisagrees, .tooManyKeys, .notAllowedHere, .matchUnsupported, .outsideTestScope, .internalFault:
            .fault
        }
    }
}
