package import KeychainModel

/// A query that was checked against the rights of its caller: the only kind that
/// the store takes. KeychainService alone makes one (a test checks that).
///
/// An object, because a query has a dozen counted parts, and a search hands it on for each row.
package final class AuthorizedQuery: Sendable {
    package let query: Query
    package let reach: Reach

    /// The groups whose rows this call may touch.
    package enum Reach: Sendable, Hashable {
        case only([AccessGroup])
        case all(by: GroupScope.Entitlement)

        package func includes(groupNamed name: String) -> Bool {
            switch self {
            case .only(let groups):
                for group in groups where group.name.hasSameBytes(as: name) { return true }
                return false
            case .all: return true
            }
        }
    }

    package init(_ query: Query, reach: Reach) {
        self.query = query
        self.reach = reach
    }

    package var itemClass: ItemClass { query.itemClass }

    /// Whether an opened item is what the query asked for: the columns were
    /// hints, this decides.
    package func accepts(_ metadata: ItemMetadata) -> Bool {
        let attributes = metadata.attributes
        guard reach.includes(groupNamed: attributes[.accessGroup]?.string ?? "") else { return false }
        let schema = query.schema
        for (code, wanted) in query.attributes.entries where code != .uuid {
            if code == .lookup {
                guard case .data(let wanted) = wanted,
                    LookupAttributes.encoded(attributes.encodedLookup, includes: wanted)
                else { return false }
                continue
            }
            guard let attribute = schema[code], let held = attributes[code] ?? Self.implied(attribute),
                wanted.isEqual(to: held, as: attribute.kind)
            else { return false }
        }
        return true
    }

    /// Attributes that an item has without anybody having stored them.
    private static func implied(_ attribute: SchemaAttribute) -> AttributeValue? {
        attribute.code == .tombstone || attribute.code == .multiUser ? attribute.defaultValue : nil
    }
}
