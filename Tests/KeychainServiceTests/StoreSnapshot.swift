import Foundation
import KeychainModel
import KeychainStore
import KeychainTestSupport

/// The files of a store at one moment, made once and put into as many folders as there are tests
/// that begin with them.
struct StoreSnapshot: Sendable {
    /// By their paths in the folder.
    let files: [String: Data]

    /// Of one that was closed, or as a kill would leave it.
    init(of folder: TemporaryDirectory) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            [Store.fileName, Store.fileName + "-wal", Store.witnessName].contains(name)
                || name.hasPrefix("enclave/") && name != "enclave/lock"
        }
        // A folder has no content.
        files = Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                FileManager.default.contents(atPath: folder.path(name)).map { (name, $0) }
            })
    }

    func put(into folder: TemporaryDirectory) throws {
        for (name, content) in files {
            let url = URL(fileURLWithPath: folder.path(name))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try content.write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        }
    }
}
