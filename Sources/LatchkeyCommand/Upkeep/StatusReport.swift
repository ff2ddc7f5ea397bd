internal import KeychainModel
internal import KeychainProtocol

/// What `latchkey status` shows, for people and for programs.
struct StatusReport: Sendable {
    let status: KeychainStatus
    let session: SessionInformation
    let device: DeviceState
    /// Whether damaged items, or a whole database, were set aside and nobody accepted that.
    let mayLackItems: Bool

    private static let classes: [(ItemClass, name: String, one: String, many: String)] = [
        (.genericPassword, "generic", "generic password", "generic passwords"),
        (.internetPassword, "internet", "internet password", "internet passwords"),
        (.certificate, "certificate", "certificate", "certificates"),
        (.key, "key", "key", "keys"),
    ]

    private var storeID: String { status.storeID.map { PrintableText.hex(UInt32($0), digits: 2) }.joined() }

    private var openClasses: [String] {
        ProtectionClass.allCases.filter(status.openClasses.contains).map(\.rawValue)
    }

    // MARK: For people

    var text: String {
        var lines = [Protection(status, session).sentence, ""]
        for (name, value) in fields {
            lines.append(name + String(repeating: " ", count: max(1, 14 - name.count)) + PrintableText.escaped(value))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var fields: [(String, String)] {
        let effacement = DeviceText(device).effacement.map { [("With passcode", $0)] } ?? []
        let counter = DeviceText(device).counter.map { [("Counter", $0)] } ?? []
        return before + effacement + counter + after
    }

    private var before: [(String, String)] {
        [
            ("Keychain", session.isTemporary ? "temporary" : "your own"),
            ("Data", status.dataDirectory),
            ("Store", "\(storeID) (format \(status.storeFormat))"),
            ("Lock", DeviceText(device).lock),
            ("Passcode", status.hasPasscode ? "set" : "none"),
            ("Recovery code", device.hasRecoveryCode ? "set" : "none"),
            ("Attempts", DeviceText(device).attempts),
            ("Unlocks", unlocks),
            ("Locks", locks),
        ]
    }

    private var after: [(String, String)] {
        [
            ("Protectors", list(status.protectors)),
            ("Slots", list(status.slots)),
            ("Open classes", list(openClasses)),
        ] + unrepaired + [
            ("Memory", status.memoryLocked ? "locked" : "not locked: secrets can reach the swap"),
            ("Items", items),
            (
                "Damaged",
                "\(status.damaged)" + (mayLackItems ? "; items may be missing: `latchkey doctor` says more" : "")
            ),
            ("This program", "\(session.identity), \(strength)"),
            ("Groups", list(session.groups)),
            ("May name", list(session.nameableGroups)),
            ("Kernel", session.missingFeatures.isEmpty ? "has all we check" : "lacks " + list(session.missingFeatures)),
            ("Daemon", "process \(status.daemonProcess), version \(session.serverVersion)"),
            ("Enclave", "process \(status.enclaveProcess)"),
            ("This version", LatchkeyVersion.text),
        ]
    }

    /// Files of the keys that are gone or damaged; where all are whole nothing is said.
    private var unrepaired: [(String, String)] {
        guard !status.unrepairedFiles.isEmpty else { return [] }
        return [("Not written", list(status.unrepairedFiles.sorted()) + " (keys): `latchkey doctor` says more")]
    }

    private var unlocks: String {
        if let refusal = status.startRefusal { return "by itself, but did not: \(refusal)" }
        if device.opensByItself { return "by itself" }
        guard status.hasPasscode else { return "is always open" }
        guard device.fingerUnlocks else { return "when a person comes" }
        return "when a person comes, or a finger after a lock" + (device.fingerOpens ? ", also now" : "")
    }

    private var locks: String {
        guard status.hasPasscode else { return "not without a passcode" }
        guard device.lockPolicy != .never else { return "when it is told to" }
        let fault = status.loginsFault.map { "; sleep and locked screens: \($0)" }
        return "by itself, " + device.lockPolicy.words + (fault ?? "")
    }

    private func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    private var items: String {
        let counted = Self.classes.compactMap { itemClass, _, one, many -> String? in
            guard let count = status.items[itemClass], count > 0 else { return nil }
            return "\(count) \(count == 1 ? one : many)"
        }
        return list(counted)
    }

    private var strength: String {
        switch session.strength {
        case .none: "who calls is not certain at all"
        case .user: "another program of yours could pose as it"
        case .program: "no other program can pose as it"
        }
    }

    // MARK: For programs

    var json: JSONValue {
        .object(
            [
                ("protection", .string(Protection(status, session).sentence)),
                ("temporary", .bool(session.isTemporary)),
                ("dataDirectory", .string(status.dataDirectory)), ("storeID", .string(storeID)),
                ("storeFormat", .integer(Int64(status.storeFormat))), ("passcode", .bool(status.hasPasscode)),
            ] + DeviceText(device).statusMembers + [
                ("protectors", .strings(status.protectors)), ("slots", .strings(status.slots)),
                ("startRefusal", JSONValue(status.startRefusal)), ("loginsFault", JSONValue(status.loginsFault)),
                ("openClasses", .strings(openClasses)),
                ("unrepairedFiles", .strings(status.unrepairedFiles.sorted())),
                ("memoryLocked", .bool(status.memoryLocked)),
                ("items", .object(Self.classes.map { ($0.name, .integer(Int64(status.items[$0.0] ?? 0))) })),
                ("damaged", .integer(Int64(status.damaged))), ("mayLackItems", .bool(mayLackItems)),
                ("program", program),
                ("missingKernelFeatures", .strings(session.missingFeatures)),
                (
                    "daemon",
                    .object([
                        ("pid", .integer(Int64(status.daemonProcess))), ("version", .string(session.serverVersion)),
                    ])
                ),
                ("enclave", .object([("pid", .integer(Int64(status.enclaveProcess)))])),
                ("version", .string(LatchkeyVersion.text)),
            ])
    }

    private var program: JSONValue {
        let strength =
            switch session.strength {
            case .none: "none"
            case .user: "user"
            case .program: "program"
            }
        return .object([
            ("identity", .string(session.identity)), ("strength", .string(strength)),
            ("groups", .strings(session.groups)), ("nameableGroups", .strings(session.nameableGroups)),
        ])
    }
}
