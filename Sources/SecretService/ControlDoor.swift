internal import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// gnome-keyring's control socket, by which the stock pam_gnome_keyring opens the keychain
/// and follows a change of the login password.
///
/// What comes is tried as the login password, where that has a slot (`latchkey slot add
/// login`), and as nothing else: a login that knows no passcode of ours is no attempt at
/// one. It lies in locked memory here while it is looked at, and goes to the enclave alone.
/// A wrong one counts as a failed attempt, until there are three: a password that root has
/// changed would keep the person waiting at the passcode. Nobody is asked, and nothing is
/// told but whether it was done.
package final class ControlDoor: Sendable {
    /// Below $XDG_RUNTIME_DIR.
    package static let folder = "keyring"
    package static let name = "control"

    private let keychain: any KeychainTransport
    private let clock: any KeychainClock
    private let served = Mutex(0)
    /// That somebody came, or went.
    private let change: EventSignal
    /// As many as are answered at once; others are hung up on.
    private static let most = 8
    /// How long a request may take to come.
    private static let patience = Duration.seconds(10)
    /// From so many failed attempts on none is made here.
    private static let mostFailures = 3

    /// For so long nobody comes any more where a login is through: it makes one connection
    /// after the other.
    private static let quiet = Duration.seconds(3)

    package init(
        _ keychain: any KeychainTransport, clock: any KeychainClock = SystemClock()
    ) throws(SystemCallError) {
        (self.keychain, self.clock) = (keychain, clock)
        change = try EventSignal()
    }

    /// Takes what comes from now on, for as long as this process lives, each on a thread of
    /// its own: Argon2id takes its time, and a login waits for nobody else.
    package func serve(_ listener: StreamListener) throws(SystemCallError) {
        try BackgroundThread.start { [self] in
            while true { takeWhatComes(from: listener) }
        }
    }

    /// Returns once whoever came has been answered, and nobody comes any more.
    package func waitForQuiet() throws(SystemCallError) {
        while true {
            let deadline = Deadline(after: Self.quiet, on: clock)
            change.drain()
            if served.withLock({ $0 > 0 }) {
                _ = try waitForAny(of: [change.descriptor])
            } else if try waitForAny(of: [change.descriptor], until: deadline) == nil {
                return
            }
        }
    }

    /// Inlined into the endless loop it is what the optimizer of Swift 6.3.1 never comes to
    /// the end of (its loop-invariant code motion).
    @inline(never)
    private func takeWhatComes(from listener: StreamListener) {
        do throws(SystemCallError) {
            _ = try waitForAny(of: [listener.descriptor])
            try accept(from: listener)
        } catch {
            // There are no more descriptors, say: there may be in a second.
            pause()
        }
    }

    private func pause() {
        do throws(SystemCallError) {
            _ = try waitForAny(of: [], until: Deadline(after: .seconds(1), on: clock))
        } catch {}
    }

    private func accept(from listener: StreamListener) throws(SystemCallError) {
        while let connection = try listener.accept() {
            let socket = PacketSocket(owning: connection)
            guard try socket.peerCredentials().uid == ProcessEnvironment.effectiveUserID, begin() else { continue }
            do throws(SystemCallError) {
                try BackgroundThread.start { [self] in
                    answer(connection)
                    end()
                }
            } catch { end() }
        }
    }

    private func begin() -> Bool {
        defer { change.signal() }
        return served.withLock { served in
            guard served < Self.most else { return false }
            served += 1
            return true
        }
    }

    private func end() {
        served.withLock { $0 -= 1 }
        change.signal()
    }

    private func answer(_ connection: Descriptor) {
        do throws(SystemCallError) {
            let deadline = Deadline(after: Self.patience, on: clock)
            let limit = 1 + ControlRequest.mostBytes
            let bytes = try connection.readSecret(atMost: limit, until: deadline) { bytes, count in
                guard count > 4, let length = ControlRequest.length(bytes, from: 1) else { return false }
                return length > ControlRequest.mostBytes || count > length
            }
            // What is no request gets no answer, as from gnome-keyring.
            guard let bytes, bytes.count > 1, bytes[0] == 0,
                let request = ControlRequest(try bytes.copy(allocating: 1..<bytes.count))
            else { return }
            try writeAll(connection, request.answer(result(of: request)))
        } catch {
            // It has gone, or took too long: there is nobody to tell.
        }
    }

    private func result(of request: ControlRequest) -> ControlResult {
        do throws(KeychainError) {
            switch request {
            case .initialize: return .done
            case .unlock(let password):
                return try attempt(with: [password], whereOpen: .isDone) { door throws(KeychainError) in
                    try door.unlock(byLogin: password)
                }
            case .unlockAgain: return try isOpen() ? .done : .failed
            case .change(let old, let new):
                return try attempt(with: [old, new], whereOpen: .goesOn) { door throws(KeychainError) in
                    try door.changeLogin(from: old, to: new)
                }
            // Other programs are served besides; `latchkey lock` locks.
            case .quit: return .denied
            }
        } catch {
            switch error.status {
            case .authFailed, .param: return .denied
            default: return .failed
            }
        }
    }

    private func isOpen() throws(KeychainError) -> Bool {
        guard try keychain.perform(KeychainRequest(.device)).device?.hasPasscode ?? false else { return true }
        let door = try RemotePersonDoor.present(inData: try dataDirectory(of: keychain), clock: clock)
        return Self.isOpen(try door.state())
    }

    private static func isOpen(_ state: DeviceState) -> Bool {
        state.isOpenForPrograms && state.openClasses.contains(.whenPasscodeSetThisDeviceOnly)
    }

    /// What a request comes to where everything is open already.
    private enum OpenCase {
        case isDone
        case goesOn
    }

    private func attempt(
        with passwords: [SharedSecret], whereOpen: OpenCase,
        _ body: (RemotePersonDoor) throws(KeychainError) -> Void
    ) throws(KeychainError) -> ControlResult {
        // Has the daemon start, where none runs.
        guard try keychain.perform(KeychainRequest(.device)).device?.hasPasscode ?? false else { return .done }
        let door = try RemotePersonDoor.present(inData: try dataDirectory(of: keychain), clock: clock)
        let state = try door.state()
        if whereOpen == .isDone, Self.isOpen(state) { return .done }
        // A login without a password is no attempt.
        guard !passwords.contains(where: { $0.bytes.count == 0 }), state.failedAttempts < Self.mostFailures,
            try door.slots().contains(where: { $0.kind == "login" })
        else { return .denied }
        try body(door)
        return .done
    }
}
