internal import Foundation
internal import KeychainModel
internal import KeychainServices

extension ConformanceCase {
    /// Whether it makes a difference that the device has a passcode; it costs an
    /// attempt and more to set one, and most cases never look.
    var looksAtPasscode: Bool {
        context.deviceState != "unlocked"
            || steps.contains { DeviceChange(call: $0.call, $0.fields) != nil || $0.namesPasscodeClass }
    }

    /// Whether it needs a finger that is the owner's.
    var looksAtBiometry: Bool {
        steps.contains { step in
            step.call == "changeBiometryEnrolment"
                || JSONValue.object(step.fields).contains { json in
                    (json["flags"]?.array ?? []).contains { $0.string?.contains("Biometry") ?? false }
                        || json["bio"] != nil
                }
        } && steps.contains { ["add", "update"].contains($0.call) }
    }
}

extension ConformanceCase.Step {
    fileprivate var namesPasscodeClass: Bool {
        JSONValue.object(fields).contains { json in
            guard let text = json["const"]?.string ?? json["string"]?.string ?? json["protection"]?.string else {
                return false
            }
            return (KeyName.text(text) ?? text) == "akpu"
        } || JSONValue.object(fields).contains { $0["accessControl"] != nil || $0["laContext"] != nil }
    }
}
