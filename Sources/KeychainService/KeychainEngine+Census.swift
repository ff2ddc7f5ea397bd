internal import Enclave
package import KeychainModel
package import KeychainProtocol
internal import KeychainStore

/// Of which groups a census tells.
package enum CensusReach: Sendable, Hashable {
    /// Of every group, for a caller that could as well open a copy of the folder.
    case everyGroup
    /// Of those the caller may name, for a contained program.
    case ownGroups
}

extension KeychainEngine {
    /// How many items match a query in each group, for whoever wonders why a
    /// program does not find what is there (`latchkey explain`).
    ///
    /// Once there is a passcode nobody is told of groups that are not its own:
    /// until then every program of the user that is not contained can open a copy
    /// of the folder, and is told nothing that it could not read. Values are never
    /// opened. Only items that open now are counted.
    package func census(
        _ request: KeychainRequest, for authorization: Authorization, telling reach: CensusReach
    ) throws(KeychainError) -> [GroupCount] {
        try refuseIfMalformed()
        let description = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        let own = authorization.scope(for: .copy)
        let tellsAll = reach == .everyGroup && !description.state.hasPasscode
        var dictionary = request.query
        dictionary.entries.removeAll { $0.key == .text("agrp") }
        try authorization.checkUnparsed(KeychainRequest(.copy, query: dictionary))
        let query = try QueryParser.parse(dictionary, for: .copy, entitlements: authorization.entitlements)
        try query.checkKeys(for: .copy)
        var counts: [AccessGroup: Int] = [:]
        for item in try all(query) {
            guard case .string(let group) = item.attributes[.accessGroup] else { continue }
            guard tellsAll || own.permits(explicit: AccessGroup(group)) else { continue }
            counts[AccessGroup(group), default: 0] += 1
        }
        return counts.map { GroupCount(group: $0.key, items: $0.value) }.sorted { $0.group.name < $1.group.name }
    }

    /// What opens of the matching rows; damage is another call's to report.
    func all(_ query: Query) throws(KeychainError) -> [ItemMetadata] {
        let authorized = AuthorizedQuery(query, reach: .all(by: .wildcardGroup))
        let selection = Selection(authorized, blind: blind, withSecrets: false)
        var found: [ItemMetadata] = []
        try store.read { reader throws(KeychainError) in
            try reader.forEach(selection, withSecrets: false) { row throws(KeychainError) in
                if case .item(let metadata) = try opener.open(row, authorized.itemClass, reader),
                    authorized.accepts(metadata)
                {
                    found.append(metadata)
                }
                return true
            }
        }
        return found
    }
}
