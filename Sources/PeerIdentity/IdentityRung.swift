package import KeychainModel

/// One thing that the system vouches for about a program, with the access group
/// that it gives.
///
/// Two worths are told apart. Evidence **contains** where it limits what this
/// program reaches, because the program cannot shed it. Evidence
/// **authenticates** where it keeps other programs of the same user from posing
/// as this one. Most evidence on Linux does neither; it still sorts items.
package enum IdentityRung: Hashable, Sendable {
    /// A system unit that has a user of its own. Only root can move a process
    /// there, and nobody else's process has the rights to steer one.
    case systemUnit(String)
    /// A sandbox by Flatpak; any program of the user can make one that looks the same.
    case flatpak(application: String)
    /// A snap; its control group can be made by any program of the user.
    case snap(String)
    /// A service of the user's own manager, which any program of the user commands.
    case userUnit(String)
    /// An executable that only root can replace. What it runs with (LD_PRELOAD,
    /// arguments, a tracer) is its starter's choice: for prompts and the log.
    case executable(String)
    /// The bundle identifier that an Info.plist beside the executable claims.
    case bundle(String)
    /// A digest of the executable's path.
    case path(digest: String)
    /// A process that may not be looked at.
    case unreadable
    /// A process among other files than ours, of which nothing says what holds it. It has no
    /// access group of its own.
    case foreign

    /// The access group of this rung. No two kinds share a name: a unit's name
    /// holds no "/", a bundle identifier has a dot and a digest has none.
    package var group: AccessGroup { AccessGroup(groupName) }

    package var groupName: String {
        switch self {
        case .systemUnit(let name): "unit.\(name)"
        case .userUnit(let name): "unit.user/\(name)"
        case .flatpak(let application): "flatpak.\(application)"
        case .snap(let name): "snap.\(name)"
        case .executable(let path): "exe.\(path)"
        case .bundle(let identifier): "adhoc.\(identifier)"
        case .path(let digest): "adhoc.\(digest)"
        case .unreadable: "adhoc.unreadable"
        case .foreign: "adhoc.foreign"
        }
    }

    package var contains: Bool {
        switch self {
        case .systemUnit, .userUnit, .flatpak, .snap: true
        case .executable, .bundle, .path, .unreadable, .foreign: false
        }
    }

    package var authenticates: Bool {
        switch self {
        case .systemUnit: true
        case .userUnit, .flatpak, .snap, .executable, .bundle, .path, .unreadable, .foreign: false
        }
    }

    /// Whether it tells one program's items from those of others.
    package var hasGroup: Bool { self != .foreign }
}
