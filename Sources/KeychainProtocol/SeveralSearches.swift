package import KeychainModel

extension KeychainTransport {
    /// Several searches in as few requests as will do; the rows of each in their order, none
    /// where it found nothing. Nobody is asked.
    ///
    /// An older daemon is asked one by one.
    ///
    /// - Throws: what one of them fails with.
    package func copyEach(_ searches: [QueryDictionary]) throws(KeychainError) -> [[AnswerRow]] {
        guard try session().protocolVersion >= ProtocolVersion.severalSearches else {
            var found: [[AnswerRow]] = []
            for search in searches { found.append(try copyAlone(search)) }
            return found
        }
        var found: [[AnswerRow]] = []
        var rest = searches[...]
        while !rest.isEmpty {
            let together = Array(rest.prefix(KeychainRequest.mostSearches))
            rest = rest.dropFirst(together.count)
            found += try copyTogether(together)
        }
        return found
    }

    private func copyTogether(_ searches: [QueryDictionary]) throws(KeychainError) -> [[AnswerRow]] {
        var found: [[AnswerRow]] = Array(repeating: [], count: searches.count)
        for row in try perform(KeychainRequest(.copyEach(searches))).rows {
            // Whatever answers more than it was asked is no keychain of ours.
            guard found.indices.contains(row.search) else {
                throw KeychainError(.internalComponent, reason: .internalFault(what: "an answer to another search"))
            }
            found[row.search].append(row)
        }
        return found
    }

    private func copyAlone(_ search: QueryDictionary) throws(KeychainError) -> [AnswerRow] {
        do throws(KeychainError) {
            return try perform(KeychainRequest(.copy, query: search.askingNobody)).rows
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }
}

extension QueryDictionary {
    /// The same where whoever needs a person fails, unless it says itself what such items
    /// come to (`kSecUseAuthenticationUIFail`).
    package var askingNobody: QueryDictionary {
        guard self[Self.interaction] == nil else { return self }
        var search = self
        search.append(.text(Self.interaction), .string("u_AuthUIF"))
        return search
    }

    private static let interaction = "u_AuthUI"
}
