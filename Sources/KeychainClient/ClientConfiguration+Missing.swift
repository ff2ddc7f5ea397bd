internal import KeychainPlatform
internal import KeychainProtocol

extension ClientConfiguration {
    /// The folder of a keychain of one's own where none was made yet; nil: it was, or the
    /// keychain is not one's own to look for. For whoever only looks, and is to make none.
    package var missingKeychain: String? {
        guard case .store(let locations, _) = target else { return nil }
        let folder = FilePath(locations.dataDirectory)
        // Without its database, which can be set aside, it has its enclave's folder still; a restore
        // that was cut short is carried on by whoever opens it.
        guard isMissing(folder.appending(KeychainLocations.databaseName)),
            isMissing(folder.appending(EnclaveRendezvous.folderName)),
            isMissing(folder.appending(KeychainLocations.restoredName)), !hasDaemon(locations.dataDirectory)
        else { return nil }
        return locations.dataDirectory
    }

    /// One that runs has what was removed from beneath it.
    private func hasDaemon(_ path: String) -> Bool {
        do { return try Rendezvous.present(in: PrivateDirectory(path, creating: false)) != nil } catch { return false }
    }

    private func isMissing(_ path: FilePath) -> Bool {
        do throws(SystemCallError) {
            _ = try FileStatus(at: path, followingLink: false)
            return false
        } catch { return error.isNoSuchFile }
    }
}
