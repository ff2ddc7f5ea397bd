import Foundation
import Glibc
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Which program calls over a bus, on buses that say so in their own ways
/// (Tests/Support/session-bus.py), with real programs as callers.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: SecretServiceClients.areInstalled && CallersOnABus.areInstalled,
        "dbus, libsecret-tools, python3-keyring, python3-dbus or python3-jeepney is missing"))
struct SecretServiceCallersTests {
    private func scene(_ mode: String, _ arguments: String...) throws -> SecretServiceScene {
        let session = try PrivateSession(playedBy: CallersOnABus.script("session-bus.py"), as: mode)
        return try SecretServiceScene(on: session, arguments)
    }

    // MARK: Who it is

    @Test func aProcessDescriptorOfTheBusSaysWhoCalls() throws {
        let callers = CallersOnABus(try scene("descriptor"))
        try callers.store()
        #expect(try callers.lookup() == "the kept value")
        let lines = try callers.log("--program", "secret-tool")
        #expect(Set(lines.compactMap { $0["event"] as? String }) == ["add", "read"])
        #expect(lines.allSatisfy { $0["forBy"] as? String == "descriptor" && $0["forPid"] as? Int ?? 0 > 1 })
    }

    @Test(arguments: ["number", "old"])
    func withoutADescriptorItIsTheBareNumberThatSaysWhoCalls(on mode: String) throws {
        let callers = CallersOnABus(try scene(mode))
        try callers.store()
        try callers.keep(for: "/usr/bin/secret-tool")
        #expect(try callers.lookup() == "the kept value")
        #expect(try callers.countByPython() == 0)
        let lines = try callers.log("--program", "secret-tool")
        #expect(!lines.isEmpty && lines.allSatisfy { $0["forBy"] as? String == "number" })
    }

    @Test(arguments: ["descriptor", "alone"])
    func aPolicyNamesProgramsByTheirDescriptors(on mode: String) throws {
        let callers = CallersOnABus(try scene(mode))
        try callers.store()
        try callers.keep(for: "/usr/bin/secret-tool")
        #expect(try callers.lookup() == "the kept value")
        #expect(try callers.countByPython() == 0)
    }

    /// Who cannot be told is nobody that a policy names, and is served where it names nobody.
    @Test(arguments: ["file", "other", "text", "missing", "nobody"])
    func aBusThatSaysNonsenseSaysNothing(_ mode: String) throws {
        let callers = CallersOnABus(try scene(mode))
        try callers.store()
        #expect(try callers.lookup() == "the kept value")
        let lines = try callers.log("--event", "read")
        #expect(!lines.isEmpty && lines.allSatisfy { $0["for"] is NSNull && $0["forBy"] is NSNull })
        try callers.keep(for: "/usr/bin/secret-tool")
        #expect(try callers.lookup() == "")
        #expect(callers.scene.service.isRunning)
    }

    // MARK: Who has ended

    /// Its child has the connection, and is another program.
    @Test(arguments: ["first", "known"])
    func aProgramThatHasEndedIsNotWhoCalls(after calls: String) throws {
        let callers = CallersOnABus(try scene("descriptor"))
        try callers.store()
        try callers.keep(for: CallersOnABus.python)
        #expect(try callers.countByPython() == 1)
        let (found, value, process) = try callers.left(calls)
        #expect((found, value) == (0, "the open value"))
        let read = try callers.log("--event", "read").filter { $0["forPid"] as? Int == process }
        #expect(read.count == 1 && read.allSatisfy { $0["forBy"] as? String == "ended" && $0["for"] as? String == "" })
        #expect(try callers.scene.programs.latchkey("log").text.contains("for process \(process) that had ended"))
    }

    @Test(.enabled(if: CallersOnABus.canChooseNumbers, "only root chooses the next process number"))
    func aNumberThatIsUsedAgainIsNotTakenForItsProgram() throws {
        for (mode, found) in [("descriptor", 0), ("number", 1)] {
            let callers = CallersOnABus(try scene(mode))
            try callers.store()
            try callers.keep(for: "/usr/bin/sleep")
            // By a bare number it is: the bus tells nothing else.
            #expect(try callers.left("first", "/usr/bin/sleep").found == found)
        }
    }

