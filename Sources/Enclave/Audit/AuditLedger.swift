internal import KeychainCrypto
internal import KeychainPlatform

/// What a running enclave knows of the audit record.
struct AuditLedger: Sendable {
    /// A block that was given out and is not known to be on the disk.
    struct Pending: Sendable {
        let digest: [UInt8]
        let mark: AuditWitness.Mark
    }

    /// Up to where somebody read: what follows costs one step a block.
    struct Cursor: Sendable {
        let place: AuditPlace
        let key: SharedSecret
    }

    /// Where the record stands, the key that says so on the disk, and in which place.
    struct Held: Sendable {
        var head: AuditHead
        let key: SharedSecret
        var place: Int
    }

    /// nil: no chain was begun, or nothing on the disk says where it stands.
    var held: Held?
    var witness = AuditWitness()
    var pending: Pending?
    /// Of a block that is on the disk: being written, and maybe written.
    var confirming: AuditConfirmation?
    /// Goes with a lock.
    var cursor: Cursor?
    /// What the daemon says that it cannot write: lost once another one speaks in its place.
    private var waiting: (count: UInt64, teller: UInt64) = (0, 0)

    /// What the disk says of the newest chain.
    init(_ chain: AuditChain?, places: [[UInt8]], root: borrowing RootKey, of store: StoreID) throws(KeybagError) {
        guard let chain, !chain.wrappedStateKey.isEmpty else { return }
        let key = try chain.stateKey(under: root, of: store)
        for (index, place) in places.enumerated() {
            guard let head = AuditHead(place, chain: chain.identifier, under: key, of: store),
                head.generation > held?.head.generation ?? 0
            else { continue }
            held = Held(head: head, key: key, place: index)
        }
        guard let lack = held?.head.lack else { return }
        witness.lose(lack.lost)
        // Whoever has it may live: this process is another one, the daemon perhaps not.
        waiting = (min(lack.waiting, AuditWitness.mostLost), lack.teller)
    }

    /// What the record lacks once a block is on the disk that says so of a part of it.
    func lack(saying said: UInt64 = 0) -> AuditLack {
        AuditLack(
            lost: witness.dropped - min(said, witness.dropped), waiting: waiting.count,
            teller: waiting.count == 0 ? 0 : waiting.teller)
    }

    /// - Parameter teller: the daemon; what another told before is lost.
    mutating func hear(unwritten count: UInt64, from teller: UInt64) {
        if waiting.teller != teller { witness.lose(waiting.count) }
        waiting = (min(count, AuditWitness.mostLost), teller)
    }

    /// The place that does not say what counts now.
    var freePlace: Int { held.map { (1 + $0.place) % AuditHead.placeCount } ?? 0 }
}
