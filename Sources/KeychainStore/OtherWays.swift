internal import KeychainModel

/// What else leads to the items that a query names, where its own search leads to none: a bit that
/// changed in a column, or in an entry of an index, hides a row that is whole.
///
/// A row stands under its uniqueness tuple as well, which a query that gives service (or server) and
/// account says all of, but for what is mostly left out; and under its account. What is found so
/// is a hint, as every column is: the opened attributes decide.
package struct OtherWays: Sendable {
    let itemClass: ItemClass
    let primaryKeys: [[UInt8]]
    /// The blind values of server and account.
    let pair: (first: [UInt8], second: [UInt8])?

    /// Callers of more groups are looked for by the account alone.
    private static let mostGroups = 4
    /// Rows of an account that are looked at.
    static let mostOfAccount: Int64 = 16

    /// nil where there is no other way: a persistent reference, a query of one attribute.
    package init?(_ authorized: AuthorizedQuery, blind: BlindIndex) {
        let (query, itemClass) = (authorized.query, authorized.itemClass)
        self.itemClass = itemClass
        guard query.reference == nil, query.synchronizable != .noSuch, query.attributes[.uuid] == nil,
            query.attributes[.tombstone] == nil, let (first, second) = StoreSchema.pair(of: itemClass),
            let one = query.attributes[first], let other = query.attributes[second]
        else { return nil }
        primaryKeys = Self.primaryKeys(of: authorized, blind)
        // The tuple of a generic password has no more parts that are given often.
        guard itemClass != .genericPassword || primaryKeys.isEmpty else {
            pair = nil
            return
        }
        let schema = Schema.of(itemClass)
        guard let firstAttribute = schema[first], let secondAttribute = schema[second],
            let firstValue = blind.blind(one, of: firstAttribute, in: itemClass),
            let secondValue = blind.blind(other, of: secondAttribute, in: itemClass)
        else { return nil }
        pair = (firstValue, secondValue)
    }

    private static func primaryKeys(of authorized: AuthorizedQuery, _ blind: BlindIndex) -> [[UInt8]] {
        guard case .only(let groups) = authorized.reach, groups.count <= mostGroups else { return [] }
        var attributes = authorized.query.attributes
        let scopes: [Int64]
        switch authorized.query.synchronizable {
        case .unspecified: scopes = [0]
        case .only(let on): scopes = [on ? 1 : 0]
        case .any: scopes = [0, 1]
        case .noSuch: scopes = []
        }
        return groups.flatMap { group in
            attributes[.accessGroup] = .string(group.name)
            return scopes.map { scope in
                attributes[.synchronizable] = .integer(scope)
                return blind.primaryKey(of: attributes, in: authorized.itemClass)
            }
        }
    }
}
