import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

@Suite struct MachineCheckTests {
    private func object(_ outcome: BuiltPrograms.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any], "\(outcome.errors)")
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func doctorSaysWhatProtects() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let outcome = try programs.latchkey("doctor")
        #expect(outcome.status == 0 && outcome.text.contains("no passcode"), "\(outcome.text) \(outcome.errors)")
        let report = try object(try programs.latchkey("doctor", "--json"))
        #expect((report["protection"] as? String)?.contains("no passcode") == true)
        #expect((report["fixed"] as? [String])?.isEmpty == true)
    }

    /// The daemon refuses such a folder; doctor says which file and how to close it.
    @Test func filesThatAreOpenToOthersAreFoundAndClosed() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let data = programs.home + "/data/latchkey"
        for process in programs.processes("latchkeyd") + programs.processes("latchkey-enclave") {
            kill(process, SIGTERM)
        }
        for path in [data, data + "/keychain.db", data + "/enclave"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let refused = try programs.latchkey("doctor")
        #expect(refused.status != 0)
        #expect(refused.errors.contains("\(data) is open to others"), "\(refused.errors)")
        #expect(
            refused.errors.contains("chmod 700 '\(data)'") && refused.errors.contains("chmod 600 '\(data)/keychain.db'")
        )
        let fixed = try programs.latchkey("doctor", "--fix")
        #expect(fixed.status == 0, "\(fixed.text) \(fixed.errors)")
        #expect(fixed.text.contains("mended: \(data) is open to others"))
        #expect(try mode(data) == 0o700 && mode(data + "/enclave") == 0o700)
        #expect(try mode(data + "/keychain.db") == 0o600)
        #expect(try programs.latchkey("get", "mail").text == "canary")
        #expect(try object(try programs.latchkey("doctor", "--json"))["fixed"] as? [String] == [])
    }

    /// Who took its files, as an administrator told so once did, would shut its owner out.
    @Test(.enabled(if: geteuid() == 0, "gives a folder to another user"))
    func aKeychainOfAnotherUsersIsNotAdvisedToBeTaken() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        try programs.latchkey("lock", "--stop")
        let data = programs.home + "/data/latchkey"
        for path in [data, data + "/keychain.db"] { #expect(unsafe chown(path, 1, 1) == 0) }
        let outcome = try programs.latchkey("doctor")
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("\(data) is the keychain of daemon, not yours"), "\(outcome.errors)")
        #expect(outcome.errors.contains("sudo -u daemon latchkey doctor"))
        #expect(!outcome.errors.contains("chown") && !outcome.errors.contains("--fix"), "\(outcome.errors)")
    }

    @Test func aFolderAboveThatOthersWriteIsFound() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let above = programs.home + "/data"
        for (mode, isOpen) in [(0o777, true), (0o1777, false), (0o775, false), (0o755, false)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: above)
            let text = try programs.latchkey("doctor").text
            let isSaid = text.contains("\(above) can be written by others: who writes there can take the keychain away")
            #expect(isSaid == isOpen, "\(String(mode, radix: 8)): \(text)")
            #expect(text.contains("chmod go-w '\(above)'") == isOpen)
        }
    }

    /// An update leaves another file where the daemon's program was.
    @Test func aDaemonWhoseProgramWasUpdatedIsFound() throws {
        let programs = try BuiltPrograms()
        let (bin, data) = (programs.home + "/bin", programs.home + "/data/latchkey")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
        for name in ["latchkeyd", "latchkey-enclave"] {
            try FileManager.default.copyItem(atPath: "\(BuiltPrograms.folder)/\(name)", toPath: "\(bin)/\(name)")
        }
        try programs.start("\(bin)/latchkeyd", ["--data-dir", data, "--run-dir", data + "/run"]).run()
        try #require(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: data + "/run/keychain.sock") })
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        #expect(try !programs.latchkey("doctor").text.contains("updated"))
        try FileManager.default.copyItem(atPath: "/usr/bin/true", toPath: "\(bin)/new")
        #expect(unsafe rename("\(bin)/new", "\(bin)/latchkeyd") == 0)
        let report = try programs.latchkey("doctor")
        #expect(report.text.contains("started before its program was updated"), "\(report.text)")
        #expect(try programs.latchkey("status").text.contains("replaced since"))
        let fixed = try programs.latchkey("doctor", "--fix")
        #expect(fixed.text.contains("mended: the running daemon was started before"), "\(fixed.text)")
        #expect(try BuiltPrograms.eventually { try !programs.latchkey("doctor").text.contains("updated") })
        #expect(try programs.latchkey("get", "mail").text == "canary")
    }

    @Test func aHomeThatIsNotLookedAtIsSaid() throws {
        let home = try #require(ProcessEnvironment.passwdHome)
        func findings(_ named: String?, in folder: String, dataDirectory: String? = nil) -> [MachineFinding] {
            let run = CommandRun.surroundings(on: FakeKeychain())
            var surroundings = run
            surroundings.configuration.target = .store(
                KeychainLocations(dataDirectory: folder, runDirectory: folder + "/run"), autostart: false)
            return MachineCheck(surroundings: surroundings, dataDirectory: dataDirectory).homes(named)
        }
        let usual = home + "/.local/share/latchkey"
        let found = findings("/other'", in: usual)
        #expect(found.count == 1 && found.first?.what.contains("HOME is /other' and is not looked at") == true)
        #expect(found.first?.command?.hasPrefix(#"export XDG_DATA_HOME='/other'\''/.local/share'"#) == true)
        #expect(findings(home, in: usual).isEmpty && findings(nil, in: usual).isEmpty)
        // Where the home has no part in it.
        #expect(findings("/other", in: "/else/latchkey").isEmpty)
        #expect(findings("/other", in: usual, dataDirectory: "/else").isEmpty)
    }

    @Test func aSymbolicLinkIsNotFollowed() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let other = programs.home + "/other"
        try Data().write(to: URL(fileURLWithPath: other))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other)
        try FileManager.default.createSymbolicLink(
            atPath: programs.home + "/data/latchkey/link", withDestinationPath: other)
        #expect(try programs.latchkey("doctor", "--fix").status == 0)
        #expect(try mode(other) == 0o644)
    }

    // MARK: What the programs do to themselves

    private static let measures = HardeningMeasure.allCases.map { MeasureState($0, isInForce: true) }

    private func host(_ files: [String: String]) throws -> (folder: TemporaryDirectory, files: HostFiles) {
        let folder = try TemporaryDirectory("host")
        for (path, text) in files {
            let url = URL(fileURLWithPath: folder.path + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return (folder, HostFiles(root: folder.path))
    }

    private func measured(_ kernel: String, limits: String = "") throws -> ProcessMeasures {
        var status = KeychainStatus()
        (status.daemonProcess, status.enclaveProcess) = (4242, 4343)
        (status.daemonMeasures, status.enclaveMeasures) = (Self.measures, Self.measures)
        let (folder, files) = try host(["/proc/4343/status": kernel, "/proc/4343/limits": limits])
        defer { withExtendedLifetime(folder) {} }
        return ProcessMeasures(status, files: files)
    }

    @Test func whatIsInForceIsOneLineAProgram() throws {
        let found = try measured("Seccomp:\t2\nNoNewPrivs:\t1\n")
        #expect(found.findings.isEmpty && found.lines.count == 2)
        #expect(found.lines.allSatisfy { $0.contains("a list of system calls") })
    }

    /// The kernel's word stands above the program's.
    @Test(arguments: [
        ("Seccomp:\t0\nNoNewPrivs:\t1\n", "", "a list of system calls"),
        ("Seccomp:\t2\nNoNewPrivs:\t0\n", "", "no new privileges"),
        ("", "Max core file size        unlimited            unlimited            bytes\n", "no core dumps"),
    ])
    func aProgramThatSaysWhatIsNotSoIsFound(_ kernel: String, _ limits: String, _ what: String) throws {
        let findings = try measured(kernel, limits: limits).findings
        #expect(findings.count == 1 && findings.first?.what.hasPrefix("latchkey-enclave runs without: \(what)") == true)
        #expect(findings.first?.command != nil)
    }

    /// Nobody else's, and as the kernel shows it.
    @Test func aSpawnerWithoutItsFilterIsFound() throws {
        var status = KeychainStatus()
        (status.daemonProcess, status.daemonMeasures) = (4242, Self.measures)
        func spawner(_ parent: Int, _ filter: Int) -> String {
            "Name:\tlatchkey-spawne\nPPid:\t\(parent)\nNoNewPrivs:\t1\nSeccomp:\t\(filter)\n"
        }
        let limits = "Max core file size        0                    0                    bytes\n"
        var files = ["/proc/51/status": spawner(4242, 2), "/proc/51/limits": limits, "/proc/52/status": spawner(1, 0)]
        func measures() throws -> ProcessMeasures {
            let (folder, files) = try host(files)
            return withExtendedLifetime(folder) { ProcessMeasures(status, files: files) }
        }
        #expect(try measures().findings.isEmpty)
        #expect(try measures().all.filter { $0.program == "latchkey-spawner" }.map(\.process) == [51, 51, 51])
        files["/proc/51/status"] = spawner(4242, 0)
        #expect(
            try measures().findings.map(\.what) == [
                "latchkey-spawner of latchkeyd runs without: a list of system calls (the kernel shows it)"
            ])
    }

    @Test func whatIsNotInForceIsAFindingWithItsReason() {
        var status = KeychainStatus()
        status.enclaveMeasures = [MeasureState(.files, isInForce: false, note: "this kernel has no Landlock")]
        let findings = ProcessMeasures(status, files: HostFiles(root: "/nowhere")).findings
        #expect(
            findings.map(\.what) == [
                "latchkey-enclave runs without: no files but its own, no network (this kernel has no Landlock)"
            ])
    }

    @Test(.enabled(if: RunningKernel.confines, "a measure is missing here"))
    func doctorShowsTheMeasuresOfTheRunningPrograms() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let text = try programs.latchkey("doctor").text
        for program in ["latchkeyd", "latchkey-enclave"] {
            #expect(text.contains("\n\(program): no core dumps"), "\(text)")
        }
        let report = try object(try programs.latchkey("doctor", "--json"))
        let measures = try #require(report["measures"] as? [[String: Any]])
        let spawners = measures.filter { $0["program"] as? String == "latchkey-spawner" }
        #expect(measures.count - spawners.count == 2 * HardeningMeasure.allCases.count - 1)
        // Of either, three that the kernel shows.
        #expect(spawners.count == 6, "\(spawners)")
        for owner in ["latchkeyd", "latchkey-enclave"] {
            let line = "\nlatchkey-spawner of \(owner): no core dumps, no new privileges, a list of system calls (also"
            #expect(text.contains(line), "\(text)")
        }
        #expect(measures.allSatisfy { $0["inForce"] as? Bool == true }, "\(measures)")
    }

    // MARK: The machine

    private static let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

    private func findings(_ files: [String: String]) throws -> [String] {
        let (folder, files) = try host(["/proc/sys/kernel/yama/ptrace_scope": "1\n"].merging(files) { $1 })
        defer { withExtendedLifetime(folder) {} }
        return HostCheck(files: files).findings(daemon: 7).map(\.what)
    }

    @Test func aPlainSwapIsFoundAndAnEncryptedOneIsNot() throws {
        let plain = "/dev/sda2                               partition\t8388604\t\t0\t\t-2\n"
        let found = try findings(["/proc/swaps": Self.head + plain])
        #expect(found.first?.hasPrefix("the swap /dev/sda2 is not encrypted") == true)
        let mapped = "/dev/dm-1                               partition\t8388604\t\t0\t\t-2\n"
        let crypt = ["/proc/swaps": Self.head + mapped, "/sys/class/block/dm-1/dm/uuid": "CRYPT-PLAIN-swap\n"]
        #expect(try findings(crypt) == [])
        // A logical volume: by what it lies on.
        var volume = [
            "/proc/swaps": Self.head + mapped, "/sys/class/block/dm-1/dm/uuid": "LVM-abc\n",
            "/sys/class/block/dm-1/slaves/dm-0/x": "", "/sys/class/block/dm-0/dm/uuid": "CRYPT-LUKS2-abc\n",
        ]
        #expect(try findings(volume) == [])
        volume["/sys/class/block/dm-0/dm/uuid"] = "LVM-def\n"
        #expect(try findings(volume).count == 1)
    }

    @Test func compressedMemoryIsNoDisk() throws {
        let zram = Self.head + "/dev/zram0                              partition\t8388604\t\t0\t\t100\n"
        #expect(try findings(["/proc/swaps": zram, "/sys/class/block/zram0/backing_dev": "none\n"]) == [])
        #expect(try findings(["/proc/swaps": zram, "/sys/class/block/zram0/backing_dev": "/dev/sda3\n"]).count == 1)
    }

    @Test func aSwapFileIsAsTheDiskThatItLiesOn() throws {
        let file = Self.head + "/var/swap\\040file                         file\t\t1048572\t\t0\t\t-2\n"
        let mounts = "26 1 253:0 / / rw - ext4 /dev/mapper/root rw\n27 26 8:1 / /var rw - ext4 /dev/sda1 rw\n"
        let found = try findings([
            "/proc/swaps": file, "/proc/self/mountinfo": mounts, "/sys/dev/block/253:0/dm/uuid": "CRYPT-LUKS2-a\n",
        ])
        #expect(found.first?.hasPrefix("the swap /var/swap file is not encrypted") == true)
        #expect(
            try findings([
                "/proc/swaps": file, "/proc/self/mountinfo": mounts, "/sys/dev/block/8:1/dm/uuid": "CRYPT-LUKS2-a\n",
            ]) == [])
    }

    @Test func dumpsThatAProgramCollectsAndOpenMemoryAreFound() throws {
        #expect(try findings(["/proc/sys/kernel/core_pattern": "core\n"]) == [])
        let piped = try findings(["/proc/sys/kernel/core_pattern": "|/usr/lib/systemd/systemd-coredump %P\n"])
        #expect(piped.count == 1 && piped.first?.contains("to /usr/lib/systemd/systemd-coredump;") == true)
        #expect(try findings(["/proc/sys/kernel/yama/ptrace_scope": "0\n"]).first?.contains("(ptrace)") == true)
        #expect(try findings(["/sys/kernel/security/lockdown": "[none] integrity confidentiality\n"]).count == 1)
        #expect(try findings(["/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"]) == [])
    }

    @Test func aLimitThatIsTooLowIsFound() throws {
        let limit = { (soft: String) in
            ["/proc/7/limits": "Limit  Soft Limit  Hard Limit  Units\nMax locked memory   \(soft)   65536   bytes\n"]
        }
        #expect(try findings(limit("65536")).first?.hasPrefix("latchkeyd may lock 64 KiB") == true)
        #expect(try findings(limit("8388608")) == [])
        #expect(try findings(limit("unlimited")) == [])
    }

    @Test func anotherStoreAndAnotherVersionAreNamed() throws {
        var status = KeychainStatus()
        status.daemonProcess = 4242
        let session = SessionInformation(
            groups: ["a"], nameableGroups: [], strength: .user, isTemporary: false, identity: "x",
            missingFeatures: ["SO_PEERPIDFD"], serverVersion: "0.0.1")
        let surroundings = CommandRun.surroundings(on: FakeKeychain())
        let findings = MachineCheck(surroundings: surroundings, dataDirectory: "/nowhere").findings(status, session)
        #expect(findings.first?.mend == .endDaemon(process: 4242) && findings.first?.command == "kill 4242")
        #expect(findings.contains { $0.what.contains("SO_PEERPIDFD") })
        #expect(findings.contains { $0.what.contains("cannot be locked") })
    }
}
