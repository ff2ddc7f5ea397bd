internal import Foundation
internal import KeychainModel
internal import KeychainServices

extension Pending {
    /// What a store has to be able to enforce before it may take the item.
    static func protection(_ step: ConformanceCase.Step, _ context: CaseContext) -> Pending? {
        guard ["add", "update"].contains(step.call), !isRefused(step) else { return nil }
        let stored = step[step.call == "add" ? "query" : "attrs"]
        if let json = stored?["kSecAttrAccessControl"]?["accessControl"] {
            if isConstrained(json) { return .authentication }
            if tag(json["protection"]) == "akpu" { return needsPasscode(context) }
        }
        let accessible = stored?["kSecAttrAccessible"]
        return tag(accessible?["const"] ?? accessible?["string"]) == "akpu" ? needsPasscode(context) : nil
    }

    /// Without a passcode the class has no key, and the answer is known already.
    private static func needsPasscode(_ context: CaseContext) -> Pending? { context.passcodeSet ? .passcode : nil }

    private static func tag(_ json: JSONValue?) -> String? {
        json?.string.map { KeyName.text($0) ?? $0 }
    }

    /// Refused by what the dictionary says, before anything would be enforced.
    private static func isRefused(_ step: ConformanceCase.Step) -> Bool {
        let refusals: [OSStatus] = [errSecParam, errSecNoSuchAttr, errSecNoSuchClass, errSecMissingEntitlement]
        return !step.expected.isEmpty && step.expected.all { refusals.contains($0) }
    }

    private static func isConstrained(_ json: JSONValue) -> Bool {
        if let constraints = json["constraints"]?.object { return constraints.values.contains { $0 != .bool(true) } }
        let free: Set<String> = ["kSecAccessControlPrivateKeyUsage"]
        let rawFlags = json["rawFlags"]?.integer ?? 0
        return rawFlags & ~(1 << 30) != 0
            || (json["flags"]?.array ?? []).contains { !free.contains($0.string ?? "") }
    }
}

extension ExpectedStatus {
    var isEmpty: Bool { if case .anyOf(let wanted) = self { wanted.isEmpty } else { false } }

    func all(_ condition: (OSStatus) -> Bool) -> Bool {
        switch self {
        case .exactly(let wanted): condition(OSStatus(truncatingIfNeeded: wanted))
        case .anyOf(let wanted): wanted.allSatisfy { condition(OSStatus(truncatingIfNeeded: $0)) }
        }
    }
}
