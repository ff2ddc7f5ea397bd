/// What a failure is to whoever started a program of ours, as its exit status, the same for `latchkey`
/// and for the helpers of git and docker.
package enum FailureKind: Int32, Sendable {
    case noMatch = 1
    case usage = 2
    /// Locked, or a person would have to be asked and cannot be.
    case locked = 3
    case denied = 4
    case damaged = 5
    /// The keychain cannot be reached or cannot work (EX_UNAVAILABLE of sysexits.h).
    case unavailable = 69
    /// A fault of Latchkey itself (EX_SOFTWARE).
    case fault = 70
}

extension KeychainError {
    package var kind: FailureKind { Self.kinds[status] ?? Self.kind(of: reason) }

    /// Statuses that say it whatever the reason.
    private static let kinds: [Status: FailureKind] = [
        .itemNotFound: .noMatch, .interactionNotAllowed: .locked, .interactionRequired: .locked,
        .authFailed: .locked, .userCanceled: .locked, .missingEntitlement: .denied, .decode: .damaged,
        .dataTooLarge: .usage, .diskFull: .unavailable,
    ]

    private static func kind(of reason: Reason) -> FailureKind {
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
