internal import Foundation
internal import KeychainModel
internal import KeychainServices

extension Pending {
    /// What a store has to be able to enforce before it may take the item.
    static func protection(_ step: ConformanceCase.Step) -> Pending? {
        guard ["add", "update"].contains(step.call), !isRefused(step) else { return nil }
        let stored = step[step.call == "add" ? "query" : "attrs"]
        guard let json = stored?["kSecAttrAccessControl"]?["accessControl"] else { return nil }
        return isConstrained(json) ? .authentication : nil
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

extension ConformanceCase {
    /// Whether it makes a difference that the device has a passcode; it costs an
    /// attempt and more to set one, and most cases never look.
    var looksAtPasscode: Bool {
        context.deviceState != "unlocked"
            || steps.contains { DeviceChange(call: $0.call, state: $0["state"]?.string) != nil || $0.namesPasscodeClass }
    }
}

extension ConformanceCase.Step {
    fileprivate var namesPasscodeClass: Bool {
        JSONValue.object(fields).contains { json in
            guard let text = json["const"]?.string ?? json["string"]?.string ?? json["protection"]?.string else {
                return false
            }
            return (KeyName.text(text) ?? text) == "akpu"
        }
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
