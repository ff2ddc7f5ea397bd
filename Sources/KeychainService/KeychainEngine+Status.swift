internal import Enclave
package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// What the keychain says about itself to a caller; counts are of the
    /// caller's own groups.
    package func status(for entitlements: Entitlements) throws(KeychainError) -> KeychainStatus {
        try refuseIfMalformed()
        do throws(KeychainError) { return try currentStatus(for: entitlements) } catch {
            throw noteMalformation(error)
        }
    }

    private func currentStatus(for entitlements: Entitlements) throws(KeychainError) -> KeychainStatus {
        let description = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        let reach = AuthorizedQuery.Reach.only(
            entitlements.accessGroups + entitlements.nameableGroups.map { AccessGroup($0) })
        var status = KeychainStatus()
        status.dataDirectory = dataDirectory
        status.storeID = storeID
        status.storeFormat = StoreSchema.format
        status.hasPasscode = description.state.hasPasscode
        status.protectors = description.protectors
        status.slots = description.slots
        status.startRefusal = description.startRefusal
        status.loginsFault = description.loginsFault
        status.unrepairedFiles = description.unrepairedFiles
        status.openClasses = description.state.openClasses
        status.memoryLocked = description.memoryLocked && SecretArena.shared.isLocked
        status.daemonProcess = ProcessEnvironment.processID
        status.enclaveProcess = description.processID
        status.enclaveMeasures = description.measures
        try store.read { reader throws(KeychainError) in
            for itemClass in ItemClass.stored {
                status.items[itemClass] = try reader.count(of: itemClass, in: reach, blind: blind)
            }
            status.damaged = try reader.damagedCount()
        }
        return status
    }
}
