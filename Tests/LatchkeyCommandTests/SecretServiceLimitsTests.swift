import Foundation
import KeychainTestSupport
import Testing

/// What a client gets that asks for more than anybody needs, and that others are served beside it.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceLimitsTests {
    private let scene: SecretServiceScene

    init() throws { scene = try SecretServiceScene() }

    private func python(_ text: String) throws {
        let outcome = try scene.client("/usr/bin/python3", ["-c", SecretServiceScene.objects + text])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// In bytes ("VmHWM" of proc_pid_status(5)).
    private func peakMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(scene.service.processIdentifier)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter { $0.isNumber })) << 10
    }

    /// Of one connection the 4 096 that were used last are kept.
    @Test func whoOpensSessionsWithoutEndEndsItsOwnOldestOnes() throws {
        try python("session()")
        let before = try peakMemory()
        try python(
            """
            from dbus.bus import BusConnection
            from dbus.lowlevel import MethodCallMessage
            import os
            other = session()
            many = BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS'])
            paths, waiting = [], []
            def opened(answer): paths.append(answer.get_args_list()[1])
            for number in range(100_000):
                call = MethodCallMessage(NAME, ROOT, S + 'Service', 'OpenSession')
                call.append('plain', dbus.String('', variant_level=1), signature='sv')
                waiting.append(many.send_message_with_reply(call, opened, timeout_s=300))
                if len(waiting) == 100:
                    for one in waiting: one.block()
                    waiting = []
            assert len(set(paths)) == 100_000
            def close(path): many.call_blocking(NAME, path, S + 'Session', 'Close', '', ())
            refused('org.freedesktop.DBus.Error.UnknownMethod', close, paths[-4097])
            close(paths[-4096])
            close(paths[-1])
            # Another's are its own.
            at(other, S + 'Session').Close()
            """)
        #expect(try peakMemory() < before + 32 << 20)
    }

    /// Of one connection eight; the oldest that it has not shown makes room.
    @Test func whoAsksForPromptsWithoutEndEndsItsOwnOldestOnes() throws {
        try scene.setPasscode("words words")
        try scene.lock()
        try python(
            """
            # Who looks first gets a prompt that nobody is shown.
            props = dbus.Interface(bus.get_object(NAME, LOGIN, introspect=False), dbus.PROPERTIES_IFACE)
            assert props.Get(S + 'Collection', 'Locked')
            prompts = [service.Unlock([LOGIN])[1] for _ in range(2_000)]
            assert '/' not in prompts and len(set(prompts)) == 2_000
            def dismiss(path): at(path, S + 'Prompt').Dismiss()
            refused('org.freedesktop.DBus.Error.UnknownMethod', dismiss, prompts[-9])
            for path in prompts[-8:]: dismiss(path)
            """)
    }

    @Test func whatNoItemCanHaveIsRefusedByItsName() throws {
        try python(
            """
            LIMITS = 'org.freedesktop.DBus.Error.LimitsExceeded'
            s = session()
            login = at(LOGIN, S + 'Collection')
            def create(label, attributes):
                content = props(S + 'Item.Label', label, S + 'Item.Attributes',
                                dbus.Dictionary(attributes, signature='ss'))
                return login.CreateItem(content, secret(s, b'v'), False)
            refused(LIMITS, create, 'x' * (1 << 20), {'a': 'b'})
            refused(LIMITS, create, 'L', {str(n): 'v' for n in range(10_000)})
            refused(LIMITS, create, 'L', {'a': 'x' * (1 << 20)})
            refused(LIMITS, create, 'L', {str(n): 'x' * 8_000 for n in range(256)})
            refused(LIMITS, service.SearchItems, {str(n): 'v' for n in range(10_000)})
            refused(LIMITS, service.SearchItems, {'a': 'x' * ((1 << 20) + 1)})
            assert service.SearchItems({'a': 'b'}) == ([], [])
            def said(what, call, *arguments):
                try: call(*arguments)
                except dbus.DBusException as error: assert what in error.get_dbus_message(), error
                else: raise SystemExit(what + ' was expected')
            said('the label has ', create, 'x' * (1 << 20), {'a': 'b'})
            said('the list of attributes has ', create, 'L', {'a': 'x' * (1 << 17)})
            said('the schema among them', create, 'L', {str(n): 'v' for n in range(256)})
            create('L', {str(n): 'v' for n in range(255)})
            create('L', {'a': 'b'})
            assert len(service.SearchItems({'a': 'b'})[0]) == 1
            """)
    }

    /// In twelve collections, of two classes each, more than one request of the daemon holds.
    @Test func aLongSearchOverManyCollectionsIsAnswered() throws {
        try python(
            """
            s = session()
            made = []
            for number in range(11):
                label = dbus.Dictionary({S + 'Collection.Label': f'c{number}'}, signature='sv')
                made.append(service.CreateCollection(label, '')[0])
            long = {f'name {n}': 'v' * 200 for n in range(250)}
            def create(collection, attributes):
                content = props(S + 'Item.Label', 'L', S + 'Item.Attributes',
                                dbus.Dictionary(attributes, signature='ss'))
                return at(collection, S + 'Collection').CreateItem(content, secret(s, b'v'), False)[0]
            stored = [create(collection, long) for collection in (made[0], made[-1])]
            assert set(service.SearchItems(long)[0]) == set(stored)
            longer = {f'name {n}': 'v' * 3_000 for n in range(250)}
            assert service.SearchItems(longer) == ([], [])
            """)
    }
}
