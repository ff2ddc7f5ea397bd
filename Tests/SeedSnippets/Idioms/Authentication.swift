import Foundation
import LocalAuthentication
import Security

// LAContext and LAError as applications and wrappers use them. What needs somebody to
// agree is tried out with the engine, not here.

private func fail(_ error: any Error) throws { throw error }

private func text(_ code: LAError.Code) -> String {
    switch code {
    case .userCancel, .appCancel, .systemCancel: "cancelled"
    case .biometryLockout, .biometryNotAvailable, .biometryNotEnrolled: "no biometry"
    case .passcodeNotSet: "no passcode"
    case .authenticationFailed: "wrong"
    default: "other"
    }
}

/// catch by code, as LAError, as NSError; casts both ways; the same for an NSError.
func errorsOfAuthentication() throws {
    for thrown in [LAError(.userCancel), NSError(domain: LAErrorDomain, code: -2)] as [any Error] {
        do { try fail(thrown) } catch LAError.userFallback { expect(false) } catch LAError.userCancel {}
        do { try fail(thrown) } catch let error as LAError where error.code == .userCancel {
            expect(text(error.code) == "cancelled")
        }
        do { try fail(thrown) } catch let error as NSError {
            expect(error.domain == LAErrorDomain && error.code == LAError.userCancel.rawValue)
        }
        do { try fail(thrown) } catch {
            expect((error as? LAError)?.code == .userCancel && error is LAError)
            expect((error as NSError).code == LAError.Code.userCancel.rawValue)
            expect((error as NSError).code == Int(kLAErrorUserCancel))
            expect(LAError.Code(rawValue: error._code) == .userCancel)
            if case LAError.userCancel = error {} else { expect(false) }
        }
    }
    let other: any Error = NSError(domain: NSOSStatusErrorDomain, code: -2)
    expect(other as? LAError == nil)
}

/// A context before anybody agrees, and after it was invalidated.
func contextsOfAuthentication() async throws {
    let context = LAContext()
    context.localizedFallbackTitle = ""
    context.localizedCancelTitle = "Not now"
    context.interactionNotAllowed = true
    context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
    expect(context.evaluatedPolicyDomainState == nil && !context.isCredentialSet(.applicationPassword))
    context.invalidate()

    var error: NSError?
    expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
    expect(error?.code == LAError.invalidContext.rawValue && (error as? LAError)?.code == .invalidContext)
    if let error { expect(LAError(_nsError: error).code == .invalidContext) }
    expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Why")
        expect(false)
    } catch LAError.invalidContext {}
    let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)!
    let answer = await withCheckedContinuation { (continuation: CheckedContinuation<LAError.Code?, Never>) in
        context.evaluateAccessControl(access, operation: .useItem, localizedReason: "Why") { success, error in
            expect(!success)
            continuation.resume(returning: (error as? LAError)?.code)
        }
    }
    expect(answer == .invalidContext)
    let names: [LABiometryType: String] = [.none: "Passcode", .touchID: "Touch ID", .faceID: "Face ID"]
    expect(names[context.biometryType] == "Passcode")
}

/// kSecUseAuthenticationContext in dictionaries of each kind.
func contextsInQueries() throws {
    let context = LAContext()
    context.localizedReason = "Why"
    context.invalidate()
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecUseAuthenticationContext as String: context,
    ]
    expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecAuthFailed)
    let hashable: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword, kSecUseAuthenticationContext as String: context,
    ]
    expect(SecItemDelete(hashable as CFDictionary) == errSecAuthFailed)
    let strings: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecUseAuthenticationContext: context]
    expect(SecItemAdd(strings as CFDictionary, nil) == errSecAuthFailed)
    let changes = [kSecAttrLabel: "l"] as CFDictionary
    expect(SecItemUpdate(query as CFDictionary, changes) == errSecAuthFailed)
    let optional: LAContext? = nil
    let none = query.merging([kSecUseAuthenticationContext as String: optional as Any]) { $1 }
    expect(SecItemCopyMatching(none as CFDictionary, nil) == errSecParam)
}

private protocol Evaluating {
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void)
}

extension LAContext: Evaluating {}

private final class AlwaysAgreeing: LAContext, @unchecked Sendable {
    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) { reply(true, nil) }
}

/// Subclasses and protocols by which tests of applications replace a context.
func contextsThatAreReplaced() async throws {
    let context: LAContext = AlwaysAgreeing()
    expect((context as any Evaluating).canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
    expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Why"))
}

/// Items that open only when somebody agrees.
func constraintsNeedAPasscode() throws {
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "idiom.pending",
        kSecValueData as String: Data("x".utf8),
    ]
    for flags in [.userPresence, .biometryCurrentSet, .devicePasscode, .applicationPassword]
        as [SecAccessControlCreateFlags]
    {
        let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil)
        let guarded = item.merging([kSecAttrAccessControl as String: access as Any]) { $1 }
        expect(SecItemAdd(guarded as CFDictionary, nil) == errSecAuthFailed, "\(flags.rawValue)")
    }
    let passcode = item.merging([
        kSecAttrAccessible as String: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
    ]) { $1 }
    expect(SecItemAdd(passcode as CFDictionary, nil) == errSecAuthFailed)
    expect(
        SecItemCopyMatching(
            [kSecClass: kSecClassGenericPassword, kSecAttrService: "idiom.pending"] as CFDictionary, nil)
            == errSecItemNotFound)
}
