import Foundation
import KeychainPlatform
import Testing

/// gnome-keyring's control socket, spoken as pam_gnome_keyring speaks it (the module itself:
/// scripts/test-secret-service-peers).
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct ControlSocketTests {
    private let scene: SecretServiceScene

    init() throws { scene = try SecretServiceScene(runtime: true) }

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
            assert answer[:4] == struct.pack('>I', 8), answer
            return struct.unpack('>I', answer[4:])[0]
        def ask(op, *words): return said(b'\\0' + message(op, *words))

        """

    private func script(_ text: String) throws {
        let outcome = try scene.client("/usr/bin/python3", ["-c", Self.client + text])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func theLoginsPasswordOpensIt() throws {
        // Nothing is closed where there is no passcode.
        try script("assert ask(1, b'whatever') == DONE\nassert ask(0, b'DISPLAY=:0') == DONE")
        try scene.setPasscode("words of the login")
        try scene.lock()
        try script("assert ask(1, b'') == DENIED\nassert ask(1, b'other words') == DENIED")
        #expect(try scene.isLocked)
        #expect(try scene.programs.status()["failedAttempts"] as? Int == 1)
        // A byte at a time, and nobody else waits meanwhile.
        try script(
            """
            slow = connected()
            slow.send(b'\\0')
            assert ask(3) == DENIED
            for byte in message(1, b'words of the login'): slow.send(bytes([byte]))
            assert slow.recv(8) == struct.pack('>II', 8, DONE)
            """)
        #expect(try !scene.isLocked)
        // It follows a new password.
        try script(
            """
            assert ask(2, b'wrong', b'new words') == DENIED
            assert ask(2, b'words of the login', b'') == DENIED
            """)
        try scene.unlock("words of the login")
        try script("assert ask(2, b'words of the login', b'new words') == DONE")
        try scene.lock()
        try script("assert ask(1, b'new words') == DONE")
        #expect(try !scene.isLocked)
    }

    /// Where it has a slot of its own the passcode stays what it is.
    @Test func theSlotOfTheLoginIsWhatIsOpenedAndFollows() throws {
        try scene.setPasscode("the passcode")
        let added = try scene.programs.run(
            BuiltPrograms.latchkey, ["slot", "add", "login"], input: Data("the passcode\nlogin words\n".utf8))
        #expect(added.status == 0, "\(added.errors)")
        try scene.lock()
        try script("assert ask(1, b'the passcode') == DENIED")
        try script("assert ask(1, b'login words') == DONE")
        #expect(try !scene.isLocked)
        try script("assert ask(2, b'login words', b'other login words') == DONE")
        try scene.lock()
        try script("assert ask(1, b'other login words') == DONE")
        try scene.lock()
        try scene.unlock("the passcode")
    }

    @Test func whatIsNoRequestGetsNoAnswerAndHarmsNobody() throws {
        try scene.setPasscode("words")
        try scene.lock()
        try script(
            """
            NOTHING = b''
            assert said(message(1, b'words')) == NOTHING
            assert said(b'x' + message(1, b'words')) == NOTHING
            assert said(b'\\0' + message(7)) == NOTHING
            assert said(b'\\0' + message(1)) == NOTHING
            assert said(b'\\0' + message(1, b'words', b'more')) == NOTHING
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
        let runtime = try #require(scene.programs.environment["XDG_RUNTIME_DIR"])
        try? FileManager.default.removeItem(atPath: runtime + "/keyring/control")
        try FileManager.default.createDirectory(
            atPath: runtime + "/keyring", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let other = try scene.programs.shell(
            """
            python3 -c "
            import socket, time
            s = socket.socket(socket.AF_UNIX); s.bind('\(runtime)/keyring/control'); s.listen()
            open('\(runtime)/listens', 'w')
            s.settimeout(120)
            c, _ = s.accept()
            c, _ = s.accept()
            c.sendall(b'theirs')
            " > /dev/null 2>&1 &
            while [ ! -e '\(runtime)/listens' ]; do sleep 0.05; done
            """)
        #expect(other.status == 0, "\(other.errors)")
        try scene.startService()
        try script("assert connected().recv(6) == b'theirs'")
    }
}
