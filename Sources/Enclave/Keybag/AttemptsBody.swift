internal import FoundationEssentials
internal import KeychainMessages

/// What the file `attempts` says.
struct AttemptsBody: Hashable, Sendable {
    let store: StoreID
    let failed: Int

    /// What a file is taken for that nobody of ours wrote.
    static let unbelievable = 5
    /// More make no difference.
    static let most = 1_000_000

    init(store: StoreID, failed: Int) {
        self.store = store
        self.failed = min(failed, Self.most)
    }

    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_AttemptsBody.self, bytes),
            let store = StoreID(Array(message.storeID)), message.failed <= Self.most
        else { return nil }
        self.init(store: store, failed: Int(message.failed))
    }

    var encoded: [UInt8] {
        var message = Latchkey_AttemptsBody()
        message.storeID = Data(store.bytes)
        message.failed = UInt32(failed)
        return MessageCoding.encode(message)
    }
}
