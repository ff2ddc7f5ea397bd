import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Testing

/// Where a process can be asked for, and what of its word is believed.
@Suite struct CallerPlaceTests {
    private let folder: TemporaryDirectory
    private let places: PromptPlaces

    init() throws {
        folder = try TemporaryDirectory("session")
        var places = PromptPlaces()
        for name in ["runtime", "displays", "terminals"] { _ = try folder.folder(name) }
        places.runtimeFolder = folder.path("runtime")
        places.displays = folder.path("displays")
        places.terminalPrograms = ["/usr/bin/pinentry-tty"]
        places.passwordQuestions = folder.path("nowhere")
        self.places = places
    }

    private func socket(_ path: String) throws { try UnixSocketFile.make(at: path) }

    private func variables(_ values: [String: String]) -> SessionVariables {
        SessionVariables(values.map { Array("\($0.key)=\($0.value)".utf8) })
    }

    // MARK: Displays

    @Test func loginSessionIsWhatTheMachineConfirms() throws {
        for path in ["runtime/wayland-0", "runtime/bus", "displays/X1"] { try socket(folder.path(path)) }
        try Data().write(to: URL(fileURLWithPath: folder.path("cookie")))
        let session = GraphicalSession(
            variables([
                "XDG_RUNTIME_DIR": places.runtimeFolder, "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":1.0",
                "XAUTHORITY": folder.path("cookie"),
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(places.runtimeFolder)/bus",
                "LD_PRELOAD": "/tmp/x.so", "GTK_MODULES": "x", "QT_PLUGIN_PATH": "/tmp", "HOME": "/tmp",
            ]), in: places)
        #expect(
            session?.environment == [
                "XDG_RUNTIME_DIR=\(places.runtimeFolder)", "WAYLAND_DISPLAY=wayland-0",
                "DBUS_SESSION_BUS_ADDRESS=unix:path=\(places.runtimeFolder)/bus", "DISPLAY=:1",
                "XAUTHORITY=\(folder.path("cookie"))",
            ])
    }

    /// dbus-daemon tells what it starts the whole address of the bus; what asks gets the login's.
    @Test func aProgramThatTheBusStartedIsOfItsSession() throws {
        for path in ["runtime/wayland-0", "runtime/bus"] { try socket(folder.path(path)) }
        let bus = "unix:path=\(places.runtimeFolder)/bus"
        func address(_ text: String) -> Bool? {
            let values = [
                "XDG_RUNTIME_DIR": places.runtimeFolder, "WAYLAND_DISPLAY": "wayland-0",
                "DBUS_SESSION_BUS_ADDRESS": text,
            ]
            return GraphicalSession(variables(values), in: places)?.environment
                .contains("DBUS_SESSION_BUS_ADDRESS=\(bus)")
        }
        #expect(address("\(bus),guid=d84b8c6326d652aaad2d96a96b0c063a") == true)
        for other in [",guid=x", ",guid=", ",guid=d84b8c6326d652aaad2d96a96b0c063a,x", ",x", "2", ";unix:path=/x"] {
            #expect(address(bus + other) == false, "\(other)")
        }
        #expect(address("unix:path=/tmp/bus,guid=d84b8c6326d652aaad2d96a96b0c063a") == false)
    }

    @Test(arguments: [
        ["WAYLAND_DISPLAY": "wayland-9"], ["WAYLAND_DISPLAY": "../displays/X1"], ["WAYLAND_DISPLAY": "/tmp/evil"],
        ["WAYLAND_DISPLAY": ""], ["DISPLAY": ":2"], ["DISPLAY": "evil.example:0"], ["DISPLAY": "localhost:10.0"],
        ["DISPLAY": ":1;x"], ["DISPLAY": ":1.x"], ["DISPLAY": ":"], ["DISPLAY": ":-1"], ["DISPLAY": ":999999"],
        ["WAYLAND_DISPLAY": "plain"], ["DISPLAY": "unix:/tmp/x:1"],
    ])
    func displayOfAProgramsOwnIsNone(_ values: [String: String]) throws {
        try socket(folder.path("displays/X1"))
        try Data().write(to: URL(fileURLWithPath: folder.path("runtime/plain")))
        let all = values.merging(["XDG_RUNTIME_DIR": places.runtimeFolder]) { first, _ in first }
        #expect(GraphicalSession(variables(all), in: places) == nil)
    }

    /// Programs for X try the name without a file first: it must not be another's.
    @Test(.enabled(if: geteuid() == 0, "only root runs programs as another user"), arguments: [4711, 0])
    func abstractNameOfTheDisplayIsNotAnotherUsers(_ user: Int) throws {
        try socket(folder.path("displays/X1"))
        let program = """
            import os, socket
            s = socket.socket(socket.AF_UNIX); s.bind("\\0\(folder.path("displays/X1"))"); s.listen(9)
            os.write(3, b"%d\\n" % os.getpid())
            while True: s.accept()
            """
        let listener = try Caller(
            on: nil, script: "exec setpriv --reuid=\(user) --clear-groups /usr/bin/python3 -c '\(program)'")
        let session = withExtendedLifetime(listener) { GraphicalSession(variables(["DISPLAY": ":1"]), in: places) }
        #expect((session != nil) == (user == 0))
    }

    /// As a display manager leaves it that does not name the file.
    @Test func cookieIsInTheHomeWhereNothingElseIsSaid() throws {
        try socket(folder.path("displays/X1"))
        let file = folder.path(".Xauthority")
        try Data().write(to: URL(fileURLWithPath: file))
        let home = ["DISPLAY": ":1", "HOME": folder.path]
        #expect(
            GraphicalSession(variables(home), in: places)?.environment == ["DISPLAY=:1", "XAUTHORITY=\(file)"])
        let named = home.merging(["XAUTHORITY": folder.path("nowhere")]) { first, _ in first }
        #expect(GraphicalSession(variables(named), in: places)?.environment == ["DISPLAY=:1"])
    }

    @Test func runtimeFolderOfAProgramsOwnIsNone() throws {
        let other = try folder.folder("other").path
        try socket(other + "/wayland-0")
        #expect(
            GraphicalSession(variables(["XDG_RUNTIME_DIR": other, "WAYLAND_DISPLAY": "wayland-0"]), in: places) == nil)
    }

    @Test func busOfAProgramsOwnIsDropped() throws {
        try socket(folder.path("displays/X1"))
        let session = GraphicalSession(
            variables([
                "DISPLAY": ":1", "XDG_RUNTIME_DIR": places.runtimeFolder,
                "DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/dbus-evil", "XAUTHORITY": "/etc/shadow/../x",
            ]),
            in: places)
        #expect(session?.environment == ["XDG_RUNTIME_DIR=\(places.runtimeFolder)", "DISPLAY=:1"])
    }

    @Test func displayStandsBeforeTheTerminalAndGetsNoTerminal() throws {
        try socket(folder.path("displays/X1"))
        let terminal = try PseudoTerminal()
        let fake = try FakePinentry(getPin: "echo D $(env | cut -d= -f1 | sort | tr '\\n' ,); echo OK")
        var places = places
        places.graphicalPrograms = [fake.path]
        let caller = try Caller(on: terminal, ["DISPLAY": ":1", "LD_PRELOAD": "", "EVIL": "1"])
        let door = FakeDoor(PersonQuestion(purpose: .unlock), passcode: "DISPLAY,LANG,PATH,PWD,")
        let end = try EventSignal()
        let process = PromptProcess(door: door, caller: caller.processID, places: places, clock: SystemClock())
        let outcome = try withExtendedLifetime(caller) { try process.run(endedBy: end.descriptor) }
        #expect(outcome == .agreed)
        #expect(!fake.heard.contains { $0.contains("ttyname") } && terminal.shown().isEmpty)
    }

    /// Qt 5 would look for an X server, and end.
    @Test func qtIsToldOfWaylandWhereThereIsNothingElse() throws {
        for path in ["runtime/wayland-0", "displays/X1"] { try socket(folder.path(path)) }
        let wayland = ["XDG_RUNTIME_DIR": places.runtimeFolder, "WAYLAND_DISPLAY": "wayland-0"]
        for (values, expected) in [
            (wayland, true), (["DISPLAY": ":1"], false), (wayland.merging(["DISPLAY": ":1"]) { $1 }, false),
            // Nobody is there.
            (wayland.merging(["DISPLAY": ":2", "QT_QPA_PLATFORM": "offscreen"]) { $1 }, true),
        ] {
            let session = try #require(GraphicalSession(variables(values), in: places))
            let environment = Pinentry.Program.graphical("/usr/bin/pinentry-qt", on: session).environment
            #expect(environment.filter { $0.hasPrefix("QT_") } == (expected ? ["QT_QPA_PLATFORM=wayland"] : []))
        }
    }

    // MARK: Languages

    @Test(arguments: [
        (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C.UTF-8", "LC_ALL": "C"], false),
        (["LANG": "de_DE@euro"], false), (["LC_CTYPE": "de_DE.UTF-8@euro", "LANG": "C"], true), ([:], false),
        (["LC_ALL": "", "LANG": "C.UTF-8"], true), (["LANG": "../../x.UTF-8"], false),
    ])
    func terminalShowsUTF8WhereItsLocaleSaysSo(_ values: [String: String], _ expected: Bool) {
        #expect(variables(values).isUTF8 == expected)
    }

    @Test func whatIsTypedIsUTF8WhereNothingElseIsSaid() {
        for values in [[:], ["LANG": "C"], ["LC_ALL": "POSIX"], ["LANG": "fr_FR.UTF-8"]] {
            #expect(variables(values).typedLanguage == "C.UTF-8")
        }
        #expect(variables(["LANG": "fr_FR.ISO-8859-15"]).typedLanguage == "fr_FR.ISO-8859-15")
    }

    @Test func firstOfTwoVariablesCounts() {
        let both = SessionVariables([Array("TERM=xterm".utf8), Array("TERM=evil\nx".utf8), Array("TERMX".utf8), [0xff]])
        #expect(both.terminalType == "xterm")
        #expect(variables(["TERM": "x/../y"]).terminalType == nil)
    }

    // MARK: Terminals

    private func why(_ caller: Caller, _ places: PromptPlaces? = nil) throws -> String? {
        do throws(NobodyToAsk) {
            return try CallerPlace(of: caller.processID, in: places ?? self.places).noTerminal?.why
        } catch { return error.why }
    }

    @Test func foregroundTerminalOfTheCallerIsTaken() throws {
        let terminal = try PseudoTerminal(columns: 60)
        let caller = try Caller(on: terminal, ["TERM": "screen"])
        let place = try withExtendedLifetime(caller) { try CallerPlace(of: caller.processID, in: places) }
        #expect(place.terminal?.path == terminal.path && place.terminal?.device.columns == 60)
    }

    @Test func whatLiesInTheTerminalsPlaceMustBeIt() throws {
        let terminal = try PseudoTerminal()
        let caller = try Caller(on: terminal)
        var places = places
        places.terminals = folder.path("terminals")
        _ = try folder.folder("terminals/pts")
        let impostor = folder.path("terminals/pts/") + (terminal.path.split(separator: "/").last ?? "")
        #expect(try why(caller, places)?.contains("cannot be used") == true)
        try Data().write(to: URL(fileURLWithPath: impostor))
        #expect(try why(caller, places)?.contains("cannot be used") == true)
        try FileManager.default.removeItem(atPath: impostor)
        try FileManager.default.createSymbolicLink(atPath: impostor, withDestinationPath: try PseudoTerminal().path)
        #expect(try why(caller, places)?.contains("cannot be used") == true)
    }

    /// A container has terminals of its own, with the numbers of ours.
    @Test(.enabled(if: geteuid() == 0, "only root makes a mount namespace alone"))
    func terminalOfAnotherContainerIsNotOurs() throws {
        let terminal = try PseudoTerminal()
        let caller = try Caller(on: terminal, script: "exec unshare -m /bin/sh -c 'echo $$ >&3; exec sleep 1000'")
        #expect(try why(caller) == "its terminal belongs to another container")
    }

    /// `ssh -t box latchkey …`, `docker exec -it`: the program that hides leads the session.
    @Test func leaderThatHidesIsAskedOnItsTerminal() throws {
        let terminal = try PseudoTerminal()
        let hiding =
            "import ctypes, os, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "
            + "print(os.getpid(), file=os.fdopen(3, 'w'), flush=True); time.sleep(1000)"
        let caller = try Caller(on: terminal, script: "exec /usr/bin/python3 -c \"\(hiding)\"")
        let held = try Descriptor.look(at: FilePath("/proc/\(caller.processID)/stat"), .reading)
        let place = try CallerPlace(of: caller.processID, in: places, record: held)
        #expect(place.terminal?.path == terminal.path, "\(place.noTerminal?.why ?? "")")
        withExtendedLifetime((terminal, caller)) {}
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes a process namespace alone"))
    func howManyNamespacesAProcessIsInIsSeen() throws {
        let own = try Data(contentsOf: URL(fileURLWithPath: "/proc/self/status"))
        #expect(ProcessNamespaces.depth(Array(own)) == 1)
        let caller = try Caller(on: nil, script: "echo $$ >&3; exec unshare -pf /bin/sleep 1000")
        let children = "/proc/\(caller.processID)/task/\(caller.processID)/children"
        var inner = ""
        #expect(
            Waiting.eventually {
                inner = FileManager.default.contents(atPath: children).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return !inner.isEmpty
            })
        let status = FileManager.default.contents(
            atPath: "/proc/\(inner.trimmingCharacters(in: .whitespaces))/status")
        #expect(ProcessNamespaces.depth(Array(status ?? Data())) == 2)
        #expect(ProcessNamespaces.depth(Array("Name:\tx\n".utf8)) == nil)
        withExtendedLifetime(caller) {}
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes a mount namespace alone"))
    func sandboxedProgramOnAPersonsTerminalIsAskedForThere() throws {
        let terminal = try PseudoTerminal()
        let caller = try Caller(on: terminal, script: "unshare -m /bin/sh -c 'echo $$ >&3; exec sleep 1000'")
        #expect(try why(caller) == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root runs programs as another user"))
    func programOfAnotherUserIsNotAskedFor() throws {
        let caller = try Caller(
            on: try PseudoTerminal(),
            script: "exec setpriv --reuid=4711 --clear-groups /bin/sh -c 'echo $$ >&3; exec sleep 1000'")
        #expect(try why(caller) == "the program that asked runs as another user")
    }

    @Test func numbersOfProcStatAreFoundBehindAnyName() {
        let rest = " 4194304 " + (10...21).map(String.init).joined(separator: " ")
        let record = ProcessRecord(Array("77 (a) b (c) S 1 20 30 34817 20\(rest) 4711 0".utf8))
        #expect(record?.processGroup == 20 && record?.session == 30 && record?.terminal == 34817)
        #expect(record?.isInForeground == true && record?.startTime == 4711)
        for broken in [
            "", "77 (a", "77 (a) S 1 2", "77 (a) S x 2 3 4 5\(rest) 4711", "1 (a) S 1 2 3 99999999999 5\(rest) 4711",
            "77 (a) S 1 20 30 34817 20\(rest)", "77 (a) S 1 20 30 34817 20\(rest) -1",
        ] {
            #expect(ProcessRecord(Array(broken.utf8)) == nil)
        }
    }
}
