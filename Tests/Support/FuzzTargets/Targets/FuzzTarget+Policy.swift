#if DEBUG
    internal import KeychainModel
    internal import KeychainPlatform
    internal import SecretServiceReach
    @testable internal import SecretService

    extension FuzzTarget {
        /// The file in which a person says who may reach what over the bus.
        static let secretServicePolicy = FuzzTarget("secret-service-policy", seeds: { PolicySeeds.all }) {
            bytes throws(Finding) in
            let policy: SecretServicePolicy
            do throws(SecretServicePolicy.Fault) { policy = try SecretServicePolicy(bytes) } catch {
                try claim(error.line > 0, "a fault without a line")
                return
            }
            let (somebody, nobody) = (ServedProgram(path: "/usr/bin/a", process: 1), nil as ServedProgram?)
            for subject in [SecretServicePolicy.Subject.collection("login"), .schema("s")] {
                // Whose program cannot be told is let in nowhere where another would be kept out.
                let isClosed = !policy.admits(ServedProgram(path: "/not/named", process: 1), to: subject)
                try claim(
                    isClosed == !policy.admits(nobody, to: subject), "an unknown program is treated as a known one")
                if !isClosed { try claim(policy.admits(somebody, to: subject), "kept out of what is everybody's") }
            }
        }
    }

    extension FuzzTarget {
        /// What comes on gnome-keyring's control socket.
        static let controlRequest = FuzzTarget("control-request", seeds: { ControlSeeds.all }) {
            bytes throws(Finding) in
            let whole = SecretBytes(copying: bytes)
            guard let request = ControlRequest(whole) else { return }
            try claim(ControlRequest.length(whole, from: 0) == bytes.count, "a request of another length")
            let parts: [SharedSecret]
            switch request {
            case .unlock(let password): parts = [password]
            case .change(let old, let new): parts = [old, new]
            case .initialize, .unlockAgain, .quit: return
            }
            let taken = parts.reduce(8) { $0 + 4 + $1.bytes.count }
            try claim(taken == bytes.count, "bytes that are nobody's")
            let said = parts.flatMap { ControlSeeds.number($0.bytes.count) + $0.bytes.insecureArray() }
            try claim(Array(bytes.dropFirst(8)) == said, "another password")
        }
    }

    private enum ControlSeeds {
        static func number(_ value: Int) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
        }

        static func message(_ operation: Int, _ arguments: String...) -> [UInt8] {
            let rest = number(operation) + arguments.flatMap { number($0.utf8.count) + Array($0.utf8) }
            return number(4 + rest.count) + rest
        }

        static let all = [
            message(0, "DISPLAY=:0"), message(1, "words"), message(1, ""), message(2, "old", "new"), message(3),
            message(1), message(2, "old"), message(9), number(4), message(1, "words") + [0],
        ]
    }

    private enum PolicySeeds {
        static let all = [
            "# a comment\n\ncollection login /usr/bin/a /usr/bin/b\nschema s nobody # but me\n",
            "schema \"a b\\\"c\\\\\" \"/opt/an app/bin\"\r\n", "collection login", "schema s nobody /usr/bin/a",
            "collection a-b nobody", "schema s /a\nschema s /b", "schema \"s",
        ].map { Array($0.utf8) }
    }
#endif
