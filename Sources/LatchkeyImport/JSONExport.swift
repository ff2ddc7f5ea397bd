/// Whose export a JSON text is, by the shape of what is in it: the names of members
/// alone are those of other programs too.
enum JSONExport {
    case bitwarden
    case onePassword
    /// A program's that is known, and what to do instead.
    case foreign(String, advice: String)
    case unknown

    init(_ root: JSONNode) {
        if let foreign = Self.foreign(root) {
            self = foreign
        } else if Self.isOnePassword(root) {
            self = .onePassword
        } else if Self.isBitwarden(root) {
            self = .bitwarden
        } else {
            self = .unknown
        }
    }

    /// Bitwarden, "Condition a Bitwarden import": each item has a number for its type.
    private static func isBitwarden(_ root: JSONNode) -> Bool {
        guard case .bool(let isEncrypted)? = root["encrypted"] else {
            guard case .array(let items)? = root["items"] else { return false }
            return items.allSatisfy { item in if case .number? = item["type"] { true } else { false } }
        }
        return isEncrypted || root["items"] != nil
    }

    /// 1Password, "1PUX format": accounts of vaults of items.
    private static func isOnePassword(_ root: JSONNode) -> Bool {
        guard case .array(let accounts)? = root["accounts"], !accounts.isEmpty else { return false }
        return accounts.allSatisfy { account in
            guard case .array(let vaults)? = account["vaults"] else { return false }
            return vaults.allSatisfy { vault in if case .array? = vault["items"] { true } else { false } }
        }
    }

    private static func foreign(_ root: JSONNode) -> JSONExport? {
        if root["vaults"] != nil, root["userId"] != nil || root["version"] != nil {
            return .foreign("Proton Pass", advice: "Export from Proton Pass as CSV, and import that.")
        }
        if root["exporterRpId"] != nil || root["accounts"].map(isExchange) ?? false {
            return .foreign(
                "the Credential Exchange Format (FIDO CXF)",
                advice: "Export from that program as CSV, or as a Bitwarden JSON, and import that.")
        }
        if root["items"].map(isEnpass) ?? false {
            return .foreign(
                "Enpass",
                advice: "Import it into a Bitwarden or KeePassXC of your own, and give what that exports.")
        }
        if root["db"] != nil, root["header"] != nil {
            return .foreign(
                "Aegis",
                advice: "It holds one-time secrets alone: store each with `latchkey set NAME \"ACCOUNT (otp)\"`.")
        }
        return nil
    }

    /// FIDO Alliance, "Credential Exchange Format 1.0", section 2: items stand in accounts.
    private static func isExchange(_ accounts: JSONNode) -> Bool {
        accounts.elements.contains { account in
            account["vaults"] == nil && (account["collections"] != nil || account["items"] != nil)
        }
    }

    private static func isEnpass(_ items: JSONNode) -> Bool {
        items.elements.contains { item in
            guard item["type"] == nil, item["title"] != nil else { return false }
            return item["template_type"] != nil || item["category"] != nil || item["fields"] != nil
        }
    }
}
