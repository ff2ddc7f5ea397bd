internal import KeychainPlatform

/// Where in the control-group hierarchy a process is (cgroups(7)).
///
/// systemd gives each unit a folder of its own. Only root can move a process
/// into one below `/system.slice`; a user's own manager, and so every program of
/// that user, can do as it likes below `/user.slice/user-UID.slice/user@UID.service`.
struct ControlGroup: Hashable, Sendable {
    let components: [String]

    /// Reads `/proc/PID/cgroup`: of its lines only `0::PATH`, the unified
    /// hierarchy. The others (version 1) can be owned by anybody root pleased.
    init?(file text: [UInt8]) {
        let label = Array("0::/".utf8)
        guard let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: label) }),
            let path = FilePath(bytes: Array(line.dropFirst(3))).printable
        else { return nil }
        components = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    }

    /// NAME of `/system.slice/[*.slice/]NAME.service`.
    ///
    /// Services only: a scope holds processes that somebody else started
    /// (sessions, containers), whose programs it says nothing about.
    var systemService: String? {
        guard components.first == "system.slice" else { return nil }
        return Self.service(in: components.dropFirst())
    }

    /// NAME of a service of the user's own manager.
    ///
    /// Units that desktops make for each start of a program are left out: their
    /// names differ from start to start or name the program that started this
    /// one (`app-*`, `dbus*`), and a group of such a name would lose its items.
    func userService(of userID: UInt32) -> String? {
        guard components.starts(with: ["user.slice", "user-\(userID).slice", "user@\(userID).service"]),
            let name = Self.service(in: components.dropFirst(3)),
            !name.hasPrefix("app-"), !name.hasPrefix("dbus")
        else { return nil }
        return name
    }

    /// NAME of a component `snap.NAME.….scope` or `snap.NAME.….service`.
    var snap: String? {
        for component in components where component.hasPrefix("snap.") {
            guard component.hasSuffix(".scope") || component.hasSuffix(".service") else { continue }
            let parts = component.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count >= 4, Self.isSnapName(parts[1]) else { continue }
            return String(parts[1])
        }
        return nil
    }

    private static func service(in path: ArraySlice<String>) -> String? {
        let suffix = ".service"
        guard let unit = path.drop(while: { $0.hasSuffix(".slice") }).first, unit.hasSuffix(suffix) else { return nil }
        let name = unit.dropLast(suffix.count)
        guard !name.isEmpty, unit.utf8.count <= 255, name.utf8.allSatisfy(isUnitNameByte) else { return nil }
        return String(name)
    }

    /// systemd.unit(5): ASCII letters, digits, ":", "-", "_", ".", "\", and "@".
    private static func isUnitNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array(":-_.\\@".utf8).contains(byte)
        }
    }

    /// snapd: lower case letters, digits and dashes, and "_key" of a parallel instance.
    private static func isSnapName(_ name: Substring) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 51 else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
        }
    }
}
