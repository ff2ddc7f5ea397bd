internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

/// One open class key. (A reference, because a dictionary cannot hold a
/// noncopyable owner; the bytes are wiped with the last one.)
final class ClassKey: Sendable {
    let protectionClass: ProtectionClass
    let generation: UInt32
    let key: SealingKey

    init(_ protectionClass: ProtectionClass, generation: UInt32, key: consuming SealingKey) {
        self.protectionClass = protectionClass
        self.generation = generation
        self.key = key
    }
}

/// The class keys that are open now, among those that exist.
struct KeyRing: Sendable {
    /// What looking for a key brought.
    enum Found: Sendable {
        case key(ClassKey)
        /// There is one, and it is closed.
        case locked
        /// There is none of this class.
        case noClassKey
        /// The class is open and has no key of that generation.
        case unknownGeneration
        /// There was one, and nobody has it any more.
        case effaced
    }

    private let existing: Set<ProtectionClass>
    private let effacedBelow: UInt32
    private let isUnlocked: Bool
    private let open: [ProtectionClass: [UInt32: ClassKey]]
    private let newest: [ProtectionClass: ClassKey]

    /// - Parameter isUnlocked: whether everything is open that can be.
    init(of body: KeybagBody, open keys: [ClassKey], isUnlocked: Bool) {
        self.isUnlocked = isUnlocked
        existing = Set(body.classKeys.map(\.protectionClass))
        effacedBelow = body.effacedBelow
        let byClass = Dictionary(grouping: keys, by: \.protectionClass)
        open = byClass.mapValues { keys in
            Dictionary(keys.map { ($0.generation, $0) }, uniquingKeysWith: { first, _ in first })
        }
        newest = byClass.compactMapValues { keys in keys.max { $0.generation < $1.generation } }
    }

    var openClasses: Set<ProtectionClass> { Set(newest.keys) }

    /// The newest key of a class: what new keys are wrapped under.
    func current(_ protectionClass: ProtectionClass) -> Found {
        newest[protectionClass].map { .key($0) } ?? closed(protectionClass)
    }

    func key(_ protectionClass: ProtectionClass, generation: UInt32) -> Found {
        if protectionClass == .whenPasscodeSetThisDeviceOnly, (1..<effacedBelow).contains(generation) {
            return .effaced
        }
        guard let generations = open[protectionClass] else {
            // Its other half is lost (a backup has none): as if it were effaced.
            if case .noClassKey = closed(protectionClass), existing.contains(protectionClass) { return .effaced }
            return closed(protectionClass)
        }
        return generations[generation].map { .key($0) } ?? .unknownGeneration
    }

    private func closed(_ protectionClass: ProtectionClass) -> Found {
        existing.contains(protectionClass) && !isUnlocked ? .locked : .noClassKey
    }
}
