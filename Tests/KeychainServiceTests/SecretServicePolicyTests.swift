import KeychainModel
import Testing

@testable import SecretServiceReach

/// What a policy of the Secret Service says, and what is none.
@Suite struct SecretServicePolicyTests {
    private func policy(_ text: String) throws -> SecretServicePolicy { try SecretServicePolicy(Array(text.utf8)) }

    private func program(_ path: String) -> ServedProgram { ServedProgram(path: path, process: 1) }

    @Test func onlyWhatIsNamedIsKeptFromOthers() throws {
        let policy = try policy(
            """
            # who may what
            collection work /usr/bin/evolution "/opt/an app/bin/\\"app\\""  # and no others

            schema com.example.Archive nobody
            """)
        #expect(policy.admits(program("/usr/bin/evolution"), to: .collection("work")))
        #expect(policy.admits(program("/opt/an app/bin/\"app\""), to: .collection("work")))
        #expect(!policy.admits(program("/usr/bin/evolution2"), to: .collection("work")))
        #expect(!policy.admits(program("/usr/bin/evolution"), to: .schema("com.example.Archive")))
        #expect(policy.admits(program("/usr/bin/python3"), to: .collection("login")))
        #expect(policy.admits(nil, to: .schema("com.example.Other")))
        // What nobody could tell is nobody.
        #expect(!policy.admits(nil, to: .collection("work")) && !policy.admits(program(""), to: .collection("work")))
        #expect(policy.limitsSchemas(of: program("/usr/bin/evolution")))
        #expect(try !self.policy("schema s /a").limitsSchemas(of: program("/a")))
        #expect(try !self.policy("collection c nobody").limitsSchemas(of: program("/a")))
    }

    @Test(arguments: [
        ("collection work", 1), ("collection default nobody", 1),
        ("\nschema a", 2), ("# fine\nallow login /usr/bin/a", 2), ("collection a-b nobody", 1),
        ("schema \"\" nobody", 1), ("schema s nobody /usr/bin/a", 1), ("schema s evolution", 1),
        ("schema s /a\n\nschema s /b", 3), ("schema \"s /a", 1), ("schema \"s\\", 1), ("schema s /a\"b", 1),
        ("schema \"s\"x /a", 1),
    ])
    func whatIsNoPolicyIsRefusedByItsLine(_ text: String, _ line: Int) throws {
        let fault = #expect(throws: SecretServicePolicy.Fault.self) { try policy(text) }
        #expect(fault?.line == line)
    }

    @Test func whatIsNoTextIsRefused() throws {
        #expect(throws: SecretServicePolicy.Fault.self) { try SecretServicePolicy([0x73, 0xFF, 0x0A]) }
        #expect(try policy("") == .everybody)
    }
}
