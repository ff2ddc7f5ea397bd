internal import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
package import MessageBus
internal import Synchronization

/// gnome-keyring's control socket, by which the stock pam_gnome_keyring opens the keychain
/// at a login and follows a change of the login password.
///
/// Where the login password has a slot (`latchkey slot add login`) it is that; else it has
/// to be the passcode. It lies in locked memory here while it is looked at, and goes to the
/// enclave alone. A wrong one counts as a failed attempt, and the next ones wait as at any
/// prompt. Nobody is asked, and nothing is told but whether it was done.
package final class ControlDoor: Sendable {
    /// Below $XDG_RUNTIME_DIR.
    package static let folder = "keyring"
    package static let name = "control"

    private let keychain: any KeychainTransport
    private let clock: any KeychainClock
    private let served = Mutex(0)
    /// As many as are answered at once; others are hung up on.
    private static let most = 8
    /// How long a request may take to come.
    private static let patience = Duration.seconds(10)

    package init(_ keychain: any KeychainTransport, clock: any KeychainClock = SystemClock()) {
        (self.keychain, self.clock) = (keychain, clock)
    }

    /// Takes what comes from now on, each on a thread of its own: Argon2id takes its time.
    package func serve(_ listener: StreamListener, in loop: BusLoop) {
        loop.watch(listener.descriptor) { [self] in accept(from: listener, in: loop) }
    }

    private func accept(from listener: StreamListener, in loop: BusLoop) {
        do throws(SystemCallError) {
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
        } catch {
            // There are no more descriptors, say: that would be found again and again.
            loop.endWatch(of: listener.descriptor)
        }
    }

    private func begin() -> Bool {
        served.withLock { served in
            guard served < Self.most else { return false }
            served += 1
            return true
        }
    }

    private func end() { served.withLock { $0 -= 1 } }

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
            try writeAll(connection, result(of: request).encoded)
        } catch {
            // It has gone, or took too long: there is nobody to tell.
        }
    }

    private func result(of request: ControlRequest) -> ControlResult {
        do throws(KeychainError) {
            switch request {
            case .initialize: return .done
            case .unlock(let password): return try unlock(with: password)
            case .change(let old, let new): return try change(from: old, to: new)
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

    private func unlock(with password: SharedSecret) throws(KeychainError) -> ControlResult {
        guard let person = try lockedDoor() else { return .done }
        // A login without a password; it is no attempt.
        guard password.bytes.count > 0 else { return .denied }
        if try hasLoginSlot(person) {
            try person.unlock(byLogin: password)
        } else {
            try person.unlock(with: .passcode(password))
        }
        return .done
    }

    private func change(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) -> ControlResult {
        guard let person = try lockedDoor() else { return .done }
        guard old.bytes.count > 0, new.bytes.count > 0 else { return .denied }
        if try hasLoginSlot(person) {
            try person.changeLogin(from: old, to: new)
        } else {
            try person.changePasscode(from: old, to: new)
        }
        return .done
    }

    private func hasLoginSlot(_ person: RemotePersonDoor) throws(KeychainError) -> Bool {
        try person.slots().contains { $0.kind == "login" }
    }

    /// The enclave itself; nil where there is no passcode, and nothing to open.
    private func lockedDoor() throws(KeychainError) -> RemotePersonDoor? {
        guard try keychain.perform(KeychainRequest(.device)).device?.hasPasscode ?? false else { return nil }
        return try RemotePersonDoor.present(inData: try dataDirectory(of: keychain), clock: clock)
    }
}
