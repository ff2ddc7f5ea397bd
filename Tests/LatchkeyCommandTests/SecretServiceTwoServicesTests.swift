import Foundation
import KeychainTestSupport
import Testing

/// One keychain and two services, as where somebody has two sessions, or
/// `latchkey secret-service exec` beside the desktop's.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceTwoServicesTests {
    private let scene: SecretServiceScene
    private let other: SecretServiceScene

    init() throws {
        scene = try SecretServiceScene()
        other = try SecretServiceScene(beside: scene)
    }

    /// Both have read which collections there are; each makes one of the same label.
    @Test func eachMakesACollectionOfItsOwn() throws {
        let made = try both(
            """
            for number in range(6):
                path, _ = service.CreateCollection(props(S + 'Collection.Label', 'Work'), '')
                attributes = dbus.Dictionary({'by': WHO, 'n': str(number)}, signature='ss')
                at(path, S + 'Collection').CreateItem(
                    props(S + 'Item.Attributes', attributes), secret(session(), b'v'), False)
                print(path)
            """)
        let paths = made.flatMap { $0.split(separator: "\n") }
        #expect(paths.count == 12 && Set(paths).count == 12, "\(paths)")
        // Who deletes its own takes nothing of the other's.
        let deleted = try scene.python(
            SecretServiceScene.objects
                + "for path in '''\(made[0])'''.split(): at(path, S + 'Collection').Delete()")
        #expect(deleted.status == 0, "\(deleted.errors)")
        let left = try other.python(
            SecretServiceScene.objects
                + """
                print(len(service.SearchItems({'by': 'second'})[0]))
                found = at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')
                print(sorted('''\(made[1])'''.split()) == sorted(p for p in found if 'Work' in p))
                """)
        #expect(left.text == "6\nTrue\n", "\(left.text)\(left.errors)")
    }

    @Test func anAliasStandsForOneOfThem() throws {
        let made = try both(
            """
            for number in range(6):
                print(service.CreateCollection(props(S + 'Collection.Label', 'Both'), 'both%d' % number)[0])
            """)
        #expect(made[0] == made[1] && Set(made[0].split(separator: "\n")).count == 6, "\(made)")
    }

    /// What the two say who run it at the same time, each on its bus.
    private func both(_ script: String) throws -> [String] {
        let scenes = [(scene, "first"), (other, "second")]
        let running = try scenes.map { scene, name in
            let process = scene.programs.start(
                "/usr/bin/python3",
                ["-c", SecretServiceScene.objects + "WHO = '\(name)'\nservice.SearchItems({'a': 'b'})\n" + script],
                changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            return (process, pipe)
        }
        return running.map { process, pipe in
            let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return text
        }
    }
}
