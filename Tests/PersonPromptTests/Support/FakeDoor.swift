import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization

/// An enclave with one passcode and one question, which notes what it is told.
final class FakeDoor: PersonDoor {
    struct Record: Sendable {
        var attempts: [[UInt8]] = []
        var declined: [Reason] = []
        var agreed = false
    }

    private let asked: PersonQuestion?
    private let passcode: String
    /// Thrown by the next attempts, before any passcode is looked at.
    private let refusals: Mutex<[KeychainError]>
    private let delay: Int
    private let note = Mutex(Record())

    init(_ question: PersonQuestion?, passcode: String = "right", refusals: [KeychainError] = [], delay: Int = 0) {
        asked = question
        self.passcode = passcode
        self.refusals = Mutex(refusals)
        self.delay = delay
    }

    var record: Record { note.withLock { $0 } }

    func state() throws(KeychainError) -> DeviceState {
        DeviceState(
            number: 1, lock: .locked, hasPasscode: true, hasRecoveryCode: false, openClasses: [],
            secondsToNextAttempt: delay)
    }

    func question() throws(KeychainError) -> PersonQuestion? { asked }

    func agree(with credential: PersonCredential) throws(KeychainError) {
        guard case .passcode(let typed) = credential else { throw Self.unexpected }
        note.withLock { $0.attempts.append(typed.bytes.insecureArray()) }
        if let refusal = refusals.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw refusal }
        guard typed.bytes.insecureArray() == Array(passcode.utf8) else {
            throw KeychainError(.authFailed, reason: .authenticationFailed)
        }
        note.withLock { $0.agreed = true }
    }

    func decline(_ reason: Reason) throws(KeychainError) { note.withLock { $0.declined.append(reason) } }

    static let unexpected = KeychainError(.unimplemented, reason: .notImplemented(what: "this in a test"))

    func unlock(with credential: PersonCredential) throws(KeychainError) { throw Self.unexpected }
    func lock() throws(KeychainError) { throw Self.unexpected }
    func setPasscode(_ new: SharedSecret) throws(KeychainError) { throw Self.unexpected }
    func changePasscode(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) { throw Self.unexpected }
    func resetPasscode(with code: SharedSecret, to new: SharedSecret) throws(KeychainError) { throw Self.unexpected }
    func removePasscode(with credential: PersonCredential) throws(KeychainError) { throw Self.unexpected }
    func makeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) -> SharedSecret { throw Self.unexpected }
    func confirmRecoveryCode(_ typed: SharedSecret) throws(KeychainError) { throw Self.unexpected }
    func removeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) { throw Self.unexpected }
}
