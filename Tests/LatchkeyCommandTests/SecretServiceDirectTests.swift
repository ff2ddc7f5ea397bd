import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Clients that want a session's bus where there is none: `latchkey secret-service exec`, and
/// the service on a socket.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceDirectTests {
    private let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func exec(_ command: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, ["secret-service", "exec", "--"] + command)
    }

    @Test func aCommandFindsTheServiceWithoutABus() throws {
        let outcome = try exec(
            "/bin/sh", "-c",
            """
            printf 'the value' | secret-tool store --label=L service mail username alice &&
            secret-tool lookup service mail && secret-tool search --all --unlock service mail 2>&1 &&
            secret-tool clear service other; exit 7
            """)
        #expect(outcome.status == 7 && outcome.text.hasPrefix("the value"), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("label = L") && outcome.text.contains("secret = the value"))
        #expect(try programs.latchkey("get", "mail", "alice").text == "the value")
        // The service has gone with it, and its folder.
        #expect(BuiltPrograms.eventually { programs.processes(atHome: "latchkey-secret-service").isEmpty })
        let left = try FileManager.default.contentsOfDirectory(atPath: programs.home + "/tmp")
        #expect(left.filter { $0.hasPrefix("latchkey-bus") } == [])
    }

    /// GDBus does not try again where a socket has no room for it.
    @Test func manyThatComeAtOnceAreServed() throws {
        let outcome = try exec(
            "/bin/sh", "-c",
            """
            for i in $(seq 48); do { printf $i | secret-tool store --label=L number $i || echo failed; } & done; wait
            """)
        #expect(outcome.text == "" && outcome.errors == "", "\(outcome.text)\(outcome.errors)")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 48)
    }

    @Test func pythonsKeyringWorksThere() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            """
            import keyring
            from keyring.backends import SecretService
            keyring.set_keyring(SecretService.Keyring())
            keyring.set_password('web', 'alice', 'one')
            assert keyring.get_password('web', 'alice') == 'one'
            keyring.delete_password('web', 'alice')
            assert keyring.get_password('web', 'alice') is None
            print('done')
            """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    /// ruby-dbus knows itself by the destination of the answer to its Hello, and others look
    /// who speaks: each message has both, as over a bus.
    @Test func messagesAreAddressedAsABusAddressesThem() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            """
            import os, time
            from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            BUS, NAME = 'org.freedesktop.DBus', 'org.freedesktop.secrets'
            bus = DBusAddress('/org/freedesktop/DBus', BUS, BUS)
            service = DBusAddress('/org/freedesktop/secrets', NAME, 'org.freedesktop.Secret.Service')
            connection = open_dbus_connection()
            def header(target, member, *arguments):
                answer = connection.send_and_get_reply(new_method_call(target, member, *arguments))
                fields = answer.header.fields
                return (answer.header.message_type.name, fields[HeaderFields.destination] == connection.unique_name,
                        fields[HeaderFields.sender])
            acquired = connection.receive(timeout=5)
            print(acquired.header.fields[HeaderFields.member], acquired.body == (connection.unique_name,))
            print(*header(bus, 'ListNames'), *header(bus, 'None'))
            print(*header(service, 'ReadAlias', 's', ('default',)), *header(service, 'None'))
            """)
        #expect(
            outcome.text == """
                NameAcquired True
                method_return True org.freedesktop.DBus error True org.freedesktop.DBus
                method_return True :2.0 error True :2.0

                """, "\(outcome.text)\(outcome.errors)")
    }

    /// libdbus and GDBus ask for names, owners and matches; of another service there is none.
    @Test func whatABusWouldAnswerIsAnswered() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            SecretServiceScene.objects + """
                assert bus.name_has_owner(NAME) and not bus.name_has_owner('org.example.None')
                assert bus.get_unique_name().startswith(':2.') and bus.get_name_owner(NAME) == ':2.0'
                assert bus.start_service_by_name(NAME) == (True, dbus.UInt32(2))
                UNKNOWN = 'org.freedesktop.DBus.Error.ServiceUnknown'
                refused(UNKNOWN, bus.start_service_by_name, 'org.example.None')
                refused(UNKNOWN, bus.get_object, 'org.example.None', '/')
                refused(UNKNOWN, bus.call_blocking, 'org.example.None', '/', 'x.y', 'Z', '', ())
                refused('org.freedesktop.DBus.Error.UnknownMethod', bus.request_name, 'org.example.Mine')
                assert NAME in bus.list_names()
                # Two connections have sessions of their own.
                mine = session()
                other = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
                theirs = dbus.Interface(other.get_object(NAME, ROOT, introspect=False), S + 'Service')
                refused('org.freedesktop.Secret.Error.NoSession', theirs.GetSecrets, dbus.Array([], signature='o'), mine)
                assert other.get_unique_name() != bus.get_unique_name()
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    /// What is no D-Bus, and what leaves in the middle of it, keeps nobody else from being served.
    @Test func nonsenseOnItsSocketHarmsNobody() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            SecretServiceScene.objects + """
                import os, random, socket
                path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('=', 1)[1]
                shower = random.Random(1)
                greeting = b'\\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\\r\\nBEGIN\\r\\n'
                kept = []
                for number in range(60):
                    client = socket.socket(socket.AF_UNIX)
                    client.connect(path)
                    noise = bytes(shower.randrange(256) for _ in range(shower.randrange(200)))
                    try: client.sendall([noise, greeting + noise, greeting + b'l\\1\\0\\1' + noise, b''][number % 4])
                    except BrokenPipeError: pass
                    if number % 3: client.close()
                    else: kept.append(client)
                assert len(service.SearchItems(dbus.Dictionary({}, signature='ss'))) == 2
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    /// Calls whose answers nobody reads, with nonsense behind them: others are served, and the
    /// service ends with its command.
    @Test func whoReadsNothingHarmsNobody() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            SecretServiceScene.objects + """
                import os, select, socket
                from jeepney import DBusAddress, new_method_call
                path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('=', 1)[1]
                mine = session()
                at(LOGIN, S + 'Collection').CreateItem(
                    props(S + 'Item.Label', 'L', S + 'Item.Attributes', dbus.Dictionary({'a': 'b'}, signature='ss')),
                    secret(mine, b'v'), True)
                there = DBusAddress(ROOT, bus_name=NAME, interface='org.freedesktop.DBus.Introspectable')
                calls = b''.join(new_method_call(there, 'Introspect').serialise(number) for number in range(1, 3000))
                greeting = b'\\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\\r\\nBEGIN\\r\\n'
                deaf = []
                for number in range(3):
                    client = socket.socket(socket.AF_UNIX)
                    client.connect(path)
                    try: client.sendall(greeting + calls + b'X' * 64)
                    except (BrokenPipeError, ConnectionResetError): pass
                    # Nothing is read: only whether the other side has gone is looked at.
                    watched = select.poll()
                    watched.register(client, 0)
                    if watched.poll(30000): print('sent away')
                    deaf.append(client)
                assert [len(paths) for paths in service.SearchItems({'a': 'b'})] == [1, 0]
                print('done')
                """)
        #expect(
            outcome.status == 0 && outcome.text == "sent away\nsent away\nsent away\ndone\n",
            "\(outcome.text)\(outcome.errors)")
    }

    /// The folder keeps them out; this one is opened for the attack.
    @Test(.enabled(if: geteuid() == 0, "another user is somebody only for root"))
    func anotherUserIsNotServed() throws {
        let outcome = try exec(
            "/usr/bin/python3", "-c",
            SecretServiceScene.objects + """
                import os, socket
                path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('=', 1)[1]
                client = os.fork()
                if client == 0:
                    # Connected by root, so that the folder does not count; who it is counts by then.
                    folder = os.open(os.path.dirname(path), os.O_PATH)
                    os.chmod(os.path.dirname(path), 0o711); os.chmod(path, 0o777)
                    for parent in [os.path.dirname(os.path.dirname(path)), os.environ['HOME']]: os.chmod(parent, 0o711)
                    os.setgid(65534); os.setuid(65534)
                    other = socket.socket(socket.AF_UNIX)
                    other.connect(path)
                    other.settimeout(20)
                    try:
                        other.sendall(b'\\0AUTH EXTERNAL ' + b'65534'.hex().encode() + b'\\r\\n')
                        answer = other.recv(100)
                    except (BrokenPipeError, ConnectionResetError): answer = b''
                    os._exit(0 if answer == b'' else 1)
                assert os.waitstatus_to_exitcode(os.waitpid(client, 0)[1]) == 0
                assert len(service.SearchItems(dbus.Dictionary({}, signature='ss'))) == 2
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    @Test func whatIsNotThereIsSaid() throws {
        let missing = try exec("/no/such/program")
        #expect(missing.status == 127 && missing.errors.contains("cannot be started"), "\(missing.errors)")
        let none = try programs.latchkey("secret-service", "exec")
        #expect(none.status == 2 && none.errors.contains("after --"), "\(none.errors)")
    }

    /// Of a temporary keychain nothing is left.
    @Test func withinATemporaryKeychainItServesThat() throws {
        let outcome = try programs.latchkey(
            "temp", "--", BuiltPrograms.latchkey, "secret-service", "exec", "--", "/bin/sh", "-c",
            "printf v | secret-tool store --label=L a b && secret-tool lookup a b")
        #expect(outcome.text == "v", "\(outcome.errors)")
        #expect(try programs.latchkey("list").text == "")
    }
}
