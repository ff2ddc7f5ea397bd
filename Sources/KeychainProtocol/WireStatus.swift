internal import FoundationEssentials
package import KeychainMessages
internal import KeychainModel
package import KeychainPlatform

extension Latchkey_StatusReport {
    init(_ status: KeychainStatus) {
        self.init()
        dataDirectory = status.dataDirectory
        storeID = status.storeID.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        storeFormat = UInt32(status.storeFormat)
        hasPasscode_p = status.hasPasscode
        protectors = status.protectors
        slots = status.slots
        startRefusal = status.startRefusal ?? ""
        loginsFault = status.loginsFault ?? ""
        unrepairedFiles = status.unrepairedFiles
        classes = ProtectionClass.allCases.map { item in
            var state = ClassState()
            state.code = item.rawValue
            state.open = status.openClasses.contains(item)
            return state
        }
        memoryLocked = status.memoryLocked
        for (itemClass, count) in status.items { items[itemClass.rawValue] = UInt64(count) }
        damaged = UInt64(status.damaged)
        daemonProcess = status.daemonProcess
        enclaveProcess = status.enclaveProcess
        daemonMeasures = status.daemonMeasures.map(Latchkey_MeasureState.init)
        enclaveMeasures = status.enclaveMeasures.map(Latchkey_MeasureState.init)
    }

    func keychainStatus() throws(WireFault) -> KeychainStatus {
        var status = KeychainStatus()
        status.dataDirectory = dataDirectory
        status.storeID = Self.bytes(hex: storeID)
        status.storeFormat = Int(storeFormat)
        status.hasPasscode = hasPasscode_p
        status.protectors = protectors
        status.slots = slots
        status.startRefusal = startRefusal.isEmpty ? nil : startRefusal
        status.loginsFault = loginsFault.isEmpty ? nil : loginsFault
        status.unrepairedFiles = unrepairedFiles
        status.openClasses = Set(classes.filter(\.open).compactMap { ProtectionClass(rawValue: $0.code) })
        status.memoryLocked = memoryLocked
        for (name, count) in items {
            guard let itemClass = ItemClass(rawValue: name), let count = Int(exactly: count) else { throw WireFault() }
            status.items[itemClass] = count
        }
        status.damaged = Int(clamping: damaged)
        status.daemonProcess = daemonProcess
        status.enclaveProcess = enclaveProcess
        status.daemonMeasures = daemonMeasures.map(\.measure)
        status.enclaveMeasures = enclaveMeasures.map(\.measure)
        return status
    }

    private static func bytes(hex text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }
}

extension Latchkey_MeasureState {
    package init(_ state: MeasureState) {
        self.init()
        name = state.name
        inForce = state.isInForce
        note = state.note
    }

    package var measure: MeasureState { MeasureState(name: name, isInForce: inForce, note: note) }
}

extension Latchkey_ServerHello {
    package init(_ session: SessionInformation, protocolVersion: UInt32) {
        self.init()
        `protocol` = protocolVersion
        programVersion = session.serverVersion
        groups = session.groups
        nameableGroups = session.nameableGroups
        strength = Latchkey_Strength(rawValue: session.strength.rawValue) ?? .none
        temporary = session.isTemporary
        identity = session.identity
        missingFeatures = session.missingFeatures
    }

    package var session: SessionInformation {
        var session = SessionInformation(
            groups: groups, nameableGroups: nameableGroups,
            strength: IdentityStrength(rawValue: strength.rawValue) ?? .none, isTemporary: temporary,
            identity: identity, missingFeatures: missingFeatures, serverVersion: programVersion)
        session.protocolVersion = `protocol`
        return session
    }
}
