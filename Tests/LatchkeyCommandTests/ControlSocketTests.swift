import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// gnome-keyring's control socket, spoken as pam_gnome_keyring speaks it (the module itself:
/// scripts/stages/43-logins).
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct ControlSocketTests {
    private let scene: SecretServiceScene

    init() throws {
        scene = try SecretServiceScene(withControl: true)
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: socket) })
    }

    private var socket: String { scene.programs.home + "/runtime/keyring/control" }

    private static let client = """
        import os, socket, struct, sys
        path = os.environ['XDG_RUNTIME_DIR'] + '/keyring/control'
        DONE, DENIED, FAILED = 0, 1, 2
        def connected():
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(60)
            s.connect(path)
            return s
        def message(op, *words):
            rest = struct.pack('>I', op) + b''.join(struct.pack('>I', len(w)) + w for w in words)
            return struct.pack('>I', 4 + len(rest)) + rest
        def said(raw, then=b''):
            s = connected()
            s.sendall(raw)
            if then: s.sendall(then)
            answer = b''
            while len(answer) < 8:
                more = s.recv(8 - len(answer))
                if not more: return answer
                answer += more
            # Behind the result of INITIALIZE stands how many variables follow.
            more = {8: b'', 12: struct.pack('>I', 0)}[struct.unpack('>I', answer[:4])[0]]
            assert not more or s.recv(4) == more
            return struct.unpack('>I', answer[4:])[0]
        def ask(op, *words): return said(b'\\0' + message(op, *words))

        """

    private func script(_ text: String) throws {
        let outcome = try scene.client("/usr/bin/python3", ["-c", Self.client + text])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func addSlot(_ login: String) throws {
        try scene.setPasscode("the passcode")
        let added = try scene.programs.run(
            BuiltPrograms.latchkey, ["slot", "add", "login"], input: Data("the passcode\n\(login)\n".utf8))
        #expect(added.status == 0, "\(added.errors)")
    }

    private var failedAttempts: Int? {
        get throws { try scene.programs.status()["failedAttempts"] as? Int }
    }

    @Test func theLoginsPasswordOpensItAndIsFollowed() throws {
        // Nothing is closed where there is no passcode.
        try script("assert ask(1, b'whatever') == DONE\nassert said(b'\\0' + message(0, b'\\0\\0')) == DONE")
        try addSlot("login words")
        try scene.lock()
        try script("assert ask(1, b'') == DENIED\nassert ask(1, b'other words') == DENIED")
        #expect(try scene.isLocked)
        #expect(try failedAttempts == 1)
        // A byte at a time, and nobody else waits meanwhile.
        try script(
            """
            slow = connected()
            slow.send(b'\\0')
            assert ask(3) == DENIED
            for byte in message(1, b'login words'): slow.send(bytes([byte]))
            assert slow.recv(8) == struct.pack('>II', 8, DONE)
            """)
        #expect(try !scene.isLocked)
        // As pam_gnome_keyring does in a session, whose authentication had the password.
        try script("assert ask(1) == DONE")
        try script(
            """
            assert ask(2, b'wrong', b'new words') == DENIED
            assert ask(2, b'login words', b'') == DENIED
            assert ask(2, b'login words', b'new words') == DONE
            """)
        try scene.lock()
        try script("assert ask(1, b'new words') == DONE")
        #expect(try !scene.isLocked)
        // The passcode stays what it is.
        try scene.lock()
        try scene.unlock("the passcode")
    }

    /// A login that knows no passcode of ours would make the person wait at it.
    @Test func whatIsNoLoginsSlotIsNoAttempt() throws {
        try scene.setPasscode("the passcode")
        try scene.lock()
        try script("for _ in range(4): assert ask(1, b'login words') == DENIED")
        try script("assert ask(2, b'login words', b'new words') == DENIED\nassert ask(1, b'the passcode') == DENIED")
        #expect(try failedAttempts == 0)
    }

    /// Nor one that root has changed, more than three times.
    @Test func aStalePasswordIsTriedThreeTimes() throws {
        try addSlot("login words")
        // Open it is left alone.
        try script("assert ask(1, b'stale words') == DONE")
        try scene.lock()
        try script("for n in range(6): assert ask(1, b'stale words %d' % n) == DENIED")
        #expect(try failedAttempts == 3)
        try script("assert ask(2, b'stale', b'new words') == DENIED")
        try scene.unlock("the passcode")
        #expect(try failedAttempts == 0)
    }

    @Test func whatIsNoRequestGetsNoAnswerAndHarmsNobody() throws {
        try addSlot("words")
        try scene.lock()
        try script(
            """
            NOTHING = b''
            assert said(message(1, b'words')) == NOTHING
            assert said(b'x' + message(1, b'words')) == NOTHING
            assert said(b'\\0' + message(7)) == NOTHING
            assert ask(1) == FAILED
            assert said(b'\\0' + message(1, b'words', b'more')) == NOTHING
            assert said(b'\\0' + message(2, b'words')) == NOTHING
            assert said(b'\\0' + struct.pack('>I', 4)) == NOTHING
            assert said(b'\\0' + struct.pack('>I', 0x7fffffff) + b'x' * 100) == NOTHING
            assert said(b'\\0' + struct.pack('>III', 12, 1, 0xffffffff)) == NOTHING
            assert said(b'\\0' + message(1, b'words') + b'x') == NOTHING
            gone = connected()
            gone.sendall(b'\\0' + message(1, b'words')[:7])
            gone.close()
            """)
        #expect(try scene.isLocked)
        // More than are answered at once are hung up on; once they have gone others are served.
        try script(
            """
            held = [connected() for _ in range(8)]
            for s in held: s.sendall(b'\\0')
            more = connected()
            try: more.sendall(b'\\0' + message(1, b'words'))
            except OSError: pass
            try: assert more.recv(8) == b''
            except ConnectionError: pass
            for s in held: s.close()
            """)
        try script("while ask(1, b'words') != DONE: pass")
        #expect(try !scene.isLocked)
    }

    /// gnome-keyring's own socket is left alone.
    @Test func ofAnotherThatListensNothingIsTaken() throws {
        scene.end()
        try FileManager.default.removeItem(atPath: socket)
        let server = """
            import socket
            s = socket.socket(socket.AF_UNIX); s.bind('\(socket)'); s.listen()
            open('\(socket).ready', 'w')
            s.settimeout(120)
            c, _ = s.accept()
            c.sendall(b'theirs')
            """
        let other = scene.programs.start("/usr/bin/python3", ["-c", server], changing: [:])
        try other.run()
        defer { other.killNow() }
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: socket + ".ready") })
        try scene.startService()
        // Nor was it connected to: it answers the first who comes.
        try script("assert connected().recv(6) == b'theirs'")
    }

    private static let activator = "/usr/bin/systemd-socket-activate"
    private static let gnome = "/usr/bin/gnome-keyring-daemon"
    private static let owner = """
        bus = dbus.SessionBus()
        print(bus.get_object('org.freedesktop.DBus', '/').GetConnectionUnixProcessID('org.freedesktop.secrets'))
        """

    /// A service manager that listens at the socket and starts the service for the first who
    /// comes; it becomes that.
    private func startManager() throws -> ChildProcess {
        try FileManager.default.removeItem(atPath: socket)
        let variables = scene.programs.environment.merging(["DBUS_SESSION_BUS_ADDRESS": scene.session.address]) { $1 }
        // It wants descriptor 3 for its own, and closes all others: Foundation takes that for its end.
        let manager = try ChildProcess.start(
            "/bin/sh",
            arguments: ["-c", "exec 3>&- 4>&- 2>/dev/null; exec \"$@\"", "sh", Self.activator, "--listen", socket]
                + variables.keys.sorted().flatMap { ["-E", $0] } + ["\(BuiltPrograms.folder)/latchkey-secret-service"],
            environment: variables.map { "\($0)=\($1)" }, third: EventSignal().descriptor,
            fourth: EventSignal().descriptor)
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: socket) })
        return manager
    }

    /// As a login does: the service manager listens, and nothing of ours runs.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: activator), "\(activator) is not installed"))
    func whoComesBeforeTheServiceIsAnswered() throws {
        try addSlot("login words")
        try scene.lock()
        scene.end()
        let manager = try startManager()
        defer { kill(manager.processID, SIGKILL) }
        #expect(try !scene.has("org.freedesktop.secrets"))
        try script("assert ask(1, b'other words') == DENIED\nassert ask(1, b'login words') == DONE")
        #expect(try !scene.isLocked)
        #expect(BuiltPrograms.eventually { (try? scene.has("org.freedesktop.secrets")) == true })
        #expect(try scene.python(Self.owner).text == "\(manager.processID)\n")
        // The socket stays where it was.
        #expect(kill(manager.processID, SIGTERM) == 0)
        _ = try manager.status(until: Deadline(after: .seconds(20), on: SystemClock()))
        #expect(FileManager.default.fileExists(atPath: socket))
    }

    /// It goes once they have been, since another program serves the session.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: activator), "\(activator) is not installed"))
    func whoComesWhileAnotherProgramHasTheNameIsAnswered() throws {
        try addSlot("login words")
        try scene.lock()
        let manager = try startManager()
        defer { kill(manager.processID, SIGKILL) }
        try script("assert ask(1, b'other words') == DENIED\nassert ask(1, b'login words') == DONE")
        #expect(try !scene.isLocked)
        let status = try manager.status(until: Deadline(after: .seconds(20), on: SystemClock()))
        #expect(status == 69)
        #expect(try scene.python(Self.owner).text == "\(scene.service.processIdentifier)\n")
    }

    /// Who was started by a service manager may start others, which have no socket of it.
    @Test func whatIsSaidOfAnothersSocketIsNothingToIt() throws {
        scene.end()
        let service = "\(BuiltPrograms.folder)/latchkey-secret-service"
        let variables = ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "LISTEN_PID": "1", "LISTEN_FDS": "1"]
        let onBus = scene.programs.start(service, [], changing: variables)
        try onBus.run()
        defer { onBus.killNow() }
        #expect(BuiltPrograms.eventually { (try? scene.has("org.freedesktop.secrets")) == true })
        // Nor is it asked for one where it has another to listen at.
        let own = scene.programs.home + "/own"
        let direct = scene.programs.start(
            "/bin/sh", ["-c", "LISTEN_PID=$$ LISTEN_FDS=7 exec \"$0\" --listen \"$1\"", service, own], changing: [:])
        try direct.run()
        defer { direct.killNow() }
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: own) })
    }

    /// gnome-keyring is started at logins to GNOME; it goes where somebody listens already.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: gnome), "\(gnome) is not installed"))
    func gnomeKeyringLeavesTheSessionToWhoListens() throws {
        func start() throws -> [Int32] {
            // What it leaves running must not hold what Foundation waits for.
            let started = try scene.client(
                "/usr/bin/python3",
                [
                    "-c",
                    "import subprocess, sys; sys.exit(subprocess.run(['\(Self.gnome)', '--start', "
                        + "'--components=secrets'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode)",
                ])
            #expect(started.status == 0, "\(started.errors)")
            return scene.programs.processes(atHome: "gnome-keyring-daemon")
        }
        #expect(try start() == [])
        #expect(try scene.python(Self.owner).text == "\(scene.service.processIdentifier)\n")
        // Where nobody does it stays.
        scene.end()
        try FileManager.default.removeItem(atPath: socket)
        let stayed = try start()
        #expect(!stayed.isEmpty)
        for process in stayed { kill(process, SIGKILL) }
    }
}
