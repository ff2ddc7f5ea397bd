import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

/// Why latchkeyd is not started where it lies beside the program.
@Suite struct DaemonProgramTests {
    private func failure(_ folders: [String]) -> KeychainError? {
        do throws(KeychainError) {
            _ = try DaemonProgram.find(in: folders)
            return nil
        } catch { return error }
    }

    @Test func whatIsNotThereIsNotInstalled() {
        #expect(failure(["/nowhere", "/tmp"])?.reason == .daemonNotInstalled)
        #expect(failure(["/nowhere"])?.underlying == nil)
    }

    @Test func aProgramThatOthersCanWriteIsThereAndNotStarted() throws {
        let programs = try BuiltPrograms()
        let path = programs.home + "/latchkeyd"
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        let error = failure(["/nowhere", programs.home])
        #expect(error?.reason == .daemonUnreachable)
        #expect(error?.underlying == "\(path) is not started: \(path) can be written by others")
    }

    @Test func aNamespaceWithoutRootIsSaid() {
        let refusal = TrustedPath.Refusal.unmappedOwner(path: "/usr")
        #expect("\(refusal)" == "/usr belongs to nobody here (a user namespace that does not map root)")
        let failure = CommandFailure(
            KeychainError(
                .notAvailable, reason: .daemonUnreachable,
                underlying: "/usr/latchkeyd is not started: \(refusal): \(DaemonProgram.outside)"))
        #expect(failure.lines.last?.contains("outside") == true && failure.status == .unavailable)
    }

    /// The program itself in such a namespace, as a user whose files are root's.
    @Test(.enabled(if: ProcessEnvironment.effectiveUserID == 0))
    func latchkeyInSuchANamespaceSaysSo() throws {
        let programs = try BuiltPrograms()
        let unshare = ["--reuid=4711", "--regid=4711", "--clear-groups", "unshare", "-Ur"]
        guard try programs.run("/usr/bin/setpriv", unshare + ["true"]).status == 0 else { return }
        // The programs as an installation has them, where that user can reach them.
        let prefix = "/opt/lk-\(ProcessEnvironment.processID)"
        try FileManager.default.createDirectory(
            atPath: prefix, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: prefix) }
        for name in ["latchkey", "latchkeyd"] {
            try FileManager.default.copyItem(atPath: "\(BuiltPrograms.folder)/\(name)", toPath: "\(prefix)/\(name)")
        }
        let data = "/tmp/lk-ns-\(ProcessEnvironment.processID)"
        let outcome = try programs.run(
            "/usr/bin/setpriv", unshare + ["\(prefix)/latchkey", "set", "--data-dir", data, "a"], input: Data("pw".utf8)
        )
        #expect(outcome.status == 69, "\(outcome.errors)")
        #expect(
            outcome.errors.contains("belongs to nobody here (a user namespace that does not map root): start latchkey"),
            "\(outcome.errors)")
        #expect(!outcome.errors.contains("not installed"))
    }
}
