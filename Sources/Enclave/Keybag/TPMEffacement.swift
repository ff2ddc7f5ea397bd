internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainMessages
internal import KeychainPlatform
internal import KeychainProtocol

/// What a TPM has of effacement secrets, as the keybag says it.
///
/// The password of an index is wrapped under the person key, so that nothing reads the
/// secret before a person has opened a slot: not another user of the TPM, and not a
/// program of ours that has the keybag and its root key.
struct TPMEffacement: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        let index: TPMIndex
        let wrappedPassword: [UInt8]

        init(_ index: TPMIndex, wrappedPassword: [UInt8]) {
            self.index = index
            self.wrappedPassword = wrappedPassword
        }
    }

    /// Where the secret lies; nil: in the file.
    var place: Place?
    /// What is to be destroyed, until it is: secrets that went, and a place that was to be
    /// made and that the keybag does not name yet.
    var undefining: [TPMIndex] = []

    /// No more are begun; and a keybag has no more than ``most``.
    static let mostBegun = 8
    private static let most = 16

    init() {}

    var isEmpty: Bool { place == nil && undefining.isEmpty }

    /// nil for what no program of ours writes.
    init?(_ message: Latchkey_KeybagBody.TPMEffacement) {
        undefining = message.undefining.compactMap { TPMIndex($0) }
        guard undefining.count == message.undefining.count, undefining.count <= Self.most else { return nil }
        guard message.hasIndex else {
            guard message.wrappedPassword.isEmpty else { return nil }
            return
        }
        guard let index = TPMIndex(message.index),
            message.wrappedPassword.count == WrappedKey.boxByteCount,
            !undefining.contains(where: { $0.isSame(as: index) })
        else { return nil }
        place = Place(index, wrappedPassword: Array(message.wrappedPassword))
    }

    var message: Latchkey_KeybagBody.TPMEffacement {
        var message = Latchkey_KeybagBody.TPMEffacement()
        if let place {
            message.index = place.index.message
            message.wrappedPassword = Data(place.wrappedPassword)
        }
        message.undefining = undefining.map(\.message)
        return message
    }

    /// Its secret is to go, and another may have come: in a place that was announced, or in
    /// the file.
    mutating func replacePlace(by new: Place?) {
        if let place { undefining.append(place.index) }
        place = new
        guard let index = new?.index else { return }
        undefining.removeAll { $0.isSame(as: index) }
    }
}

/// Where another effacement secret is to lie.
enum NewEffacement: Sendable {
    case file
    /// The present one is given up, wherever it is, and what it opened with it.
    case fileInPlaceOfLost
    /// Written there already.
    case tpm(EffacementSecret, TPMIndex, password: SharedSecret)

    /// One that is there already.
    fileprivate var secret: EffacementSecret? {
        switch self {
        case .file, .fileInPlaceOfLost: nil
        case .tpm(let secret, _, _): secret
        }
    }

    /// Whether what the present one opens goes on elsewhere.
    var moves: Bool { !givesUp }

    /// Whether the present one need not be there.
    var givesUp: Bool { if case .fileInPlaceOfLost = self { true } else { false } }

    /// The secret that a change brings.
    static func secret(of new: NewEffacement?) -> EffacementSecret { new?.secret ?? .random() }
}
