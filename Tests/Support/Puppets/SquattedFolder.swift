internal import Glibc
internal import KeychainPlatform

/// What may lie where a run folder should be.
package enum SquattedFolder: String, CaseIterable, Sendable {
    case symbolicLink, openMode, foreignOwner, file

    /// Only root makes folders of other users.
    package static let possible = geteuid() == 0 ? allCases : allCases.filter { $0 != .foreignOwner }

    /// What the refusal has to say.
    package var complaint: String {
        switch self {
        case .symbolicLink, .file: "symbolic link"
        case .openMode: "mode 755"
        case .foreignOwner: "belongs to user 65534"
        }
    }

    /// - Parameter target: where a link leads: a folder of the test's user.
    package func lay(at path: String, target: String) throws {
        switch self {
        case .symbolicLink:
            _ = unsafe mkdir(target, 0o700)
            try Self.check(unsafe symlink(target, path))
        case .file:
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            try Self.check(file)
            close(file)
        case .openMode:
            try Self.check(unsafe mkdir(path, 0o700))
            try Self.check(unsafe chmod(path, 0o755))
        case .foreignOwner:
            try Self.check(unsafe mkdir(path, 0o700))
            try Self.check(unsafe chown(path, 65534, 65534))
        }
    }

    private static func check(_ result: Int32) throws {
        guard result >= 0 else { throw SystemCallError("squat", errno: errno) }
    }
}
