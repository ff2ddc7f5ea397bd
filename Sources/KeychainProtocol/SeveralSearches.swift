package import KeychainModel

extension KeychainTransport {
    /// Several searches in as few requests as will do; the rows of each in their order, none
    /// where it found nothing. Nobody is asked.
    ///
    /// An older daemon is asked one by one.
    ///
    /// - Throws: what one of them fails with. That there is nothing is a failure of a search
    ///   that wants to be ``QueryDictionary/certain`` alone.
    package func copyEach(_ searches: [QueryDictionary]) throws(KeychainError) -> [[AnswerRow]] {
        guard try session().protocolVersion >= ProtocolVersion.severalSearches else {
            var found: [[AnswerRow]] = []
            for search in searches { found.append(try copyAlone(search)) }
            return found
        }
        var found: [[AnswerRow]] = []
        var rest = searches[...]
        while !rest.isEmpty {
            let together = Self.together(rest, \.byteCount)
            rest = rest.dropFirst(together.count)
            found += try copyTogether(together)
        }
        return found
    }

    /// Several searches of the Secret Service, likewise.
    package func searchEach(_ searches: [ItemSearch]) throws(KeychainError) -> [[AnswerRow]] {
        guard try session().protocolVersion >= ProtocolVersion.itemSearches else {
            return try copyEach(searches.map(\.dictionary)).map { rows in
                rows.map { row in
                    var row = row
                    row.isClosed = row.attributes.isEmpty
                    return row
                }
            }
        }
        var found: [[AnswerRow]] = []
        var rest = searches[...]
        while !rest.isEmpty {
            let together = Self.together(rest, \.attributes.byteCount)
            rest = rest.dropFirst(together.count)
            found += try ask(KeychainRequest(.searchEach(together)), searches: together.count)
        }
        return found
    }

    /// The first of them that fit into one request; the first at least.
    private static func together<S>(_ searches: ArraySlice<S>, _ byteCount: (S) -> Int) -> [S] {
        var left = KeychainRequest.mostSearchBytes
        let few = searches.prefix(KeychainRequest.mostSearches)
        let fitting = few.prefix { search in
            left -= byteCount(search)
            return left >= 0
        }
        return Array(few.prefix(max(1, fitting.count)))
    }

    private func copyTogether(_ searches: [QueryDictionary]) throws(KeychainError) -> [[AnswerRow]] {
        try ask(KeychainRequest(.copyEach(searches)), searches: searches.count)
    }

    private func ask(_ request: KeychainRequest, searches count: Int) throws(KeychainError) -> [[AnswerRow]] {
        var found: [[AnswerRow]] = Array(repeating: [], count: count)
        for row in try perform(request).rows {
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
            return try perform(KeychainRequest(.copy, query: search.asOneOfSeveral)).rows
        } catch {
            guard search.foundNothing(error) else { throw error }
            return []
        }
    }
}

/// One of several searches (``KeychainTransport/copyEach(_:)``).
extension QueryDictionary {
    /// The same, which fails where it finds nothing and what it looks for may be among items
    /// that were set aside as damaged (FORMATS.md, "copy each").
    package var certain: QueryDictionary {
        var search = self
        search.append(.text(Self.certainty), .bool(true))
        return search
    }

    private var isCertain: Bool { self[Self.certainty] == .bool(true) }

    /// As it is made by itself. Whoever needs a person fails, unless it says what such items
    /// come to (`kSecUseAuthenticationUIFail`).
    package var asOneOfSeveral: QueryDictionary {
        var search = self
        if self[Self.certainty] != nil { search.entries.removeAll { $0.key == .text(Self.certainty) } }
        if self[Self.interaction] == nil { search.append(.text(Self.interaction), .string("u_AuthUIF")) }
        return search
    }

    /// Whether what it failed with says that there is nothing.
    package func foundNothing(_ error: KeychainError) -> Bool {
        error.status == .itemNotFound && (!isCertain || error.reason == .nothingMatches)
    }

    private static let interaction = "u_AuthUI"
    private static let certainty = "u_LatchkeyCertain"
}

extension AttributeMap {
    fileprivate var byteCount: Int { entries.reduce(0) { $0 + $1.value.byteCount } }
}

extension QueryDictionary {
    /// Of its texts and data, which are what makes one long.
    fileprivate var byteCount: Int { entries.reduce(0) { $0 + $1.value.byteCount } }
}

extension RawValue {
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text), .foreign(let text): text.utf8.count
        case .data(let bytes), .uuid(let bytes): bytes.count
        case .array(let values): values.reduce(0) { $0 + $1.byteCount }
        case .integer, .real, .bool, .date, .null, .dictionary, .accessControl, .secret: 8
        }
    }
}
