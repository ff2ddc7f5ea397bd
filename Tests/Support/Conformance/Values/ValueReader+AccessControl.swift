internal import Foundation
internal import KeychainModel
internal import KeychainServices

extension ValueReader {
    /// `{protection, flags}` or `{protection, constraints}`.
    func accessControl(_ json: JSONValue) throws -> SecAccessControl {
        guard json["constraints"] != nil else { return try Self.made(makeAccessControl(json)) }
        guard let tag = json["protection"]?.string.flatMap(KeyName.text),
            let constraints = json["constraints"]?.object
        else { throw CorpusError("an access control of unknown form: \(json)") }
        return SecAccessControl(
            AccessControl(
                protection: tag, constraints: try constraints.mapValues(Self.constraint),
                requiresApplicationPassword: false))
    }

    /// Calls SecAccessControlCreateWithFlags: the object, or the code of its error.
    func makeAccessControl(_ json: JSONValue) throws -> (SecAccessControl?, OSStatus) {
        var failure: Unmanaged<CFError>?
        let made = unsafe SecAccessControlCreateWithFlags(
            nil, try protection(json["protection"] ?? .null), try Self.flags(json), &failure)
        guard let error = unsafe failure?.takeRetainedValue() else { return (made, errSecSuccess) }
        return (made, OSStatus(truncatingIfNeeded: CFErrorGetCode(error)))
    }

    private static func made(_ outcome: (SecAccessControl?, OSStatus)) throws -> SecAccessControl {
        guard let object = outcome.0 else { throw CorpusError("no such access control: status \(outcome.1)") }
        return object
    }

    /// A constant's value, a text that is none as it stands, or the null object.
    private func protection(_ json: JSONValue) throws -> NSObject {
        switch json {
        case .null: NSNull()
        case .string(let name): NSString(string: KeyName.text(name) ?? name)
        default: try object(json)
        }
    }

    private static func flags(_ json: JSONValue) throws -> SecAccessControlCreateFlags {
        var flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(json["rawFlags"]?.integer ?? 0))
        for name in json["flags"]?.array ?? [] {
            guard let flag = name.string.flatMap({ flagsByName[$0] }) else { throw CorpusError("unknown flag \(name)") }
            flags.insert(flag)
        }
        return flags
    }

    static let flagsByName: [String: SecAccessControlCreateFlags] = [
        "kSecAccessControlUserPresence": .userPresence, "kSecAccessControlBiometryAny": .biometryAny,
        "kSecAccessControlTouchIDAny": .biometryAny, "kSecAccessControlBiometryCurrentSet": .biometryCurrentSet,
        "kSecAccessControlTouchIDCurrentSet": .biometryCurrentSet,
        "kSecAccessControlDevicePasscode": .devicePasscode, "kSecAccessControlWatch": .watch,
        "kSecAccessControlCompanion": .companion, "kSecAccessControlOr": .or, "kSecAccessControlAnd": .and,
        "kSecAccessControlPrivateKeyUsage": .privateKeyUsage,
        "kSecAccessControlApplicationPassword": .applicationPassword,
    ]

    /// The constraint of one operation (spec section 8).
    static func constraint(_ json: JSONValue) throws -> AccessConstraint {
        switch json {
        case .bool(let free): return free ? .allowed : .denied
        case .object(let members):
            if members["policy"] == .string("DeviceOwnerAuthentication") { return .deviceOwner }
            if members["user-passcode"] == .bool(true) || members["passcode"] == .bool(true) { return .passcode }
            if members["watch"] == .bool(true) { return .watch }
            return .unsupported
        default: throw CorpusError("a constraint of unknown form: \(json)")
        }
    }
}
