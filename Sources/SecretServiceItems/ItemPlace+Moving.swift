package import KeychainModel
internal import SecretServiceReach

/// What lookup attributes and label say of where an item stands.
package struct ItemNaming: Sendable {
    /// nil: it has none, and is called by its own names (``ImpliedAttributes``).
    let lookup: LookupAttributes?
    let label: String

    package init(_ lookup: LookupAttributes?, label: String) { (self.lookup, self.label) = (lookup, label) }
}

extension ItemPlace {
    /// Where an item goes whose lookup attributes or label have become others: places to be
    /// tried in their order, as for a new one, but of the item's own class, which its path and
    /// its references name. None: it stays.
    ///
    /// What a person named, by `latchkey set` or `latchkey edit`, has that name until the
    /// attributes say another: those that say none, or the same, leave it alone. Once attributes
    /// have said it as well it goes with them.
    package static func moves(
        of held: AttributeMap, _ itemClass: ItemClass, from old: ItemNaming, to new: ItemNaming, serial: () -> String
    ) -> [ItemPlace] {
        let implied = ImpliedAttributes(itemClass, held).shown
        let (before, after) = (old.lookup ?? implied, new.lookup ?? implied)
        let former = candidates(for: before, label: old.label, serial: { "" }).map { $0.within(itemClass) }
        let places = candidates(for: after, label: new.label, serial: serial).map { $0.within(itemClass) }
        let (formerName, name) = (former.count > 2 ? former[0] : nil, places.count > 2 ? places[0] : nil)
        let isNamedAnew = name.map { name in !(formerName.map { $0.isSame(as: name) } ?? false) } ?? false
        let standsByDigest = former.suffix(2).contains { $0.isHeld(by: held) || $0.begins(held) }
        let standsByName = formerName?.isHeld(by: held) ?? false
        let isLost = standsByDigest || old.lookup != nil && standsByName && name == nil
        return isNamedAnew || before != after && isLost ? places : []
    }

    /// With the names that it has here: a service for a server, and the reverse.
    private func within(_ other: ItemClass) -> ItemPlace {
        guard other != itemClass else { return self }
        let isInternet = other == .internetPassword
        let named: [(String, RawValue)] = attributes.compactMap { name, value in
            switch name {
            case "srvr", "svce": (isInternet ? "srvr" : "svce", value)
            case "acct": (name, value)
            default: nil
            }
        }
        return ItemPlace(itemClass: other, attributes: named, isOfPerson: isOfPerson)
    }

    /// With what an item has in addition that stands elsewhere now: a port, say, goes where this
    /// place says none.
    package var whole: [(String, RawValue)] {
        guard itemClass == .internetPassword else { return attributes }
        let absent: [(String, RawValue)] = [("ptcl", .string("")), ("port", .integer(0)), ("path", .string(""))]
        return attributes + absent.filter { rest in !attributes.contains { $0.0 == rest.0 } }
    }

    private func isSame(as other: ItemPlace) -> Bool {
        whole.allSatisfy { name, value in other.whole.contains { $0.0 == name && $0.1 == value } }
    }

    /// Whether an item stands here.
    private func isHeld(by held: AttributeMap) -> Bool {
        whole.allSatisfy { name, value in
            guard let code = AttributeCode(name) else { return false }
            switch value {
            case .string(let text):
                let there = held[code]?.string ?? ""
                // Earlier versions kept a server as it was spelled.
                return (code == .server ? there.lowercased() : there).hasSameBytes(
                    as: code == .server ? text.lowercased() : text)
            case .integer(let number): return held[code]?.integer ?? 0 == number
            default: return false
            }
        }
    }

    /// Whether an item stands here but for what its account ends in: a serial.
    private func begins(_ held: AttributeMap) -> Bool {
        guard let account = names[.account]?.string, account.hasSuffix("-"), let other = held[.account]?.string else {
            return false
        }
        let first: AttributeCode = itemClass == .internetPassword ? .server : .service
        return other.hasPrefix(account) && held[first]?.string == names[first]?.string
    }
}
