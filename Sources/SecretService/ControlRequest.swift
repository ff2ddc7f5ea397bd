internal import KeychainPlatform

/// What pam_gnome_keyring, or whoever else has a login password, says on gnome-keyring's
/// control socket (gnome-keyring 42, pam/gkr-pam-client.c and
/// daemon/control/gkd-control-server.c; spec "Linux interoperability", 1): lengths and numbers of 32 bits,
/// most significant byte first; in front of all, a byte 0.
enum ControlRequest: Sendable {
    /// For the environment of gnome-keyring's daemon, which has parts that we have not.
    case initialize
    case unlock(SharedSecret)
    /// An unlock that says no password: of a session, after its authentication has said one.
    case unlockAgain
    case change(old: SharedSecret, new: SharedSecret)
    /// Ends gnome-keyring's daemon.
    case quit

    /// Bytes of one request at the most, with its length and without the byte 0.
    static let mostBytes = 16 * 1024

    /// How long a request is whose first bytes have come; nil where they do not say yet, or
    /// say what is none.
    static func length(_ start: borrowing SecretBytes, from offset: Int) -> Int? {
        number(in: start, at: offset)
    }

    /// - Parameter bytes: a whole request, from its length on.
    init?(_ bytes: borrowing SecretBytes) {
        guard let length = Self.number(in: bytes, at: 0), length == bytes.count,
            let operation = Self.number(in: bytes, at: 4)
        else { return nil }
        // Its arguments have a form of their own, and say nothing to us.
        if operation == 0 {
            self = .initialize
            return
        }
        var at = 8
        var arguments: [SharedSecret] = []
        while at < bytes.count {
            guard arguments.count < Self.mostArguments, let argument = Self.number(in: bytes, at: at),
                argument <= bytes.count - at - 4
            else { return nil }
            let place = (at + 4)..<(at + 4 + argument)
            do throws(SystemCallError) { arguments.append(SharedSecret(try bytes.copy(allocating: place))) } catch {
                return nil
            }
            at = place.upperBound
        }
        switch (operation, arguments.count) {
        case (1, 0): self = .unlockAgain
        case (1, 1): self = .unlock(arguments[0])
        case (2, 2): self = .change(old: arguments[0], new: arguments[1])
        case (3, 0): self = .quit
        default: return nil
        }
    }

    private static let mostArguments = 2

    private static func number(in bytes: borrowing SecretBytes, at offset: Int) -> Int? {
        guard offset >= 0, bytes.count - offset >= 4 else { return nil }
        return (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
}

extension ControlRequest {
    /// Length and result; of the environment, that nothing is to be set.
    func answer(_ result: ControlResult) -> [UInt8] {
        guard case .initialize = self else { return [0, 0, 0, 8, 0, 0, 0, result.rawValue] }
        return [0, 0, 0, 12, 0, 0, 0, result.rawValue, 0, 0, 0, 0]
    }
}

/// What is answered.
enum ControlResult: UInt8, Sendable {
    case done = 0
    /// A wrong password, or what is not for the caller.
    case denied = 1
    case failed = 2
    /// Nobody is there.
    case noDaemon = 3
}
