internal import KeychainPlatform

/// A folder for one socket whose path others have to write into an address.
enum SocketFolder {
    /// A socket's address has room for 107 bytes (unix(7)).
    private static let longestSocketPath = 107
    private static let letters = "-XXXXXX"

    /// In the first place that takes a folder; folders of that prefix that nobody uses any
    /// more are removed there.
    ///
    /// - Parameter socket: the socket's path below the folder.
    static func make(prefix: String, for socket: String) throws(CommandFailure) -> TemporaryFolder {
        var refusals: [String] = []
        for parent in parents
        where "\(parent)/\(prefix)\(letters)/\(socket)".utf8.count <= longestSocketPath {
            TemporaryFolder.sweep(parent, prefix: prefix)
            do throws(DirectoryRefusal) {
                return try TemporaryFolder.make(in: parent, prefix: prefix)
            } catch {
                refusals.append("\(error)")
            }
        }
        throw CommandFailure(
            .unavailable, "no folder for a socket can be made (\(refusals.joined(separator: "; ")))",
            "Set TMPDIR to a folder with a short path that you may write.")
    }

    private static var parents: [String] {
        var found: [String] = []
        if let runtime = ProcessEnvironment.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/"),
            PrivateDirectory.isUsable(runtime)
        {
            found.append(runtime)
        }
        if let temporary = ProcessEnvironment.variable("TMPDIR"), temporary.hasPrefix("/") { found.append(temporary) }
        return found + ["/tmp"]
    }
}
