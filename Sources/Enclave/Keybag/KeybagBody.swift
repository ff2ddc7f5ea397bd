internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel

/// What a class key is wrapped under.
enum ClassKeyParent: String, Hashable, Sendable {
    /// The bag key: open while a slot is.
    case bag
    /// The root key alone: open always.
    case root

    /// Architecture, section 3; nil for akpu, which has no key before there is a passcode.
    init?(of protectionClass: ProtectionClass) {
        switch protectionClass {
        case .whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly:
            self = .bag
        case .always, .alwaysThisDeviceOnly: self = .root
        case .whenPasscodeSetThisDeviceOnly: return nil
        }
    }
}

/// A class key as it rests in the keybag.
struct WrappedClassKey: Hashable, Sendable {
    let protectionClass: ProtectionClass
    /// From 1; a new one where older wraps must lose their worth.
    let generation: UInt32
    let parent: ClassKeyParent
    let box: [UInt8]
}

/// What the file `keybag` says, every field checked.
struct KeybagBody: Hashable, Sendable {
    struct Slot: Hashable, Sendable {
        let kind: SlotKind
        let identifier: [UInt8]
        let wrappedBagKey: [UInt8]
    }

    let store: StoreID
    let slots: [Slot]
    let classKeys: [WrappedClassKey]
    let wrappedIndexKey: [UInt8]

    static let mostSlots = 16
    static let mostClassKeys = 1024
    static let slotIdentifierCount = 16

    init(store: StoreID, slots: [Slot], classKeys: [WrappedClassKey], wrappedIndexKey: [UInt8]) {
        self.store = store
        self.slots = slots
        self.classKeys = classKeys
        self.wrappedIndexKey = wrappedIndexKey
    }
}

extension KeybagBody {
    /// nil for anything that a program of this version does not write: an
    /// unknown class or parent, a class without key, a key twice.
    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_KeybagBody.self, bytes),
            let store = StoreID(Array(message.storeID)),
            message.slots.count <= Self.mostSlots, message.classKeys.count <= Self.mostClassKeys,
            message.wrappedIndexKey.count == WrappedKey.boxByteCount
        else { return nil }
        let slots = message.slots.compactMap(Slot.init)
        let classKeys = message.classKeys.compactMap(WrappedClassKey.init)
        guard slots.count == message.slots.count, classKeys.count == message.classKeys.count,
            Self.isComplete(classKeys)
        else { return nil }
        self.init(
            store: store, slots: slots, classKeys: classKeys, wrappedIndexKey: Array(message.wrappedIndexKey))
    }

    private static func isComplete(_ keys: [WrappedClassKey]) -> Bool {
        let names = Set(keys.map { UInt64($0.protectionClass.number) << 32 | UInt64($0.generation) })
        let classes = Set(keys.map(\.protectionClass))
        let needed = ProtectionClass.allCases.filter { ClassKeyParent(of: $0) != nil }
        return names.count == keys.count && classes == Set(needed)
    }

    var encoded: [UInt8] {
        var message = Latchkey_KeybagBody()
        message.storeID = Data(store.bytes)
        message.slots = slots.map(\.message)
        message.classKeys = classKeys.map(\.message)
        message.wrappedIndexKey = Data(wrappedIndexKey)
        return MessageCoding.encode(message)
    }
}

extension KeybagBody.Slot {
    fileprivate init?(_ message: Latchkey_KeybagBody.Slot) {
        kind = SlotKind(name: message.kind)
        identifier = Array(message.identifier)
        wrappedBagKey = Array(message.wrappedBagKey)
        let isOfKnownSize = kind != .open || wrappedBagKey.count == WrappedKey.boxByteCount
        guard identifier.count == KeybagBody.slotIdentifierCount, isOfKnownSize else { return nil }
    }

    fileprivate var message: Latchkey_KeybagBody.Slot {
        var message = Latchkey_KeybagBody.Slot()
        message.kind = kind.name
        message.identifier = Data(identifier)
        message.wrappedBagKey = Data(wrappedBagKey)
        return message
    }
}

extension WrappedClassKey {
    fileprivate init?(_ message: Latchkey_KeybagBody.WrappedClassKey) {
        guard let number = UInt8(exactly: message.classNumber), let named = ProtectionClass(number: number),
            let parent = ClassKeyParent(rawValue: message.wrappedBy), parent == ClassKeyParent(of: named),
            message.generation > 0, message.wrapped.count == WrappedKey.boxByteCount
        else { return nil }
        self.init(
            protectionClass: named, generation: message.generation, parent: parent, box: Array(message.wrapped))
    }

    fileprivate var message: Latchkey_KeybagBody.WrappedClassKey {
        var message = Latchkey_KeybagBody.WrappedClassKey()
        message.classNumber = UInt32(protectionClass.number)
        message.generation = generation
        message.wrappedBy = parent.rawValue
        message.wrapped = Data(box)
        return message
    }
}
