package import KeychainModel
package import KeychainPlatform

extension RemotePersonDoor {
    /// The enclave of a data folder that is at work now.
    ///
    /// - Throws: `errSecNotAvailable`, also where another user owns what is there.
    package static func present(
        inData path: String, clock: any KeychainClock
    ) throws(KeychainError) -> RemotePersonDoor {
        guard let last = EnclaveRendezvous.last(inData: path) else {
            throw KeychainError(
                .notAvailable, reason: .enclaveUnreachable,
                underlying: "\(path)/\(EnclaveRendezvous.folderName) names none, or is not yours alone")
        }
        return try RemotePersonDoor(runDirectory: last.runDirectory, process: last.processID, clock: clock)
    }
}
