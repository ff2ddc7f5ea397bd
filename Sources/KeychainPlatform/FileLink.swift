internal import Glibc

/// Symbolic links, by their paths.
package enum FileLink {
    /// Makes `path` lead to `target`, never over something that is there.
    ///
    /// - Throws: EEXIST where something is.
    package static func make(_ path: String, to target: String) throws(SystemCallError) {
        guard unsafe symlink(target, path) == 0 else { throw SystemCallError("symlink", errno: errno) }
    }

    /// What is at a path, as far as links go.
    package enum Finding: Sendable, Hashable {
        case nothing
        case link(to: FilePath)
        case somethingElse
    }

    package static func look(at path: FilePath) throws(SystemCallError) -> Finding {
        do throws(SystemCallError) {
            let folder = try Descriptor.look(at: path.folder ?? FilePath("."), .folder)
            return .link(to: try folder.linkTarget(FilePath(bytes: Array(path.name))))
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR: return .nothing
            case EINVAL: return .somethingElse
            default: throw error
            }
        }
    }
}
