internal import KeychainModel

/// Which items a collection has, in 16 bytes each.
struct KnownItems {
    /// The identifiers of their persistent references, each class in its order.
    private var names: [ItemClass: [UInt128]] = [:]

    init(_ references: [[UInt8]]) {
        for reference in references {
            guard let (itemClass, name) = Self.name(reference) else { continue }
            names[itemClass, default: []].append(name)
        }
        for itemClass in names.keys { names[itemClass]?.sort() }
    }

    var count: Int { names.values.reduce(0) { $0 + $1.count } }

    mutating func insert(_ reference: PersistentReference) {
        guard let (itemClass, name) = Self.name(reference.bytes) else { return }
        let at = Self.place(of: name, in: names[itemClass] ?? [])
        guard names[itemClass].map({ at == $0.count || $0[at] != name }) ?? true else { return }
        names[itemClass, default: []].insert(name, at: at)
    }

    mutating func remove(_ reference: PersistentReference) {
        guard let (itemClass, name) = Self.name(reference.bytes), let held = names[itemClass] else { return }
        let at = Self.place(of: name, in: held)
        if at < held.count, held[at] == name { names[itemClass]?.remove(at: at) }
    }

    /// The persistent references of what is here and not there.
    func without(_ others: KnownItems) -> [[UInt8]] {
        names.flatMap { itemClass, held in
            var rest = (others.names[itemClass] ?? [])[...]
            var only: [[UInt8]] = []
            for name in held {
                rest = rest.drop { $0 < name }
                if rest.first != name { only.append(Self.reference(itemClass, name)) }
            }
            return only
        }
    }

    // MARK: Names

    /// The first place that is not before it.
    private static func place(of name: UInt128, in held: [UInt128]) -> Int {
        var (low, high) = (0, held.count)
        while low < high {
            let middle = (low + high) / 2
            if held[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func name(_ reference: [UInt8]) -> (ItemClass, UInt128)? {
        guard let known = PersistentReference(bytes: reference), case .identifier(let identifier) = known.target else {
            return nil
        }
        return (known.itemClass, identifier.reduce(0) { $0 << 8 | UInt128($1) })
    }

    private static func reference(_ itemClass: ItemClass, _ name: UInt128) -> [UInt8] {
        let identifier = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: name >> UInt128($0)) }
        return PersistentReference(itemClass, .identifier(identifier)).bytes
    }
}
