import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization

/// An enclave in memory, as far as a person at the command line sees one.
final class ScriptedPerson: PersonDoor {
    struct State {
        var passcode: String?
        var code: String?
        var pending: String?
        var isLocked = false
        var failed = 0
        var delay = 0
        var calls: [String] = []
    }

    static let code = "0000-1111-2222-3333-4444-5555-6666"
    let held: Mutex<State>

    init(passcode: String? = nil, code: String? = nil, isLocked: Bool = false, delay: Int = 0) {
        held = Mutex(State(passcode: passcode, code: code, isLocked: isLocked, delay: delay))
    }

    var now: State { held.withLock { $0 } }

    var device: DeviceState {
        let state = now
        return DeviceState(
            number: 7, lock: state.isLocked ? .locked : .unlocked, hasPasscode: state.passcode != nil,
            hasRecoveryCode: state.code != nil,
            openClasses: state.isLocked ? [.afterFirstUnlock, .always] : [.whenUnlocked, .afterFirstUnlock, .always],
            failedAttempts: state.failed, secondsToNextAttempt: state.delay)
    }

    private static func text(_ secret: SharedSecret) -> String {
        String(decoding: secret.bytes.insecureArray(), as: UTF8.self)
    }

    private func check(_ credential: PersonCredential, _ call: String) throws(KeychainError) {
        try held.withLock { state throws(KeychainError) in
            state.calls.append(call)
            guard state.delay == 0 else {
                throw KeychainError(.authFailed, reason: .attemptsDelayed(seconds: state.delay))
            }
            let isRight =
                switch credential {
                case .passcode(let typed): Self.text(typed) == state.passcode
                case .recoveryCode(let typed): Self.text(typed) == state.code
                }
            guard isRight else {
                if case .recoveryCode(let typed) = credential, typed.bytes.count < 28 {
                    throw .parameter(.malformed(key: "recovery code"))
                }
                state.failed += 1
                throw KeychainError(.authFailed, reason: .authenticationFailed)
            }
            state.failed = 0
        }
    }

    func state() throws(KeychainError) -> DeviceState { device }

    func unlock(with credential: PersonCredential) throws(KeychainError) {
        try check(credential, "unlock")
        held.withLock { $0.isLocked = false }
    }

    func lock() throws(KeychainError) {
        held.withLock {
            $0.calls.append("lock")
            $0.isLocked = true
        }
    }

    func setPasscode(_ new: SharedSecret) throws(KeychainError) {
        held.withLock {
            $0.calls.append("set")
            $0.passcode = Self.text(new)
        }
    }

    func changePasscode(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        try check(.passcode(old), "change")
        held.withLock { $0.passcode = Self.text(new) }
    }

    func resetPasscode(with code: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        try check(.recoveryCode(code), "reset")
        held.withLock { $0.passcode = Self.text(new) }
    }

    func removePasscode(with credential: PersonCredential) throws(KeychainError) {
        try check(credential, "remove")
        held.withLock { ($0.passcode, $0.code) = (nil, nil) }
    }

    func makeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        if let passcode { try check(.passcode(passcode), "make") }
        held.withLock { $0.pending = Self.code }
        return SharedSecret(SecretBytes(copying: Array(Self.code.utf8)))
    }

    func confirmRecoveryCode(_ typed: SharedSecret) throws(KeychainError) {
        try held.withLock { state throws(KeychainError) in
            state.calls.append("confirm")
            guard let pending = state.pending, Self.text(typed) == pending else {
                throw KeychainError(.authFailed, reason: .authenticationFailed)
            }
            (state.code, state.pending) = (pending, nil)
        }
    }

    func removeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) {
        if let passcode { try check(.passcode(passcode), "remove code") }
        held.withLock { $0.code = nil }
    }

    func question() throws(KeychainError) -> PersonQuestion? { nil }
    func agree(with credential: PersonCredential) throws(KeychainError) {}
    func decline(_ reason: Reason) throws(KeychainError) {}
}
