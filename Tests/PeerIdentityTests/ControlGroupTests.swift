import KeychainModel
import Testing

@testable import PeerIdentity

/// Every form of /proc/PID/cgroup, and what each is worth.
struct ControlGroupTests {
    private static let hybrid = """
        12:pids:/user.slice/user-1000.slice
        11:name=systemd:/system.slice/forged.service
        1:memory:/system.slice/forged.service

        """

    private func group(_ unified: String, hybrid: Bool = false) -> ControlGroup? {
        ControlGroup(file: Array(((hybrid ? Self.hybrid : "") + "0::\(unified)\n").utf8))
    }

    @Test(arguments: [
        ("/system.slice/nginx.service", "nginx"),
        ("/system.slice/nginx.service/worker", "nginx"),
        ("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1"),
        ("/system.slice/system-a.slice/system-a-b.slice/x.service", "x"),
        ("/system.slice/dbus-broker.service", "dbus-broker"),
        ("/system.slice/a\\x2db.service", "a\\x2db"),
    ])
    func aServiceOfTheSystemIsFound(_ path: String, _ name: String) {
        #expect(group(path)?.systemService == name)
        #expect(group(path, hybrid: true)?.systemService == name, "hybrid layout")
    }

    @Test(arguments: [
        "/", "/system.slice", "/system.slice/nginx.scope", "/system.slice/.service", "/nginx.service",
        "/user.slice/user-1000.slice/user@1000.service/system.slice/nginx.service",
        "/user.slice/user-1000.slice/session-1.scope", "/../system.slice/nginx.service", "/custom.slice/nginx.service",
        "/system.slice/docker-0123.scope/system.slice/x.service", "/system.slice/nginx.service (deleted)",
        "/system.slice/init.scope", "/init.scope", "/system.slice/a b.service", "/system.slice/a\u{1}.service",
        "/System.slice/x.service", "/system.slice/unified/x.service", "/lxc.payload.a/system.slice/x.service",
    ])
    func nothingElseIsAServiceOfTheSystem(_ path: String) {
        #expect(group(path)?.systemService == nil)
        #expect(group(path, hybrid: true)?.systemService == nil, "hybrid layout")
    }

    @Test func onlyTheUnifiedHierarchyIsRead() {
        #expect(ControlGroup(file: Array(Self.hybrid.utf8)) == nil)
        #expect(ControlGroup(file: []) == nil)
        #expect(ControlGroup(file: Array("0::\n".utf8)) == nil)
        #expect(ControlGroup(file: Array("10::/system.slice/x.service\n".utf8)) == nil)
        #expect(ControlGroup(file: Array("0:name:/system.slice/x.service\n".utf8)) == nil)
        #expect(ControlGroup(file: [0x30, 0x3A, 0x3A, 0x2F, 0xFF, 0x0A]) == nil, "not UTF-8")
    }

    @Test(arguments: [
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/syncthing.service", "syncthing"),
        ("/user.slice/user-1000.slice/user@1000.service/session.slice/pipewire.service/x", "pipewire"),
        ("/user.slice/user-1000.slice/user@1000.service/backup@home.service", "backup@home"),
    ])
    func aServiceOfTheUserIsFoundForThatUserAlone(_ path: String, _ name: String) {
        #expect(group(path)?.userService(of: 1000) == name)
        #expect(group(path)?.userService(of: 100) == nil)
        #expect(group(path)?.systemService == nil)
    }

    /// Units that a desktop makes for each start of a program.
    @Test(arguments: [
        "app.slice/app-gnome-org.gnome.Terminal-1234.scope", "app.slice/app-org.kde.konsole@0123.service",
        "app.slice/vte-spawn-0123.scope", "session.slice/dbus.service", "app.slice/dbus-:1.2-org.gnome.X@0.service",
        "session.slice/dbus-broker.service", "init.scope",
    ])
    func unitsOfOneStartGiveNoRung(_ unit: String) {
        #expect(group("/user.slice/user-1000.slice/user@1000.service/\(unit)")?.userService(of: 1000) == nil)
    }

    @Test func aSnapIsFoundByItsScopeOrService() {
        let user = "/user.slice/user-1000.slice/user@1000.service/app.slice/"
        #expect(group(user + "snap.firefox.firefox-6a3f.scope")?.snap == "firefox")
        #expect(group(user + "snap.firefox.firefox.6a3f.scope")?.snap == "firefox")
        #expect(group(user + "snap.hello_2.hello-6a3f.scope")?.snap == "hello_2")
        #expect(group("/system.slice/snap.lxd.daemon.service")?.snap == "lxd")
        #expect(group(user + "snap.Fire.fox-1.scope")?.snap == nil)
        #expect(group(user + "snap..x.scope")?.snap == nil)
        #expect(group(user + "snap.scope")?.snap == nil)
        #expect(group(user + "snap.a.slice")?.snap == nil)
    }
}
