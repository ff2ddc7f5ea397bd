internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The items of the collection `session`: in this process alone, never on a disk, never
/// locked, and gone with it.
final class SessionMemory {
    private var rows: [AnswerRow] = []
    private var byteCount = 0
    private let clock: any KeychainClock

    /// Of all items together: whoever is on the bus may store here.
    static let mostItems = 4096
    static let mostBytes = 16 << 20
    /// What there is too much of, as an error's reason names it.
    static let items = "items"
    static let bytes = "bytes"

    init(clock: any KeychainClock) { self.clock = clock }

    func search(_ wanted: LookupAttributes) -> [AnswerRow] {
        rows.filter { ($0.attributes.lookup ?? .none).include(wanted) }
    }

    func row(_ reference: PersistentReference) -> AnswerRow? {
        rows.first { $0.persistentReference == reference.bytes }
    }

    /// - Throws: `errSecDataTooLarge`.
    func add(_ content: SecretItems.Content) throws(KeychainError) -> AnswerRow {
        guard rows.count < Self.mostItems else {
            throw KeychainError(
                .dataTooLarge, reason: .tooLarge(what: Self.items, limit: Self.mostItems, size: rows.count + 1))
        }
        var attributes = AttributeMap()
        attributes[.creationDate] = .date(clock.wallClock)
        let row = AnswerRow(
            itemClass: .genericPassword, attributes: attributes, accessControl: nil,
            persistentReference: PersistentReference(.genericPassword, .identifier(Random.bytes(16))).bytes, value: nil)
        let changed = changed(row, by: content)
        try admit(Self.size(of: changed))
        rows.append(changed)
        return changed
    }

    /// - Throws: `errSecItemNotFound`, `errSecDataTooLarge`.
    func change(_ reference: PersistentReference, to content: SecretItems.Content) throws(KeychainError) {
        guard let index = rows.firstIndex(where: { $0.persistentReference == reference.bytes }) else { throw Self.gone }
        let changed = changed(rows[index], by: content)
        try admit(Self.size(of: changed) - Self.size(of: rows[index]))
        rows[index] = changed
    }

    /// - Throws: `errSecItemNotFound`.
    func remove(_ reference: PersistentReference) throws(KeychainError) {
        guard let index = rows.firstIndex(where: { $0.persistentReference == reference.bytes }) else { throw Self.gone }
        byteCount -= Self.size(of: rows[index])
        rows.remove(at: index)
    }

    private func admit(_ more: Int) throws(KeychainError) {
        guard byteCount + more <= Self.mostBytes else {
            throw KeychainError(
                .dataTooLarge, reason: .tooLarge(what: Self.bytes, limit: Self.mostBytes, size: byteCount + more))
        }
        byteCount += more
    }

    private func changed(_ row: AnswerRow, by content: SecretItems.Content) -> AnswerRow {
        var attributes = row.attributes
        if let label = content.label { attributes[.label] = .string(label) }
        if let lookup = content.attributes { attributes[.lookup] = .data(lookup.encoded) }
        if let type = content.contentType { attributes["desc"] = .string(type) }
        attributes[.modificationDate] = .date(clock.wallClock)
        return AnswerRow(
            itemClass: row.itemClass, attributes: attributes, accessControl: nil,
            persistentReference: row.persistentReference, value: content.value ?? row.value)
    }

    private static func size(of row: AnswerRow) -> Int {
        row.attributes.entries.reduce(row.value?.bytes.count ?? 0) { $0 + $1.value.byteCount }
    }

    private static let gone = KeychainError(.itemNotFound, reason: .nothingMatches)
}
