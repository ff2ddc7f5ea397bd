package import KeychainModel

/// The entitlements of a program in a test: what a signature and a provisioning
/// profile say on Apple's systems. The access groups follow from them.
///
/// Groups are searched in this order, and the first receives what is added
/// without kSecAttrAccessGroup: ``keychainAccessGroups``,
/// ``associatedApplicationIdentifiers``, ``applicationIdentifier``,
/// ``applicationGroups``.
public struct TestEntitlements: Sendable, Hashable {
    /// Whose rules turn the entitlements into access groups.
    public enum Rules: Sendable, Hashable {
        /// As on iOS, which are Latchkey's own.
        case ios
        /// As for the data protection keychain of macOS; unless a profile
        /// validates the entitlements, only `keychain-access-groups` counts.
        case macos(validated: Bool)
    }

    /// `application-identifier`.
    public var applicationIdentifier: String?
    /// `keychain-access-groups`. A group named "*" opens every group.
    public var keychainAccessGroups: [String]
    /// `com.apple.security.application-groups`.
    public var applicationGroups: [String]
    /// `com.apple.developer.associated-application-identifier`.
    public var associatedApplicationIdentifiers: [String]
    /// `com.apple.developer.on-demand-install-capable`: an app clip, which may
    /// use its own application identifier and nothing else.
    public var isAppClip: Bool
    /// Further entitlements that are true, by name: `keychain-deny`, for example.
    public var booleans: Set<String>
    /// Whose rules count.
    public var rules: Rules

    /// A program without any entitlement but those given. Without any group
    /// every call answers errSecMissingEntitlement.
    public init(
        applicationIdentifier: String? = nil, keychainAccessGroups: [String] = [], applicationGroups: [String] = [],
        associatedApplicationIdentifiers: [String] = [], isAppClip: Bool = false, booleans: Set<String> = [],
        rules: Rules = .ios
    ) {
        self.applicationIdentifier = applicationIdentifier
        self.keychainAccessGroups = keychainAccessGroups
        self.applicationGroups = applicationGroups
        self.associatedApplicationIdentifiers = associatedApplicationIdentifiers
        self.isAppClip = isAppClip
        self.booleans = booleans
        self.rules = rules
    }

    /// What an application that asked for nothing has: an application identifier,
    /// which is its only access group.
    public static let `default` = TestEntitlements(applicationIdentifier: "TESTTEAM01.com.example.app")

    package var entitlements: Entitlements {
        var result = Entitlements()
        result.applicationIdentifier = applicationIdentifier
        result.keychainAccessGroups = keychainAccessGroups
        result.applicationGroups = applicationGroups
        result.associatedApplicationIdentifiers = associatedApplicationIdentifiers
        result.isAppClip = isAppClip
        result.flags = booleans
        switch rules {
        case .ios: result.rules = .ios
        case .macos(let validated): result.rules = .macos(validated: validated)
        }
        return result
    }
}
