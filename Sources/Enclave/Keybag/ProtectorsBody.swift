internal import FoundationEssentials
internal import KeychainMessages
internal import SwiftProtobuf

/// A kind of protector: what the root key is bound to.
enum ProtectorKind: Hashable, Sendable {
    /// A random secret in a file beside it: binds to nothing.
    case softwareFile
    /// Of a newer program: opens nothing here.
    case unknown(String)

    init(name: String) { self = name == "software-file" ? .softwareFile : .unknown(name) }

    var name: String {
        switch self {
        case .softwareFile: "software-file"
        case .unknown(let name): name
        }
    }
}

/// What the file `protectors` says: the store, and the root key as each
/// protector wraps it.
struct ProtectorsBody: Hashable, Sendable {
    struct Protector: Hashable, Sendable {
        let kind: ProtectorKind
        let identifier: [UInt8]
        let wrappedRoot: [UInt8]
    }

    let store: StoreID
    let protectors: [Protector]

    static let mostProtectors = 16

    init(store: StoreID, protectors: [Protector]) {
        self.store = store
        self.protectors = protectors
    }

    /// nil for anything that a program of this version does not write.
    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_ProtectorsBody.self, bytes),
            let store = StoreID(Array(message.storeID)),
            (1...Self.mostProtectors).contains(message.protectors.count)
        else { return nil }
        self.store = store
        protectors = message.protectors.map {
            Protector(
                kind: ProtectorKind(name: $0.kind), identifier: Array($0.identifier),
                wrappedRoot: Array($0.wrappedRoot))
        }
        guard protectors.allSatisfy(\.isWellFormed) else { return nil }
    }

    var encoded: [UInt8] {
        var message = Latchkey_ProtectorsBody()
        message.storeID = Data(store.bytes)
        message.protectors = protectors.map { protector in
            var one = Latchkey_ProtectorsBody.Protector()
            one.kind = protector.kind.name
            one.identifier = Data(protector.identifier)
            one.wrappedRoot = Data(protector.wrappedRoot)
            return one
        }
        return MessageCoding.encode(message)
    }
}

extension ProtectorsBody.Protector {
    /// What holds for every kind; how long another kind's box is, is its own affair.
    fileprivate var isWellFormed: Bool {
        let isOfKnownSize = kind != .softwareFile || wrappedRoot.count == WrappedKey.boxByteCount
        return identifier.count == SoftwareSecret.identifierCount && isOfKnownSize
    }
}
