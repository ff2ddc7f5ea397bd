import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Two programs that store at the same time in one collection, one over the bus and one by
/// SecItem: with nothing in their way, and while what serves them is killed.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceLossTests {
    private let programs: BuiltPrograms
    private let session: PrivateSession

    /// The bus starts the service for whoever asks, as often as it ends.
    init() throws {
        programs = try BuiltPrograms()
        let enabled = try programs.latchkey("secret-service", "enable")
        #expect(enabled.status == 0, "\(enabled.errors)")
        session = try PrivateSession(
            startingFrom: programs.home + "/data/dbus-1/services", environment: programs.environment)
    }

    private static let isLong = ProcessInfo.processInfo.environment["LATCHKEY_LONG_FAULTS"] == "1"

    // MARK: The two programs

    /// As ``SecItemWriter`` in fault-client: the same names, values and lines.
    private static let busWriter =
        SecretServiceScene.objects + """
            import sys, time
            name, count = sys.argv[1], int(sys.argv[2])
            def value(number, version): return ' '.join(['v%d of %s-%d' % (version, name, number)] * (1 + number % 40)).encode()
            def say(*words): print(*words, flush=True)
            mine = None
            def change(item, version, call):
                global mine, service
                say('try', item, version)
                try:
                    mine = mine or session()
                    call()
                    say('ack', item, version)
                    return True
                except dbus.DBusException: mine = None
                # Until something reads again: what is started anew takes longer than many calls that fail.
                end = time.monotonic() + 30
                while time.monotonic() < end:
                    try:
                        # A proxy is of the connection that had the name when it was made.
                        service = at(ROOT, S + 'Service')
                        mine = session()
                        for path in service.SearchItems({'name': name + '-0'})[0]: service.GetSecrets([path], mine)
                        return False
                    except dbus.DBusException: pass
                raise SystemExit('nobody serves any more')
            for number in range(count):
                item = '%s-%d' % (name, number)
                properties = props(S + 'Item.Label', item, S + 'Item.Attributes',
                                   dbus.Dictionary({'application': 'reach', 'name': item}, signature='ss'))
                made = []
                def create(version):
                    collection = at(ROOT + '/aliases/default', S + 'Collection')
                    made[:] = [collection.CreateItem(properties, secret(mine, value(number, version)), True)[0]]
                if not change(item, 1, lambda: create(1)): continue
                if number % 8 == 0: change(item, 2, lambda: create(2))
                elif number % 8 == 4:
                    change(item, 2, lambda: at(made[0], S + 'Item').SetSecret(secret(mine, value(number, 2))))

            """

    private static let busReader =
        SecretServiceScene.objects + """
            paths, closed = service.SearchItems(dbus.Dictionary({}, signature='ss'))
            assert closed == []
            mine = session()
            for start in range(0, len(paths), 100):
                for path, values in service.GetSecrets(paths[start:start + 100], mine).items():
                    label = bus.get_object(NAME, path, introspect=False).Get(
                        S + 'Item', 'Label', dbus_interface='org.freedesktop.DBus.Properties')
                    print('%s\\t%s' % (label, bytes(values[2]).decode()))

            """

    private var environment: [String: String?] { ["DBUS_SESSION_BUS_ADDRESS": session.address] }

    private func writer(_ name: String, _ program: String, _ arguments: [String]) throws -> Writer {
        let process = programs.start(program, arguments, changing: environment)
        return try Writer(process, sayingTo: "\(programs.home)/\(name).said")
    }

    private func writers(storing count: Int, _ round: String = "0") throws -> [Writer] {
        let (bus, sec) = ("bus\(round)", "sec\(round)")
        return [
            try writer(bus, "/usr/bin/python3", ["-c", Self.busWriter, bus, "\(count)"]),
            try writer(sec, "\(BuiltPrograms.folder)/fault-client", ["store", sec, "\(count)"]),
        ]
    }

    /// Everything, as each of the two ways shows it.
    private func audit(_ books: [Ledger]) throws {
        let seen = [
            try programs.run("/usr/bin/python3", ["-c", Self.busReader], changing: environment),
            try programs.run("\(BuiltPrograms.folder)/fault-client", ["list", "latchkey", "all"]),
        ]
        for outcome in seen {
            #expect(outcome.status == 0, "\(outcome.errors)")
            let found = outcome.text.split(separator: "\n").map { line in
                line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            }
            for (label, items) in Dictionary(grouping: found, by: { $0[0] }) {
                #expect(items.count == 1 && books.contains { $0.has(label) }, "\(label) is there \(items.count) times")
            }
            let values = Dictionary(found.map { ($0[0], $0[1]) }) { first, _ in first }
            for book in books {
                let wrong = book.wrong(values)
                #expect(wrong.isEmpty, "\(wrong.count) of \(book.count): \(wrong.prefix(5))")
            }
        }
        let doctor = try programs.latchkey("doctor", "--verify")
        #expect(doctor.status == 0, "\(doctor.text)\(doctor.errors)")
    }

    // MARK: The tests

    @Test func whatTwoProgramsStoreAtOnceIsAllThere() throws {
        let books = try writers(storing: 1000).map { try $0.finish() }
        for book in books {
            #expect(book.count == 1000 && book.acknowledged.count == 1000 && book.isSettled)
        }
        try audit(books)
    }

    /// SIGKILL at random moments: what was acknowledged is there with its value, what was not is
    /// there as it was or as it was to be, and no secret is empty.
    @Test func killsLoseNothingThatWasAcknowledged() throws {
        let (rounds, items, kills) = Self.isLong ? (12, 1000, 16) : (1, 240, 5)
        var books: [Ledger] = []
        for round in 0..<rounds {
            let running = try writers(storing: items, "\(round)")
            var done = 0
            for kill in 0..<kills {
                // Somewhere in the part of the work that is this kill's.
                let least = items * kill / kills + Int.random(in: 1..<items / kills)
                _ = BuiltPrograms.eventually { running.contains { $0.linesSaid >= 2 * least } }
                if try killSome(kill) { done += 1 }
            }
            let told = try running.map { try $0.finish() }
            let counts = told.map(\.acknowledged.count)
            #expect(done == kills && counts.allSatisfy { $0 > items / 4 }, "\(counts)")
            books += told
            // What is read next comes from the disk.
            try killAll()
            try audit(books)
        }
    }

    private static let victims = [
        ["latchkeyd"], ["latchkey-enclave"], ["latchkey-secret-service"],
        ["latchkeyd", "latchkey-enclave"], ["latchkeyd", "latchkey-enclave", "latchkey-secret-service"],
    ]

    /// Whether one was there.
    private func killSome(_ number: Int) throws -> Bool {
        let names = Self.victims[number % Self.victims.count]
        return BuiltPrograms.eventually {
            let victims = names.flatMap { programs.processes($0) + programs.processes(atHome: $0) }
            for victim in Set(victims) { kill(victim, SIGKILL) }
            return !victims.isEmpty
        }
    }

    private func killAll() throws {
        for name in Self.victims[4] {
            for process in Set(programs.processes(name) + programs.processes(atHome: name)) {
                kill(process, SIGKILL)
                _ = try ProcessHandle.waitForEnd(of: process, until: Deadline(after: .seconds(20), on: SystemClock()))
            }
        }
    }

    // MARK: What is kept of them

    /// A program that stores, while it runs.
    private final class Writer {
        private let process: TestProcess
        private let path: String

        init(_ process: TestProcess, sayingTo path: String) throws {
            (self.process, self.path) = (process, path)
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try process.run()
        }

        deinit { if process.isRunning { process.killNow() } }

        private var said: Data { FileManager.default.contents(atPath: path) ?? Data() }

        /// A change has two, where it is acknowledged.
        var linesSaid: Int { said.count { $0 == UInt8(ascii: "\n") } }

        func finish() throws -> Ledger {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return Ledger(String(decoding: said, as: UTF8.self))
        }
    }

    /// What a program was told, by its own lines.
    private struct Ledger {
        /// The last version of each item that was acknowledged.
        private(set) var acknowledged: [String: Int] = [:]
        /// Versions of which nothing was heard.
        private var inFlight: [String: Set<Int>] = [:]
        private var names: Set<String> = []

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 3, let version = Int(words[2]) else { continue }
                let name = String(words[1])
                names.insert(name)
                if words[0] == "ack" {
                    acknowledged[name] = version
                    inFlight[name] = nil
                } else {
                    inFlight[name, default: []].insert(version)
                }
            }
        }

        var count: Int { names.count }
        var isSettled: Bool { inFlight.isEmpty }
        func has(_ name: String) -> Bool { names.contains(name) }

        /// Those that are not as they have to be, with what is there.
        func wrong(_ values: [String: String]) -> [String] {
            names.filter { name in
                var allowed: Set<String?> = Set((inFlight[name] ?? []).map { Self.value(name, $0) })
                allowed.insert(acknowledged[name].map { Self.value(name, $0) })
                return !allowed.contains(values[name])
            }.map { "\($0): \(values[$0]?.prefix(40) ?? "not there")" }
        }

        private static func value(_ name: String, _ version: Int) -> String {
            let number = name.split(separator: "-").last.flatMap { Int($0) } ?? 0
            return Array(repeating: "v\(version) of \(name)", count: 1 + number % 40).joined(separator: " ")
        }
    }
}
