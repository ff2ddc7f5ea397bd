#if DEBUG
    internal import KeychainModel
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

    private enum PolicySeeds {
        static let all = [
            "# a comment\n\ncollection login /usr/bin/a /usr/bin/b\nschema s nobody # but me\n",
            "schema \"a b\\\"c\\\\\" \"/opt/an app/bin\"\r\n", "collection login", "schema s nobody /usr/bin/a",
            "collection a-b nobody", "schema s /a\nschema s /b", "schema \"s",
        ].map { Array($0.utf8) }
    }
#endif
