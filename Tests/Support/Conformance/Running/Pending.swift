internal import KeychainModel
internal import KeychainServices

/// Why a case waits: what it uses that Latchkey does not offer yet. Decided by
/// what stands in the case, never by its name.
package enum Pending: String, Sendable, CaseIterable {
    case certificate = "certificate objects"
    case key = "key objects"
    case identity = "identities"
    case policy = "trust policies"
    case reference = "references to certificates and keys"
    case keyCall = "SecKey calls"
    case pkcs12 = "PKCS #12"
    case backup = "backup"
    case biometry = "a source of biometry"
    case fileKeychain = "the file keychain and its command line"

    /// nil: the case runs.
    package init?(_ conformanceCase: ConformanceCase) {
        let found =
            Self.context(conformanceCase.context)
            ?? conformanceCase.steps.lazy.compactMap { Self.step($0) }.first
        guard let found else { return nil }
        self = found
    }

    private static func context(_ context: CaseContext) -> Pending? {
        context.platform == "macos-file" ? .fileKeychain : nil
    }

    private static func step(_ step: ConformanceCase.Step) -> Pending? {
        if let waiting = call(step.call) { return waiting }
        if step.call == "setContext", let waiting = Self.context(CaseContext(step["context"] ?? .null)) {
            return waiting
        }
        return objects(.object(step.fields)) ?? identity(step) ?? reference(step) 
    }

    private static func call(_ name: String) -> Pending? {
        if name.hasPrefix("key") { return .keyCall }
        if name.hasPrefix("identity") { return .identity }
        switch name {
        case "cli": return .fileKeychain
        case "pkcs12Import": return .pkcs12
        case "backup", "restore", "newDevice": return .backup
        default: return nil
        }
    }

    /// Objects in what is passed or in what must come back. The bytes of a
    /// fixture (certDER, certIssuerDER) are no object.
    private static func objects(_ json: JSONValue) -> Pending? {
        if json.contains(where: { $0["identity"] != nil }) { return .identity }
        if json.contains(where: { $0["cert"] != nil }) { return .certificate }
        if json.contains(where: { $0["key"] != nil && $0["kind"] != nil }) { return .key }
        if namesPolicy(json) { return .policy }
        let types: KeyValuePairs<String, Pending> = ["certificate": .certificate, "key": .key, "identity": .identity]
        return types.first { name, _ in json.contains { $0["type"] == .string(name) } }?.value
    }

    /// A SecPolicy, by its name. A constraint of an access control goes by the same word.
    private static func namesPolicy(_ json: JSONValue) -> Bool {
        switch json {
        case .object(let members):
            members["policy"] != nil || members.contains { $0.key != "accessControl" && namesPolicy($0.value) }
        case .array(let elements): elements.contains(where: namesPolicy)
        default: false
        }
    }

    private static func itemClass(_ step: ConformanceCase.Step) -> String? {
        guard let value = step["query"]?["kSecClass"] else { return nil }
        return (value["const"]?.string).map { KeyName.text($0) ?? $0 } ?? value["string"]?.string
    }

    /// An identity that must be found or made; a query that is refused is not one.
    private static func identity(_ step: ConformanceCase.Step) -> Pending? {
        itemClass(step) == "idnt" && step.expected.permits(errSecSuccess) ? .identity : nil
    }

    private static func reference(_ step: ConformanceCase.Step) -> Pending? {
        guard let wanted = step["query"]?["kSecReturnRef"], wanted != .object(["bool": .bool(false)]),
            step.expected.permits(errSecSuccess), ["add", "copy"].contains(step.call),
            ["cert", "keys", "idnt"].contains(itemClass(step))
        else { return nil }
        return .reference
    }
}