    // MARK: The service itself

    /// The bus tells of the first caller once it has seen the second one's answer; it is told
    /// then who the first is.
    @Test func nobodyWaitsUntilTheBusHasSaidWhoAnotherIs() throws {
        let callers = CallersOnABus(try scene("late"))
        #expect(try callers.scene.programs.latchkey("set", "mail", "alice", input: Data("v".utf8)).status == 0)
        try callers.keep("org.freedesktop.Secret.Generic", for: CallersOnABus.python)
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            waiting = []
            for _ in range(3):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'SearchItems')
                call.append({'service': 'mail'}, signature='a{ss}')
                waiting.append(first.send_message_with_reply(call, answers.append))
            first.flush()
            assert service.ReadAlias('default') == LOGIN
            for call in waiting: call.block()
            assert [len(answer.get_args_list()[0]) for answer in answers] == [1, 1, 1], answers
            """)
    }

    /// Of calls of a MiB each, whose message and values take a little more than two, what goes
    /// beyond 32 MiB is refused at once, and the rest answered; a first one is taken however long
    /// it is, and short ones of others are taken beside it.
    @Test(arguments: [(100, 1, 85), (2, 20, 1)])
    func whatWaitsForTheBussWordIsBoundedInItsBytes(count: Int, mebibytes: Int, refused: Int) throws {
        let callers = CallersOnABus(try scene("late"))
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            waiting = []
            for _ in range(\(count)):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'ReadAlias')
                call.append('x' * (\(mebibytes) << 20), signature='s')
                waiting.append(first.send_message_with_reply(call, answers.append))
            first.flush()
            # The last is refused, which is heard while the others wait.
            waiting[-1].block()
            assert service.ReadAlias('default') == LOGIN
            for call in waiting: call.block()
            words = [answer.get_error_name() for answer in answers]
            assert len(words) == \(count) and 'org.freedesktop.DBus.Error.NoReply' not in words, words
            assert words.count('org.freedesktop.DBus.Error.LimitsExceeded') == \(refused), words
            """)
        #expect(try callers.peakMemory() < 160 << 20)
    }

    /// Each small value lies in memory that is wiped, a page of it: of 2 000 in a call three calls fit
    /// into 32 MiB.
    @Test func pagesOfSmallValuesAreCountedForWhatWaits() throws {
        let callers = CallersOnABus(try scene("late"))
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            waiting = []
            for _ in range(8):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'ReadAlias')
                call.append([dbus.ByteArray(b'x')] * 2_000, signature='aay')
                waiting.append(first.send_message_with_reply(call, answers.append))
            first.flush()
            waiting[-1].block()
            assert service.ReadAlias('default') == LOGIN
            for call in waiting: call.block()
            words = [answer.get_error_name() for answer in answers]
            assert words.count('org.freedesktop.DBus.Error.LimitsExceeded') == 5, words
            """)
    }

    /// sd-bus leaves a bus once the descriptors of a message do not fit into the process any more.
    /// Where there are few, half of them are left.
    @Test(arguments: [(1024, 70...90), (160, 96...99)])
    func descriptorsOfWhatWaitsLeaveRoomForMore(limit: Int, refused: ClosedRange<Int>) throws {
        let callers = CallersOnABus(try scene("late"))
        try callers.limitDescriptors(to: limit)
        let before = try callers.descriptorCount()
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            waiting = []
            null = os.open('/dev/null', os.O_RDONLY)
            def call(connection, count):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'ReadAlias')
                call.append(*[dbus.types.UnixFd(null)] * count, signature='h' * count)
                waiting.append(connection.send_message_with_reply(call, answers.append, timeout_s=60))
            def words():
                found = [answer.get_error_name() for answer in answers]
                answers.clear()
                return found
            for _ in range(100): call(first, 16)
            first.flush()
            waiting[-1].block()
            assert words() == ['org.freedesktop.DBus.Error.LimitsExceeded']
            # More than any method takes, whoever it is.
            call(first, 17)
            waiting.pop().block()
            assert words() == ['org.freedesktop.DBus.Error.InvalidArgs']
            assert service.ReadAlias('default') == LOGIN
            for one in waiting[:-1]: one.block()
            found = words()
            assert len(found) == 99 and 'org.freedesktop.DBus.Error.NoReply' not in found, found
            # Two for each: its own, and the value's.
            refused = found.count('org.freedesktop.DBus.Error.LimitsExceeded')
            assert \(refused.lowerBound) <= refused <= \(refused.upperBound), refused
            """)
        #expect(try BuiltPrograms.eventually { try callers.descriptorCount() <= before + 2 })
    }

    /// Of 200 in a call (the bus puts them there) three calls wait.
    @Test func descriptorsThatNoArgumentNamesAreCountedForWhatWaits() throws {
        let callers = CallersOnABus(try scene("late"))
        try callers.limitDescriptors(to: 1024)
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            waiting = []
            for _ in range(20):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'ReadAlias')
                call.append('laden', signature='s')
                waiting.append(first.send_message_with_reply(call, answers.append, timeout_s=60))
            first.flush()
            waiting[-1].block()
            assert service.ReadAlias('default') == LOGIN
            for one in waiting[:-1]: one.block()
            words = [answer.get_error_name() for answer in answers]
            assert words.count('org.freedesktop.DBus.Error.LimitsExceeded') == 17 and words.count(None) == 3, words
            """)
    }

    /// Whoever says it: where a bus lets such through, a program would be nobody that the policy
    /// names, or another.
    @Test func anAnswerOfAnybodyElseThanTheBusSaysNothing() throws {
        let callers = CallersOnABus(try scene("forged"))
        try callers.store()
        try callers.keep(for: "/usr/bin/secret-tool")
        #expect(try callers.lookup() == "the kept value")
        #expect(try callers.countByPython() == 0)
        let lines = try callers.log("--program", "secret-tool")
        #expect(!lines.isEmpty && lines.allSatisfy { $0["forBy"] as? String == "descriptor" })
    }

    @Test func whomABusNeverTellsOfIsServedAsNobodyInTheEnd() throws {
        // Instead of 25 seconds.
        let callers = CallersOnABus(try scene("silent", "--callers-within", "1"))
        #expect(try callers.scene.programs.latchkey("set", "mail", "alice", input: Data("v".utf8)).status == 0)
        try callers.keep("org.freedesktop.Secret.Generic", for: CallersOnABus.python)
        try callers.python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            first, answers = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']), []
            call = MethodCallMessage(NAME, ROOT, S + 'Service', 'SearchItems')
            call.append({'service': 'mail'}, signature='a{ss}')
            waiting = first.send_message_with_reply(call, answers.append, timeout_s=120)
            first.flush()
            assert len(service.SearchItems({'service': 'mail'})[0]) == 1
            assert not answers
            waiting.block()
            assert [len(answer.get_args_list()[0]) for answer in answers] == [0], answers
            """)
    }

    @Test(arguments: ["descriptor", "number", "file", "other", "missing"])
    func noDescriptorIsLeftOfThoseWhoHaveGone(on mode: String) throws {
        let callers = CallersOnABus(try scene(mode))
        try callers.python("service.ReadAlias('default')")
        let before = try callers.descriptorCount()
        // More than are held at once, and each calls twice.
        try callers.python(
            """
            from dbus.bus import BusConnection
            import os
            many = [BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS']) for _ in range(300)]
            for _ in range(2):
                for one in many:
                    assert one.call_blocking(NAME, ROOT, S + 'Service', 'ReadAlias', 's', ('default',)) == LOGIN
            """)
        // That of the first may still have been held then.
        #expect(try BuiltPrograms.eventually { try callers.descriptorCount() <= before })
    }

    // MARK: Without a bus

    @Test func withoutABusTheKernelSaysWhoCalls() throws {
        let programs = try BuiltPrograms()
        let place = ["service", "mail", "username", "alice"]
        let stored = try programs.run(
            BuiltPrograms.latchkey,
            ["secret-service", "exec", "--", "/usr/bin/secret-tool", "store", "--label=L"] + place,
            input: Data("the value".utf8))
        #expect(stored.status == 0, "\(stored.errors)")
        let lines = try CallersOnABus.lines(of: programs, ["--program", "secret-tool"])
        let isHeld = try KernelSocket.tellsDescriptors
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0["forBy"] as? String == (isHeld ? "descriptor" : "number") })
    }
}

