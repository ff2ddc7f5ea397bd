package import KeychainTesting

/// Who calls, and in which state the device is.
package struct CaseContext: Sendable {
    private var members: [String: JSONValue]

    package init(_ json: JSONValue) { members = json.object ?? [:] }

    /// Another program calls from here on: the members given replace those here.
    package func replacing(with other: CaseContext) -> CaseContext {
        var result = self
        result.members.merge(other.members) { _, new in new }
        return result
    }

    package subscript(name: String) -> JSONValue? { members[name] }
    var json: JSONValue { .object(members) }

    package var platform: String { members["platform"]?.string ?? "ios" }
    package var deviceState: String { members["deviceState"]?.string ?? "unlocked" }
    package var passcodeSet: Bool { members["passcodeSet"]?.bool ?? true }

    package var entitlements: TestEntitlements {
        TestEntitlements(
            applicationIdentifier: members["applicationIdentifier"]?.string,
            keychainAccessGroups: strings("keychainAccessGroups"),
            applicationGroups: strings("applicationGroups"),
            associatedApplicationIdentifiers: strings("associatedApplicationIdentifiers"),
            isAppClip: members["appClip"]?.bool ?? false, booleans: trueEntitlements,
            rules: rules)
    }

    /// An entitlement that is no array, or has a member that is no string, is
    /// ignored entirely (spec section 5).
    private func strings(_ name: String) -> [String] {
        guard let values = members[name]?.array else { return [] }
        let strings = values.compactMap(\.string)
        return strings.count == values.count ? strings : []
    }

    /// Some entitlements are true, others are a list of what is allowed.
    private var trueEntitlements: Set<String> {
        Set((members["extraEntitlements"]?.object ?? [:]).filter { Self.isGranted($0.value) }.keys)
    }

    private static func isGranted(_ value: JSONValue) -> Bool {
        ![.null, .bool(false), .array([]), .string("")].contains(value)
    }

    /// The same program with one more entitlement.
    func granting(_ entitlement: String) -> CaseContext {
        var result = self
        var extra = members["extraEntitlements"]?.object ?? [:]
        extra[entitlement] = .bool(true)
        result.members["extraEntitlements"] = .object(extra)
        return result
    }

    private var rules: TestEntitlements.Rules {
        platform.hasPrefix("macos") ? .macos(validated: members["entitlementsValidated"]?.bool ?? true) : .ios
    }
}
