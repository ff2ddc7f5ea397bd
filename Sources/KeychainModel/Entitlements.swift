/// The rights of a program, as a signature, a profile or a test gives them: a
/// snapshot of facts, from which the list of access groups follows (spec section 5).
package struct Entitlements: Hashable, Sendable {
    /// Whose rules build the list.
    package enum Rules: Hashable, Sendable {
        case ios
        /// On macOS the token group is implied and, where the entitlements are
        /// not validated by a profile, only keychain-access-groups counts.
        case macos(validated: Bool)
    }

    package var rules: Rules = .ios
    package var keychainAccessGroups: [String] = []
    package var associatedApplicationIdentifiers: [String] = []
    package var applicationIdentifier: String?
    package var applicationGroups: [String] = []
    package var isAppClip = false
    /// Boolean entitlements that are true, by name ("keychain-deny", private ones).
    package var flags: Set<String> = []
    /// Groups that may be named but are never searched by default (decisions.md).
    package var nameableGroups: [String] = []

    package init() {}

    package func grants(_ name: String) -> Bool { flags.contains(name) }

    /// Every group of the program, in the spec's order, duplicates dropped.
    package var accessGroups: [AccessGroup] {
        var names = keychainAccessGroups
        var everythingCounts = true
        if case .macos(validated: false) = rules { everythingCounts = false }
        if everythingCounts {
            names += associatedApplicationIdentifiers
            if let applicationIdentifier { names.append(applicationIdentifier) }
            if !isAppClip { names += applicationGroups }
        }
        var groups: [AccessGroup] = []
        for name in names where !groups.contains(AccessGroup(name)) { groups.append(AccessGroup(name)) }
        let hadToken = groups.contains(.token)
        groups.removeAll { $0 == .token }
        if hadToken || impliesToken(whenListEmpty: groups.isEmpty) { groups.append(.token) }
        return groups
    }

    /// macOS appends the token group unless the list is empty while an
    /// application identifier exists.
    private func impliesToken(whenListEmpty empty: Bool) -> Bool {
        guard case .macos = rules else { return false }
        return !(empty && applicationIdentifier != nil)
    }
}
