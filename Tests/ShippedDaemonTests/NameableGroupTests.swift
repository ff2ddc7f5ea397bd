import Foundation
import Keychain
import KeychainClient
import KeychainTestSupport
import Testing

/// `latchkey`, the group of the command line: every program may name it, and none searches it
/// unnamed. With the real latchkeyd and latchkey-enclave.
@Suite(.enabled(if: ShippedDaemon.isWithinReach), .timeLimit(.minutes(20))) struct NameableGroupTests {
    private let daemon: ShippedDaemon
    private let there = SecretStore(.group(AccessGroup("latchkey")))

    init() throws {
        daemon = try ShippedDaemon()
        try within {
            for name in ["a", "b"] {
                try there.add(Secret(name), at: .password(service: "old", account: name))
            }
        }
    }

    private func within<R>(_ body: () throws -> R) rethrows -> R {
        try CurrentKeychain.$scoped.withValue(daemon.newClient(), operation: body)
    }

    @Test func anItemThatWasFoundThereIsRemoved() throws {
        try within {
            let item = try #require(try there.items(.passwords(service: "old")).first)
            #expect(try there.remove(item))
            #expect(try !there.remove(item))
            #expect(try there.items(.passwords(service: "old")).count == 1)
        }
    }

    @Test(arguments: [false, true]) func whatLiesThereIsMigrated(_ isShared: Bool) throws {
        try within {
            let vault =
                isShared
                ? SecretVault("v", accessible: .whenUnlocked, sharedIn: AccessGroup("latchkey"))
                : SecretVault("v", accessible: .whenUnlocked)
            // What is in the vault already has to be marked.
            try vault.set("a", forKey: "a")
            let report = try vault.migrate(.passwords(service: "old"), from: there, originals: .remove)
            #expect(report.keys == ["a", "b"] && report.alreadyThere == ["a"] && report.notRemoved.isEmpty)
            #expect(try there.items(.passwords(service: "old")).isEmpty)
            #expect(try vault.text(forKey: "a") == "a" && vault.text(forKey: "b") == "b")
        }
    }
}
