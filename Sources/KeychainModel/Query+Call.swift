extension Query {
    /// Refuses what this call does not take, with errSecParam: the last of the
    /// checks, after the groups (spec section 1, "Order of checks"; section 3).
    package func checkKeys(for role: QueryParser.Role) throws(KeychainError) {
        switch role {
        case .add: try checkKeysOfAdd()
        case .copy:
            switch refusal {
            case .match(let key): throw KeychainError(.unimplemented, reason: reason(whyNoMatchBy: key))
            case .reference: throw Self.refusal("kSecValuePersistentRef")
            case nil: break
            }
            if hasItemList { throw Self.refusal("kSecUseItemList") }
        case .updateQuery: try checkKeysOfUpdate()
        case .delete: try checkKeysOfDelete()
        }
    }

    private func reason(whyNoMatchBy key: String) -> Reason {
        switch itemClass {
        case .genericPassword, .internetPassword, .key: .matchUnsupported(key: key)
        case .certificate, .identity: .notImplemented(what: "kSecMatch\(key.dropFirst(2)) of certificates")
        }
    }

    /// Success without the object that was asked for would end the programs that take it for
    /// one. Passwords have none, as on Apple's systems.
    ///
    /// - Throws: errSecUnimplemented where kSecReturnRef is to bring a certificate or a key.
    package func requireNoObject() throws(KeychainError) {
        guard returns.contains(.reference) else { return }
        switch itemClass {
        case .genericPassword, .internetPassword: return
        case .certificate, .key, .identity:
            throw KeychainError(.unimplemented, reason: .notImplemented(what: "kSecReturnRef of certificates and keys"))
        }
    }

    /// We never report a store that did not happen (decisions.md).
    private func checkKeysOfAdd() throws(KeychainError) {
        if hasMatchLimit { throw Self.refusal("kSecMatchLimit") }
        if otherMatchKey != nil { throw Self.refusal("kSecMatch…") }
        if hasItemList { throw Self.refusal("kSecUseItemList") }
        try refuseSkip()
    }

    private func checkKeysOfUpdate() throws(KeychainError) {
        if hasMatchLimit { throw Self.refusal("kSecMatchLimit") }
        if let otherMatchKey { throw Self.refusal(otherMatchKey) }
        if !returns.isEmpty { throw Self.refusal("kSecReturn…") }
        if hasItemList { throw Self.refusal("kSecUseItemList") }
        try refuseSkip()
    }

    private func checkKeysOfDelete() throws(KeychainError) {
        if let otherMatchKey { throw Self.refusal(otherMatchKey) }
        if case .count = limit { throw Self.refusal("kSecMatchLimit") }
        try refuseSkip()
    }

    private func refuseSkip() throws(KeychainError) {
        if interaction == .skipped { throw Self.refusal("kSecUseAuthenticationUISkip") }
    }

    private static func refusal(_ key: String) -> KeychainError { .parameter(.notAllowedHere(key: key)) }
}
