internal import KeychainModel
internal import KeychainPlatform

/// What lies in the place of a file of the store and is none: SQLite follows a link, waits for a
/// pipe, and calls a folder a broken disk or a damaged database.
enum StoreFileKind {
    private static let names = ["", "-wal", "-shm"].map { Store.fileName + $0 }

    /// - Throws: `folderUnusable`; nothing is damaged, and nothing was touched.
    static func refuseStrangers(in directory: PrivateDirectory) throws(KeychainError) {
        for name in names {
            let isStrange = try looking(at: name, in: directory) { () throws(SystemCallError) in
                guard try directory.holds(name) else { return false }
                return try !FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false).isRegularFile
            }
            guard isStrange else { continue }
            throw KeychainError(.notAvailable, reason: .folderUnusable(why: why("\(directory.path)/\(name)")))
        }
    }

    /// What is the matter with a path at which no file lies, and what to do.
    static func why(_ path: String) -> String {
        let remedy =
            path.hasSuffix("-shm") ? "remove it, it is made anew" : "put the file itself there, or move it away"
        return "\(path) is a link, a folder or a pipe, and no file: \(remedy)"
    }
}
