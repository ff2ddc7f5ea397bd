internal import KeychainModel
internal import LatchkeyCommand

/// What is in the keychain already, of the groups that an import stores in.
struct HeldItems {
    struct Row {
        let place: ItemPlace
        let kind: PasswordKind
        let attributes: AttributeMap

        /// The attributes that make it the item that it is.
        var names: AttributeMap {
            var names = AttributeMap()
            for attribute in kind.keyAttributes where attribute.code != .accessGroup {
                if let value = attributes[attribute.code] { names[attribute.code] = value }
            }
            return names
        }
    }

    private let rows: [AccessGroup?: [Row]]

    /// - Parameter groups: nil is the command line's own.
    init(_ shelf: ItemShelf, in groups: [AccessGroup?]) throws(CommandFailure) {
        var rows: [AccessGroup?: [Row]] = [:]
        for group in Set(groups) {
            rows[group] = try shelf.all(in: group).map { kind, attributes in
                Row(place: ItemPlace(kind, attributes, in: group), kind: kind, attributes: attributes)
            }
        }
        self.rows = rows
    }

    var places: [ItemPlace] { rows.values.flatMap { $0.map(\.place) } }

    func rows(in group: AccessGroup?) -> [Row] { rows[group] ?? [] }
}
