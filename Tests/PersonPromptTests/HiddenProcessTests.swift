import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// How an ordinary user comes to a machine that hides processes.
private enum HiddenProcesses {
    static let user = 4711
    static let mounting = "mount --make-rprivate / && mount -t proc -o hidepid=2 proc /proc"
    static let becoming = "setpriv --reuid=\(user) --regid=\(user) --clear-groups"

    /// Why this cannot be tried here, or nil.
    static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root may mount" }
        let trial = "\(mounting) && exec \(becoming) test -x \(BuiltKeychain.programs)/latchkey-prompt"
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-m", "/bin/sh", "-c", trial]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "there is no unshare(1)" }
        process.waitUntilExit()
        let reason = "mounting is not permitted here, or an ordinary user cannot run the programs"
        return process.terminationStatus == 0 ? nil : reason
    }()
}

/// A machine that shows an ordinary user no process but those that they may trace
/// (proc(5), "hidepid=2"): not even their own, once it hides as `latchkey` does.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: BuiltKeychain.isWithinReach, "the programs are out of this user's reach"),
    .enabled(if: HiddenProcesses.obstacle == nil, "\(HiddenProcesses.obstacle ?? "")"))
struct HiddenProcessTests {
    private let folder: TemporaryDirectory
    private let terminal: PseudoTerminal

    init() throws {
        folder = try TemporaryDirectory("hidden")
        terminal = try PseudoTerminal()
        #expect(unsafe chown(folder.path, uid_t(HiddenProcesses.user), gid_t(HiddenProcesses.user)) == 0)
        #expect(unsafe chown(terminal.path, uid_t(HiddenProcesses.user), gid_t(HiddenProcesses.user)) == 0)
    }

    /// What was started on our folder.
    private func endAll() {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        for process in all {
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.contains(folder.path("data")) { kill(process, SIGKILL) }
        }
    }

    /// Neither's name can be read: the kernel says who listens at its socket.
    @Test(arguments: ["latchkeyd.lock", "enclave/lock"])
    func whatDoesNotAnswerIsKilled(_ lock: String) throws {
        let latchkey = "\(BuiltKeychain.programs)/latchkey --data-dir \(folder.path("data"))"
        let work = """
            printf 1 | \(latchkey) set a || exit 90
            pid() { sed -n 's/^pid //p' \(folder.path("data"))/\(lock); }
            first=$(pid)
            kill -STOP $first || exit 91
            \(latchkey) lock --stop || exit
            \(latchkey) get a
            [ $(pid) != $first ] || exit 92
            """
        let process = TestProcess()
        let (out, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "-m", "/bin/sh", "-c", "\(HiddenProcesses.mounting) && exec \(HiddenProcesses.becoming) /bin/sh -c \"$0\"", work,
        ]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
        process.standardOutput = out
        process.standardError = errors
        try process.run()
        defer { endAll() }
        process.waitUntilExit()
        let told = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(told)")
        #expect(String(decoding: out.fileHandleForReading.availableData, as: UTF8.self) == "1", "\(told)")
    }

    @Test func aPersonIsAskedForAProgramThatHidesAndAgreesOnce() throws {
        let latchkey = "\(BuiltKeychain.programs)/latchkey --data-dir \(folder.path("data"))"
        let (work, hiding) = (folder.path("work"), folder.path("hiding"))
        try Data(
            """
            cd \(folder.path)
            \(latchkey) passcode set
            \(latchkey) list --all; echo first: $?
            \(latchkey) list --all; echo second: $?
            echo all told
            """.utf8
        ).write(to: URL(fileURLWithPath: work))
        try Data("\(HiddenProcesses.mounting) && exec \(HiddenProcesses.becoming) /bin/sh \(work)\n".utf8)
            .write(to: URL(fileURLWithPath: hiding))
        let caller = try Caller(
            on: terminal, script: "echo $$ >&3; exec unshare -m /bin/sh \(hiding)",
            ["LANG": "C.UTF-8", "TERM": "xterm", "HOME": folder.path])
        defer {
            caller.end()
            endAll()
        }
        for prompt in ["New passcode", "Once more"] {
            _ = try #require(terminal.waits(for: prompt), "no passcode can be set")
            terminal.type("1234\n")
        }
        let shown = try #require(terminal.waits(for: "<Cancel>"), "nobody is asked")
        #expect(shown.contains("EVERY program") && shown.contains("5 minutes"), "\(shown)")
        terminal.type("1234\r")
        let told = try #require(terminal.waits(for: "all told"), "the second call asks again")
        #expect(told.contains("first: 0") && told.contains("second: 0") && !told.contains("<Cancel>"), "\(told)")
    }
}
