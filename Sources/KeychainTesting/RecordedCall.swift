public import Foundation
public import KeychainModel
internal import KeychainProtocol
public import KeychainServices

/// One keychain call that the code under test made.
///
/// ```swift
/// let call = try #require(keychain.calls.last)
/// #expect(call.function == .add)
/// #expect(call[kSecAttrAccessible] as? String == kSecAttrAccessibleAfterFirstUnlock as String)
/// #expect(call.status == errSecSuccess)
/// ```
///
/// The bytes of kSecValueData are not kept: a test that wants them reads the item.
public struct RecordedCall: Sendable, CustomStringConvertible {
    /// The function that was called; the raw value is its name in C.
    public enum Function: String, Sendable, Hashable {
        /// `SecItemAdd`.
        case add = "SecItemAdd"
        /// `SecItemCopyMatching`.
        case copyMatching = "SecItemCopyMatching"
        /// `SecItemUpdate`.
        case update = "SecItemUpdate"
        /// `SecItemDelete`.
        case delete = "SecItemDelete"
        /// `SecItemDeleteAllWithAccessGroups`, which the door does not have
        /// yet.
        case deleteAllWithAccessGroups = "SecItemDeleteAllWithAccessGroups"
    }

    /// Which of the functions it was.
    public let function: Function
    /// What the call answered; errSecSuccess while ``TestKeychain/intercept(_:)``
    /// is being asked.
    public let status: OSStatus
    private let query: QueryDictionary
    private let changes: QueryDictionary

    /// A value of the call's first dictionary: String, Data, Bool, Date or a number as
    /// `NSNumber` (so that `as? Int` and `as? UInt16` work, as on a result of the
    /// keychain); nil for a key that is not there, and for what is none of these.
    public subscript(key: CFString) -> Any? { Self.value(query, key) }

    /// A value of SecItemUpdate's second dictionary.
    public func change(_ key: CFString) -> Any? { Self.value(changes, key) }

    /// Whether a dictionary of the call has the key.
    public func names(_ key: CFString) -> Bool {
        query["\(key)"] != nil || changes["\(key)"] != nil
    }

    /// Whether it brings kSecValueData.
    public var carriesData: Bool { names(kSecValueData) }

    /// Function, keys and status; no values.
    public var description: String {
        let keys = (query.entries + changes.entries).map { entry in
            if case .text(let key) = entry.key { key } else { "?" }
        }
        return "\(function.rawValue)(\(keys.joined(separator: ", "))) = \(status)"
    }

    private static func value(_ dictionary: QueryDictionary, _ key: CFString) -> Any? {
        switch dictionary["\(key)"] {
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .bool(let flag): flag
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .authenticationContext: "<LAContext>"
        default: nil
        }
    }
}

extension RecordedCall {
    /// Nil for what is no call of the program: the state of the keychain.
    init?(_ request: KeychainRequest, _ status: OSStatus) {
        switch request.operation {
        case .add: function = .add
        case .copy: function = .copyMatching
        case .update: function = .update
        case .delete: function = .delete
        case .deleteGroups: function = .deleteAllWithAccessGroups
        case .addItems, .copyEach, .searchEach, .changePosition, .changes, .status, .device, .awaitDevice, .means,
            .evaluate, .setApplicationPassword, .doctor, .census, .audit:
            return nil
        }
        self.status = status
        query = request.query
        changes = request.changes
    }
}

/// What a test keychain does with a call.
public enum CallRule: Sendable, Hashable {
    /// As ever.
    case answer
    /// Nothing but this status: for what is hard to bring about otherwise (a locked
    /// keychain, a full disk). errSecSuccess is no failure, and a trap.
    case fail(OSStatus)
    /// Nothing but this error, for code that looks at the reason:
    /// `.failure(KeychainError(.interactionNotAllowed, reason: .locked(class: "ak")))`.
    case failure(KeychainError)
    /// The call is made, and its answer is lost: `errSecNotAvailable`, of a call that
    /// changes something with the reason `noAnswer(mayHaveHappened: true)`.
    case answerLost
    /// As a keychain that cannot be reached, and noted in
    /// ``TestKeychain/unexpectedCalls``.
    case unexpected
}
