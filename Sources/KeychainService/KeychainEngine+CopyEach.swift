package import KeychainModel
package import KeychainProtocol

extension KeychainEngine {
    /// Several searches, one after the other; each row says which of them found it.
    ///
    /// Nobody is asked: an item that a person would have to agree to is left out where its
    /// search skips such items (`kSecUseAuthenticationUISkip`), else it fails the call.
    ///
    /// - Throws: what one search fails with; finding nothing is no failure.
    package func copyEach(
        _ searches: [QueryDictionary], for authorization: Authorization,
        emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        for (index, search) in searches.enumerated() {
            do throws(KeychainError) {
                try perform(
                    KeychainRequest(.copy, query: search.asOneOfSeveral), for: authorization
                ) { _ throws(KeychainError) in
                } emit: { row throws(KeychainError) in
                    var row = row
                    row.search = index
                    try emit(row)
                }
            } catch {
                guard search.foundNothing(error) else { throw error == Self.personNeeded ? Self.asksNobody : error }
            }
        }
    }

    private static let asksNobody = KeychainError(.interactionNotAllowed, reason: .interactionForbidden)
}
