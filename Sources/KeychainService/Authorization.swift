package import KeychainModel
internal import KeychainProtocol
internal import KeychainStore

/// What one caller may do, and the checks that come before and after parsing, in
/// the spec's order (section 1, "Order of checks"; section 5).
///
/// Made once a connection: the list of groups is not put together for each call.
package struct Authorization: Sendable {
    private let rights: Rights
    /// Who is recorded as the caller; nil where no record is kept.
    package private(set) var party: AuditParty?
    /// What a person has agreed to.
    package private(set) var context = CallContext()
    /// Whether calls are made in a person's name, as was granted.
    package private(set) var isDeputy = false

    package init(_ entitlements: Entitlements, recordedAs party: AuditParty? = nil) {
        rights = Rights(entitlements)
        self.party = party
    }

    package var entitlements: Entitlements { rights.entitlements }
    private var groups: [AccessGroup] { rights.groups }

    /// An object, so that a copy for one call is one.
    private final class Rights: Sendable {
        let entitlements: Entitlements
        let groups: [AccessGroup]

        init(_ entitlements: Entitlements) {
            self.entitlements = entitlements
            groups = entitlements.accessGroups
        }
    }

    /// The same rights in another context.
    package func within(_ context: CallContext) -> Authorization {
        var other = self
        other.context = context
        return other
    }

    /// The same rights for a call that the caller says is another's.
    package func serving(_ program: ServedProgram?) -> Authorization {
        guard let program, let party else { return self }
        var other = self
        other.party = party.serving(program)
        return other
    }

    /// The same over the items of every program, for calls in a person's name. For
    /// whoever granted that, and for as long.
    package var asDeputy: Authorization {
        var other = self
        other.isDeputy = true
        return other
    }

    func terms(_ query: Query) -> ConstraintTerms {
        ConstraintTerms(context: context, interaction: query.interaction, reason: query.operationPrompt)
    }

    /// The checks that need no parsing.
    ///
    /// - Throws: -25291 for a program that may not use the keychain at all, -50
    ///   for what no caller may pass, -34018 and -34020 for missing rights.
    func checkUnparsed(_ request: KeychainRequest) throws(KeychainError) {
        if entitlements.grants("keychain-deny") { throw KeychainError(.notAvailable, reason: .keychainDenied) }
        guard request.behalf == .program || isDeputy else { throw Self.noDeputy }
        try Self.checkForbidden(request.query)
        try Self.checkForbidden(request.changes)
        if entitlements.isAppClip { try checkAppClip(request) }
        guard !scope(for: request.operation).isEmpty else {
            throw KeychainError(.missingEntitlement, reason: .noAccessGroups)
        }
        if request.operation != .copy, request.operation != .add {
            try checkRawGroup(request.query, for: request.operation)
        }
    }

    /// The same of a search that is made of types, which hold nothing that no caller may pass.
    func check(_ search: ItemSearch) throws(KeychainError) {
        if entitlements.grants("keychain-deny") { throw KeychainError(.notAvailable, reason: .keychainDenied) }
        if entitlements.isAppClip { try checkAppClip(KeychainRequest(.copy)) }
        guard !scope(for: .copy).isEmpty else { throw KeychainError(.missingEntitlement, reason: .noAccessGroups) }
        try check(explicit: search.group, for: .copy)
    }

    private static func checkForbidden(_ dictionary: QueryDictionary) throws(KeychainError) {
        var (isOfAllUsers, synchronizable) = (false, RawValue?.none)
        for entry in dictionary.entries {
            guard case .text(let key) = entry.key else { continue }
            switch AttributeCode(key) {
            case .appClipItem?: throw .parameter(.notAllowedHere(key: "clip"))
            case .sharingGroup?: isOfAllUsers = true
            case .synchronizable?: synchronizable = synchronizable ?? entry.value
            case .some: continue
            case nil:
                if key == "u_SystemKeychainAlways", entry.value == .bool(true) { isOfAllUsers = true }
            }
        }
        if isOfAllUsers, isTrue(synchronizable) {
            throw .parameter(.notAllowedHere(key: "kSecAttrSynchronizable"))
        }
    }

    private static func isTrue(_ value: RawValue?) -> Bool {
        switch value {
        case .bool(let on): on
        case .integer(let number): number != 0
        case .string(let text): text == "1"
        default: false
        }
    }

    /// An app clip has its application identifier and nothing else.
    private func checkAppClip(_ request: KeychainRequest) throws(KeychainError) {
        let own = entitlements.applicationIdentifier.map { [AccessGroup($0)] } ?? []
        let writesSynced =
            request.operation == .add && Self.isTrue(request.query["sync"])
            || request.operation == .update && Self.isTrue(request.changes["sync"])
        guard groups.filter({ $0 != .token }) == own, !writesSynced else {
            throw KeychainError(.restrictedAPI, reason: .appClipRestriction)
        }
    }

    /// Add, update (also of the new group) and delete look at what the caller
    /// wrote, not at what it would be converted to: a group given as data is refused.
    func checkRawGroup(
        _ dictionary: QueryDictionary, for operation: KeychainRequest.Operation
    ) throws(KeychainError) {
        guard let raw = dictionary["agrp"] else { return }
        guard case .string(let name) = raw else {
            throw KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: "given as another type"))
        }
        try check(explicit: AccessGroup(name), for: operation)
    }

    /// A program that is nobody's deputy called in a person's name.
    package static let noDeputy = KeychainError(
        .missingEntitlement, reason: .entitlementMissing(name: "to act for a person"),
        underlying: "a sandbox, a unit or a container holds this program, or it hides so that none can be told")

    func check(explicit group: AccessGroup, for operation: KeychainRequest.Operation) throws(KeychainError) {
        let isReadOnly = isDeputy && group == .token && operation != .copy
        guard scope(for: operation).permits(explicit: group) && !isReadOnly || isNetworkExtensionGroup(group) else {
            throw KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: group.name))
        }
    }

    private func isNetworkExtensionGroup(_ group: AccessGroup) -> Bool {
        group.name.hasSuffix("com.apple.networkextensionsharing")
            && entitlements.grants("com.apple.developer.networking.networkextension")
    }

    /// The groups of a call; the token group is read-only.
    func scope(for operation: KeychainRequest.Operation) -> GroupScope {
        let reached = operation == .copy || operation == .status ? groups : groups.filter { $0 != .token }
        if isDeputy, let first = reached.first { return .all(by: .person, first: first) }
        if reached.contains(AccessGroup("*")), let first = reached.first {
            return .all(by: .wildcardGroup, first: first)
        }
        return .only(reached, mayName: entitlements.nameableGroups.map { AccessGroup($0) })
    }

    /// Ties a parsed query to the groups it may touch.
    func authorize(_ query: Query, for operation: KeychainRequest.Operation) throws(KeychainError) -> AuthorizedQuery {
        if let group = query.explicitGroup {
            try check(explicit: group, for: operation)
            return AuthorizedQuery(query, reach: .only([group]))
        }
        switch scope(for: operation) {
        // What is changed in a person's name is named with its group: nobody means
        // an item in all of them.
        case .all(by: .person, _) where operation != .copy:
            return AuthorizedQuery(query, reach: .only(groups.filter { $0 != .token }))
        case .all(let entitlement, _): return AuthorizedQuery(query, reach: .all(by: entitlement))
        case .only(let groups, _):
            guard !groups.isEmpty else { throw KeychainError(.missingEntitlement, reason: .noAccessGroups) }
            return AuthorizedQuery(query, reach: .only(groups))
        }
    }

    /// Where an add goes: the group it names, else the caller's first.
    func groupForAdd(_ query: Query, raw request: KeychainRequest) throws(KeychainError) -> AccessGroup {
        if let group = query.explicitGroup {
            try checkRawGroup(request.query, for: request.operation)
            // The raw look is Apple's quirk; the parsed group is what is used.
            try check(explicit: group, for: request.operation)
            return group
        }
        switch scope(for: .add) {
        case .all(_, let first): return first
        case .only(let groups, _):
            guard let first = groups.first else { throw KeychainError(.missingEntitlement, reason: .noAccessGroups) }
            return first
        }
    }
}
