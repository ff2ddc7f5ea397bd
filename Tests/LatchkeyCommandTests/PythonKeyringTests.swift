import Foundation
import Testing

enum PythonKeyring {
    static var isInstalled: Bool {
        ["keyring", "pytest"].allSatisfy {
            FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/\($0)")
        }
    }
}

/// The back end for Python's keyring in `python/keyring-latchkey`, with Debian's keyring and
/// keyring's own tests of a back end, on a real daemon and enclave.
@Suite(.enabled(if: PythonKeyring.isInstalled, "python3-keyring or python3-pytest is missing"))
struct PythonKeyringTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "python/keyring-latchkey").path

    @Test func keyringsOwnTestsPass() throws {
        let programs = try BuiltPrograms()
        // What pip would write: by the entry point keyring finds it.
        let distribution = programs.home + "/site/keyring_latchkey-0.1.0.dist-info"
        try FileManager.default.createDirectory(atPath: distribution, withIntermediateDirectories: true)
        try "Metadata-Version: 2.1\nName: keyring-latchkey\nVersion: 0.1.0\n".write(
            toFile: distribution + "/METADATA", atomically: true, encoding: .utf8)
        try "[keyring.backends]\nLatchkey = keyring_latchkey\n".write(
            toFile: distribution + "/entry_points.txt", atomically: true, encoding: .utf8)
        let outcome = try programs.run(
            "/usr/bin/python3",
            ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "\(Self.package)/test_keyring_latchkey.py"],
            changing: ["PYTHONPATH": "\(Self.package):\(programs.home)/site", "LC_ALL": "C.UTF-8"])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("20 passed"), "\(outcome.text)")
    }
}