private enum KernelSocket {
    static var tellsDescriptors: Bool {
        get throws { try ProcessHandle.peer(of: try PacketSocket.pair().0) != nil }
    }
}

/// One service, and programs that call it.
private struct CallersOnABus {
    let scene: SecretServiceScene

    init(_ scene: SecretServiceScene) { self.scene = scene }

    static var areInstalled: Bool {
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/jeepney/low_level.py")
    }

    static var canChooseNumbers: Bool {
        guard geteuid() == 0 else { return false }
        return unsafe access("/proc/sys/kernel/ns_last_pid", W_OK) == 0
    }

    static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Support/\(name)").path
    }

    /// Its executable, as the kernel calls it.
    static var python: String { URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path }

    private static let kept = ["xdg:schema", "com.example.Kept", "name", "one"]

    /// One item that a policy may keep, and one that none does.
    func store() throws {
        for (place, value) in [(Self.kept, "the kept value"), (["name", "open"], "the open value")] {
            let stored = try scene.client("/usr/bin/secret-tool", ["store", "--label=L"] + place, typed: value)
            #expect(stored.status == 0, "\(stored.errors)")
        }
    }

    func keep(_ schema: String = "com.example.Kept", for program: String) throws {
        let file = URL(filePath: scene.programs.home + "/config/latchkey/secret-service.policy")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("schema \(schema) \(program)\n".utf8).write(to: file)
    }

    func lookup() throws -> String { try scene.client("/usr/bin/secret-tool", ["lookup"] + Self.kept).text }

    func python(_ text: String) throws {
        let outcome = try scene.client("/usr/bin/python3", ["-c", SecretServiceScene.objects + text])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// How many of the kept item python finds.
    func countByPython() throws -> Int? {
        let text = "print(len(service.SearchItems({'name': 'one'})[0]))"
        let outcome = try scene.client("/usr/bin/python3", ["-c", SecretServiceScene.objects + text])
        return Int(outcome.text.trimmingCharacters(in: .newlines))
    }

    /// What a child does with the connection of its parent, which has ended.
    func left(_ arguments: String...) throws -> (found: Int, value: String, process: Int) {
        let outcome = try scene.client("/usr/bin/python3", [Self.script("left-connection.py")] + arguments)
        let words = outcome.text.split(separator: " ", maxSplits: 1)
        let last = try #require(outcome.text.split(separator: " ").last, "\(outcome.errors)")
        let process = try #require(Int(last.trimmingCharacters(in: .newlines)))
        let value = words[1].dropLast(last.count + 1)
        return (try #require(Int(words[0])), String(value), process)
    }

    /// The most that the service has had in memory, in bytes ("VmHWM" of proc_pid_status(5)).
    func peakMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(scene.service.processIdentifier)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter { $0.isNumber })) << 10
    }

    /// As it is where nobody says otherwise (RLIMIT_NOFILE).
    func limitDescriptors(to count: Int) throws {
        let outcome = try scene.programs.run(
            "/usr/bin/prlimit", ["--pid", "\(scene.service.processIdentifier)", "--nofile=\(count):"])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(scene.service.processIdentifier)/fd").count
    }

    func log(_ arguments: String...) throws -> [[String: Any]] { try Self.lines(of: scene.programs, arguments) }

    static func lines(of programs: BuiltPrograms, _ arguments: [String]) throws -> [[String: Any]] {
        let text = try programs.run(BuiltPrograms.latchkey, ["log", "--json"] + arguments).text
        return try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }
}
