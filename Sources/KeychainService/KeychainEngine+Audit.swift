package import Enclave
package import KeychainModel
internal import KeychainProtocol
internal import KeychainStore

// The audit record as the enclave authenticates it; whoever listens for programs keeps
// it (`AuditBook`).
extension KeychainEngine {
    package func sealAudit(
        _ records: [UInt8], fromFile lowest: UInt64
    ) throws(KeychainError) -> SealedAuditBlock? {
        try enclave.use { enclave throws(KeychainError) in try enclave.sealAudit(records, fromFile: lowest) }
    }

    package func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace? {
        try enclave.waitForDisk { enclave throws(KeychainError) in try enclave.confirmAudit(block) }
    }

    package func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError) {
        try enclave.waitForDisk { enclave throws(KeychainError) in try enclave.noteUnwritten(count, by: teller) }
    }

    package func auditHead(settled: Bool) throws(KeychainError) -> AuditPlace? {
        try enclave.use { enclave throws(KeychainError) in try enclave.auditHead(settled: settled) }
    }

    package func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) throws(KeychainError) -> AuditOpening {
        try enclave.use { enclave throws(KeychainError) in try enclave.openAudit(boxes, from: first) }
    }

    /// What stands for an item's names in the record.
    ///
    /// - Parameter account: nil: whatever account it has.
    package func auditDigest(_ itemClass: ItemClass, name: String, account: String?) -> [UInt8] {
        blind.auditDigest(itemClass, name: name, account: account)
    }

    /// Above it, older lines show digests.
    private static let mostAuditNames = 16_384
    /// Bytes of all names together, and of one item's: an answer has no more than 4 MiB.
    private static let mostAuditNameBytes = 1 << 20
    private static let longestAuditName = 1024

    /// The items that are there and open now, by what stands for them in the record.
    package func auditNames() throws(KeychainError) -> [AuditPage.Name] {
        var names: [AuditPage.Name] = []
        var bytes = 0
        for itemClass in ItemClass.stored {
            let code = AuditNames.nameCode(of: itemClass)
            for item in try all(Query(everythingIn: itemClass)) where names.count < Self.mostAuditNames {
                let name = item.attributes[code]?.string ?? ""
                let account = item.attributes[.account]?.string ?? ""
                let group = item.attributes[.accessGroup]?.string ?? ""
                let size = name.utf8.count + account.utf8.count + group.utf8.count
                guard size <= Self.longestAuditName, bytes + size <= Self.mostAuditNameBytes else { continue }
                bytes += size
                names.append(
                    AuditPage.Name(
                        digest: auditDigest(itemClass, name: name, account: account),
                        names: AuditNames(itemClass: itemClass, name: name, account: account),
                        group: group))
            }
        }
        return names
    }
}
