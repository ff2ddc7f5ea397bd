package import KeychainModel
internal import KeychainPlatform
internal import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// Which keychain the C-shaped door talks to: the scope of a test, the one a
/// test installed for the process, or the user's own daemon.
///
/// Once KeychainTesting is linked the last is out of reach: a call outside any
/// scope fails and never touches the user's keychain.
package enum CurrentKeychain {
    /// The keychain of this task and its children.
    @TaskLocal package static var scoped: (any KeychainTransport)?

    private static let installed = Mutex<(any KeychainTransport)?>(nil)
    private static let userKeychain = Mutex<(any KeychainTransport)?>(nil)

    /// Makes `transport` the keychain of the whole process (nil: takes it away).
    package static func install(_ transport: (any KeychainTransport)?) {
        installed.withLock { $0 = transport }
    }

    /// Takes the installed keychain away where `isMeant` says that it is the one.
    package static func uninstall(where isMeant: (any KeychainTransport) -> Bool) {
        installed.withLock { current in
            if let transport = current, isMeant(transport) { current = nil }
        }
    }

    /// - Throws: `errSecNotAvailable`, reason `outsideTestScope`.
    package static func transport() throws(KeychainError) -> any KeychainTransport {
        if let scoped { return scoped }
        if let installed = installed.withLock({ $0 }) { return installed }
        guard !ProcessEnvironment.isTestingLinked else {
            throw refusal()
        }
        return userKeychain.withLock { pool in
            if let pool { return pool }
            let configuration = ClientConfiguration.user()
            let fresh = ExplainedKeychain.around(DaemonConnectionPool(configuration))
            // A directory server that did not answer may do so next time.
            if case .nowhere = configuration.target { return fresh }
            pool = fresh
            return fresh
        }
    }

    private static let hasSaid = Mutex(false)

    /// A status alone does not tell a test's author what to do: the first refusal
    /// is written out.
    private static func refusal() -> KeychainError {
        let error = KeychainError(.notAvailable, reason: .outsideTestScope)
        let isFirst = hasSaid.withLock { said in
            defer { said = true }
            return !said
        }
        if isFirst { StandardError.write("latchkey: \(error.reason.explanation)\n") }
        return error
    }
}
