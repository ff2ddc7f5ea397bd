internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainProtocol

// The generated messages' counterparts in our own types.

extension RowBinding {
    var message: Latchkey_EnclaveRequest.RowBinding {
        var message = Latchkey_EnclaveRequest.RowBinding()
        message.uuid = Data(uuid)
        message.classNumber = UInt32(protectionClass.number)
        message.accessControl = Data(accessControl)
        if let shown { message.shown = Latchkey_PersonQuestion.ShownItem(shown) }
        return message
    }

    /// nil for a class that this program does not know: no daemon of the same
    /// version of the protocol sends one.
    init?(_ message: Latchkey_EnclaveRequest.RowBinding) {
        guard let named = ProtectionClass(wireNumber: message.classNumber) else { return nil }
        self.init(
            uuid: Array(message.uuid), protectionClass: named, accessControl: Array(message.accessControl),
            shown: message.hasShown ? ShownItem(message.shown) : nil)
    }
}

extension ProtectionClass {
    init?(wireNumber: UInt32) {
        guard let number = UInt8(exactly: wireNumber) else { return nil }
        self.init(number: number)
    }
}

extension EnclaveDescription {
    var message: Latchkey_EnclaveReply.Description {
        var message = Latchkey_EnclaveReply.Description()
        message.protectors = protectors
        message.slots = slots
        message.state = Latchkey_DeviceState(state)
        message.generations = generations.map { named, generation in
            var one = Latchkey_EnclaveReply.ClassGeneration()
            one.classNumber = UInt32(named.number)
            one.generation = generation
            return one
        }
        message.effacedBelow = effacedBelow
        message.memoryLocked = memoryLocked
        message.keybagGeneration = keybagGeneration
        message.unrepairedFiles = unrepairedFiles
        message.startRefusal = startRefusal ?? ""
        message.loginsFault = loginsFault ?? ""
        message.placeFault = placeFault?.rawValue ?? ""
        message.measures = measures.map(Latchkey_MeasureState.init)
        return message
    }

    /// nil for a state that no enclave of ours tells.
    init?(_ message: Latchkey_EnclaveReply.Description, process: Int32) {
        guard let state = DeviceState(message.state),
            message.placeFault.isEmpty || PlaceFault(rawValue: message.placeFault) != nil
        else { return nil }
        var generations: [ProtectionClass: UInt32] = [:]
        for one in message.generations {
            guard let named = ProtectionClass(wireNumber: one.classNumber) else { return nil }
            generations[named] = one.generation
        }
        self.init(
            protectors: message.protectors, slots: message.slots, state: state, generations: generations,
            effacedBelow: message.effacedBelow, memoryLocked: message.memoryLocked,
            keybagGeneration: message.keybagGeneration, processID: process,
            unrepairedFiles: message.unrepairedFiles,
            startRefusal: message.startRefusal.isEmpty ? nil : message.startRefusal)
        placeFault = PlaceFault(rawValue: message.placeFault)
        measures = message.measures.map(\.measure)
        loginsFault = message.loginsFault.isEmpty ? nil : message.loginsFault
    }
}

extension KeychainError {
    /// What the enclave said. Whatever number it gives, the daemon sees
    /// `errSecNotAvailable`: nothing that comes over this wire may look like the
    /// fate of an item.
    init(enclaveFailure message: Latchkey_Failure) {
        self.init(
            .notAvailable, reason: Reason(code: Int(message.reason), arguments: message.arguments),
            underlying: message.underlying.isEmpty ? nil : message.underlying)
    }

    static func enclaveUnreachable(_ underlying: String) -> KeychainError {
        KeychainError(.notAvailable, reason: .enclaveUnreachable, underlying: underlying)
    }
}
