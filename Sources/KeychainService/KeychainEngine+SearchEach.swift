package import KeychainModel
package import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// Several searches of the Secret Service, one after the other on one reader; each row
    /// says which of them found it. Nobody is asked.
    ///
    /// - Throws: what one search fails with; finding nothing is no failure.
    package func searchEach(
        _ searches: [ItemSearch], for authorization: Authorization,
        emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try refuseIfMalformed()
        // Mostly all of one group.
        var checked: AccessGroup?
        for search in searches where search.group != checked {
            try authorization.check(search)
            checked = search.group
        }
        // Where class keys became others in between, the search that met them goes on.
        var (next, progress) = (0, SearchProgress())
        do throws(KeychainError) {
            try withNewestKeys { () throws(KeychainError) in
                try calls.during { () throws(KeychainError) in
                    try run(searches, authorization, &next, &progress, emit)
                }
            }
        } catch {
            throw noteMalformation(error)
        }
    }

    private func run(
        _ searches: [ItemSearch], _ authorization: Authorization, _ next: inout Int, _ progress: inout SearchProgress,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var damage: [DamageReport] = []
        // Values wait for the enclave.
        let isOfOneMoment = searches.count - next > 1 && searches[next...].allSatisfy(\.extent.tellsClosed)
        let outcome: Result<Void, KeychainError> = try store.read(atOneMoment: isOfOneMoment) {
            reader throws(KeychainError) in
            while next < searches.count {
                var search = Search(
                    AuthorizedQuery(searches[next].query, reach: .only([searches[next].group])), self, authorization,
                    from: progress)
                do throws(KeychainError) {
                    try search.run(reader) { _ throws(KeychainError) in } _: { row throws(KeychainError) in
                        var row = row
                        row.search = next
                        try emit(row)
                    }
                    damage += search.damage
                } catch {
                    damage += search.damage
                    return .failure(error)
                }
                // What there is may be coming back.
                if search.found == 0, needsSalvage { return .failure(nothingMatches) }
                next += 1
                progress = SearchProgress()
            }
            return .success(())
        }
        try settle(damage)
        try outcome.get()
    }
}
