internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What the root key is bound to, changed.
extension EnclaveCore {
    // MARK: Before the slow part

    /// What devices have to do for a request; nil: nothing.
    ///
    /// - Throws: `errSecParam`, reason `protectorRefused`, for what no device could help.
    func deviceWork(for request: PersonRequest) throws(KeychainError) -> DeviceWork? {
        let jobs: [DeviceWork.Job]
        switch request {
        case .protector(let request): jobs = try self.jobs(for: request)
        case .slot(let request): jobs = self.jobs(for: request)
        // Either may replace the root key.
        case .confirmRecoveryCode where pendingCode == nil: return nil
        case .confirmRecoveryCode, .removeRecoveryCode: jobs = try resealing { $0.kind == .recoveryCode }
        default: return nil
        }
        if case .slot = request, jobs.isEmpty { return nil }
        return DeviceWork(jobs: jobs, hardware: hardware)
    }

    private func jobs(for request: ProtectorRequest) throws(KeychainError) -> [DeviceWork.Job] {
        let present = try held().body.protectors
        switch request {
        case .list: return []
        case .test(let gone):
            return present.filter { $0.identifier != gone }.compactMap { protector in
                protector.sealed.map { .unseal(protector.identifier, $0) }
                    ?? protector.sealedByKey.map { .renew(protector.identifier, $0) }
            }
        case .add(.softwareFile, _):
            guard !present.contains(where: { $0.kind == .softwareFile }) else {
                throw .protector("the software file is there already")
            }
            guard keybag.body.counter.place == nil else {
                throw .protector(
                    "with the software file an older copy opens anywhere; `latchkey protector counter off` comes first")
            }
            return []
        case .add(.fido2(let address, let pin), _):
            try refuseMoreDevices(present)
            return [.make(Random.bytes(ProtectorsBody.Protector.identifierCount), address, pin: pin)]
        case .add(.tpm2(let address), _):
            try refuseMoreDevices(present)
            guard !present.contains(where: { $0.sealed?.address == address }) else {
                throw .protector("the TPM at \(address) is one already; `latchkey protector reseal` seals anew")
            }
            return [.seal(Random.bytes(ProtectorsBody.Protector.identifierCount), address)]
        case .reseal(let name, let pin, _):
            let protector = try protector(named: name)
            if let sealed = protector.sealed, pin == nil { return [.seal(name, sealed.address)] }
            guard protector.sealedByKey != nil else { throw .protector("only a TPM or a security key is sealed anew") }
            return [.make(name, .plugged, pin: pin)]
        case .remove(let name, _, let code):
            let kind = try protector(named: name).kind
            try refuseWhatCountingNeeds(removing: try protector(named: name))
            if case .goes = code { try refuseLosingTheCode() }
            return try resealing { $0.identifier == name || (kind == .recoveryCode && $0.kind == kind) }
        }
    }

    private func refuseMoreDevices(_ present: [ProtectorsBody.Protector]) throws(KeychainError) {
        guard present.count(where: \.isDevice) < DeviceWork.mostDevices else {
            throw .protector("it is bound to \(DeviceWork.mostDevices) devices already, which is all there may be")
        }
    }

    /// Every device that stays gets a new secret: the old one stays worth the old root key.
    private func resealing(without gone: (ProtectorsBody.Protector) -> Bool) throws(KeychainError) -> [DeviceWork.Job] {
        guard let protectors else { return [] }
        return protectors.body.protectors.filter { !gone($0) }.compactMap { protector in
            protector.sealed.map { .seal(protector.identifier, $0.address) }
                ?? protector.sealedByKey.map { .renew(protector.identifier, $0) }
        }
    }

    private func held() throws(KeychainError) -> HeldProtectors {
        guard let protectors else { throw .protector("a keychain in memory is bound to nothing but its process") }
        guard protectors.body.coming.isEmpty else {
            throw .protector("a change of them was cut short; `latchkey lock --stop`, or a new start, finishes it")
        }
        return protectors
    }

    private func protector(named identifier: [UInt8]) throws(KeychainError) -> ProtectorsBody.Protector {
        guard let found = try held().body.protector(named: identifier) else {
            throw .protector("there is none of that name")
        }
        return found
    }

    // MARK: After it

    mutating func perform(
        _ request: ProtectorRequest, with derived: DerivedSecrets, at moment: Duration
    ) throws(KeychainError) -> PersonOutcome {
        let devices = derived.devices ?? DeviceWork.Outcome()
        switch request {
        case .list: return .protectors(try states { _ in .none })
        case .test(let gone):
            return .protectors(try states { $0.identifier == gone ? .none : trial(of: $0, devices) })
        case .add(let new, _): try add(new, devices)
        case .reseal(let name, _, _): try reseal(try protector(named: name), derived, devices)
        case .remove(let name, _, let code): try remove(try protector(named: name), code, derived, devices)
        }
        if let kind = PersonRequest.protector(request).auditKind { audit.witness.note(kind, at: moment) }
        stateNumber += 1
        return .protectors(try states { _ in .none })
    }

    private func states(
        _ trial: (ProtectorsBody.Protector) -> ProtectorState.Trial
    ) throws(KeychainError) -> [ProtectorState] {
        try held().body.protectors.map { protector in
            ProtectorState(
                kind: protector.kind.name, identifier: protector.identifier, address: protector.sealed?.address,
                product: protector.sealedByKey?.credential.product ?? "", trial: trial(protector))
        }
    }

    /// Whether it would open the root key that is open now.
    private func trial(
        of protector: ProtectorsBody.Protector, _ devices: DeviceWork.Outcome
    ) -> ProtectorState.Trial {
        switch protector.kind {
        case .recoveryCode: return .needsPerson
        case .unknown: return .failed("it is of a newer version of Latchkey")
        case .softwareFile:
            do throws(KeybagError) {
                guard let secret = protectors?.software, opens(protector, secret.key), try storage.holds(secret) else {
                    return .failed("its file is gone, or is not the one that it was made with")
                }
                return .opens
            } catch { return .failed("its file cannot be read") }
        case .tpm2:
            if let refusal = devices.refusals[protector.identifier] { return .failed("\(refusal)") }
            guard let secret = devices.unsealed[protector.identifier],
                opens(protector, SealingKey(secret.bytes.copy()))
            else { return .failed("it gives back another secret than it was given") }
            return .opens
        case .fido2:
            if let refusal = devices.refusals[protector.identifier] { return .failed("\(refusal)") }
            return makesTheSame(protector, devices) ? .opens : .failed(Self.makesAnother)
        }
    }

    private static let makesAnother = "the security key makes another secret than before"

    private func makesTheSame(_ protector: ProtectorsBody.Protector, _ devices: DeviceWork.Outcome) -> Bool {
        guard let secret = devices.unsealed[protector.identifier] else { return false }
        return opens(protector, .ofSecurityKey(secret.bytes))
    }

    private func opens(_ protector: ProtectorsBody.Protector, _ key: borrowing SealingKey) -> Bool {
        RootKey(protector, of: store, under: key)?.isEqual(to: keybag.root) ?? false
    }

    private mutating func add(_ new: NewProtector, _ devices: DeviceWork.Outcome) throws(KeychainError) {
        let held = try held()
        do throws(KeybagError) {
            switch new {
            case .softwareFile:
                let secret = try storage.makeSoftwareSecret()
                let made = keybag.root.protected(
                    by: .softwareFile, named: secret.identifier, under: secret.key, of: store)
                try write(held.body.protectors + [made])
                protectors?.software = secret
            case .tpm2:
                guard let (name, sealed) = devices.sealed.first else { throw Self.failure(of: devices) }
                try write(held.body.protectors + [tpm(named: name, sealed, under: keybag.root)])
            case .fido2:
                guard let (name, made) = devices.made.first else { throw Self.failure(of: devices) }
                try write(held.body.protectors + [securityKey(named: name, made, under: keybag.root)])
            }
        } catch { throw error.asKeychainError }
    }

    /// The recovery code as a protector, beside those that are there.
    mutating func addProtector(of code: DerivedSecret) throws(KeybagError) {
        guard let held = protectors else { return }
        try write(held.body.protectors + [recovery(code, under: keybag.root)])
    }

    private mutating func reseal(
        _ protector: ProtectorsBody.Protector, _ derived: DerivedSecrets, _ devices: DeviceWork.Outcome
    ) throws(KeychainError) {
        let others = try held().body.protectors
        do throws(KeybagError) {
            let fresh = try sealedAnew(protector, under: keybag.root, devices)
            try write(others.map { $0.identifier == protector.identifier ? fresh : $0 })
        } catch { throw error.asKeychainError }
    }

    private mutating func remove(
        _ protector: ProtectorsBody.Protector, _ code: CodeOnRemoval, _ derived: DerivedSecrets,
        _ devices: DeviceWork.Outcome
    ) throws(KeychainError) {
        let rest = try held().body.protectors.filter { $0.identifier != protector.identifier }
        let isCode = protector.kind == .recoveryCode
        try refuse(removing: protector, leaving: rest, devices)
        if !isCode, rest.contains(where: { $0.kind == .recoveryCode }) || keybag.body.slot(.recovery) != nil {
            if case .none = code { throw .protector("the recovery code is needed, or has to go as well") }
            if let derived = derived.code, !opensRecovery(derived, rest) { throw Self.wrong }
        }
        do throws(KeybagError) {
            if keybag.body.hasPasscode { try open(derived.credential) }
            let keepsCode = !isCode && derived.code != nil
            try replaceRoot(
                without: { $0.identifier == protector.identifier || ($0.kind == .recoveryCode && !keepsCode) },
                passcode: derived.credential, code: keepsCode ? derived.code : nil, devices)
        } catch { throw error == .unreadable(.slotRefuses) ? Self.wrong : error.asKeychainError }
    }

    /// Whether a code is that of the protector, or of the slot where there is no protector.
    private func opensRecovery(_ code: DerivedSecret, _ rest: [ProtectorsBody.Protector]) -> Bool {
        guard let protector = rest.first(where: { $0.kind == .recoveryCode }) else {
            return keybag.accepts(code.slotSecret)
        }
        return opens(protector, .ofRecoveryCode(code.secret.bytes))
    }

    /// The last one that opens by itself stays, and so does everything where one of the
    /// others does not work: it could not be given the new root key.
    private func refuse(
        removing protector: ProtectorsBody.Protector, leaving rest: [ProtectorsBody.Protector],
        _ devices: DeviceWork.Outcome
    ) throws(KeychainError) {
        guard rest.contains(where: { $0.kind == .softwareFile || $0.isDevice }) else {
            throw .protector("it is the last one that opens without a person")
        }
        for other in rest {
            switch other.kind {
            case .softwareFile where protectors?.software == nil:
                throw .protector("the software file does not open; remove that first")
            case .tpm2 where devices.sealed[other.identifier] == nil:
                let why = devices.refusals[other.identifier].map { "\($0)" } ?? "it was not asked"
                throw .protector("the TPM does not work (\(why)); reseal or remove that first")
            case .fido2 where devices.made[other.identifier] == nil || !makesTheSame(other, devices):
                let why = devices.refusals[other.identifier].map { "\($0)" } ?? Self.makesAnother
                throw .protector("the security key does not work (\(why)); reseal or remove that first")
            case .unknown: throw .protector("one of them is of a newer version of Latchkey")
            default: break
            }
        }
    }

    // MARK: Writing

    /// Puts another root key in the place of this one, for the protectors that stay; keys
    /// below it get a new generation. What a protector that goes had wrapped opens
    /// nothing that is written from then on.
    ///
    /// First the file `protectors` says both keys, then the keybag is written under the
    /// new one, then the file says that alone: after a crash at any point one of the two
    /// is the root key, and the next opening goes on with the rest.
    mutating func replaceRoot(
        without gone: (ProtectorsBody.Protector) -> Bool, passcode: DerivedSecret?, code: DerivedSecret?,
        _ devices: DeviceWork.Outcome?
    ) throws(KeybagError) {
        let slots = [passcode, passcode == nil ? nil : code].compactMap { $0 }
        guard let held = protectors else { return try change(.rolled, slots) }
        let new = NewRoot()
        let coming = try wraps(of: new.key, for: held.body.protectors.filter { !gone($0) }, code, devices)
        let announced = ProtectorsBody(store: store, protectors: held.body.protectors, coming: coming)
        do throws(KeybagError) {
            let unwritten = try store(announced)
            // With one copy alone that says so, the loss of that copy would lose the root key.
            if let failure = unwritten.first { throw failure.error }
            try announceCount(under: new.key)
            try change(.rolled, slots, movingTo: new)
        } catch {
            // The keybag is as it was: nothing comes any more. Where that cannot be
            // written either, the next opening finds the keybag under the present key.
            try write(held.body.protectors)
            throw error
        }
        try finishRoot(ProtectorsBody(store: store, protectors: coming), announced)
    }

    /// The count under the key that comes, beside the one under the key that goes: after a crash
    /// whichever key it is finds one, or the folder were refused.
    private func announceCount(under new: borrowing RootKey) throws(KeybagError) {
        guard counter != nil else { return }
        if let failure = try storage.write(presentAttempts, root: keybag.root).first { throw failure.error }
        try storage.write(presentAttempts, before: new)
    }

    var presentAttempts: AttemptsBody {
        AttemptsBody(store: store, failed: attempts.failed, anchor: counter?.anchor)
    }

    /// Until both copies of both files are written, both root keys stay announced: the
    /// next opening goes on, with whatever of either opens.
    ///
    /// - Throws: ``KeybagError/unfinished(why:)``. The new key is the root key all the same.
    private mutating func finishRoot(
        _ body: ProtectorsBody, _ announced: ProtectorsBody
    ) throws(KeybagError) {
        stateNumber += 1
        protectors?.body = announced
        do throws(KeybagError) { try writeRoot(body) } catch {
            throw .unfinished(why: error.asKeychainError.underlying ?? "the disk failed")
        }
    }

    private mutating func writeRoot(_ body: ProtectorsBody) throws(KeybagError) {
        let generation = keybag.generation
        if let failure = try storage.write(keybag.body, generation: generation, root: keybag.root).first {
            throw failure.error
        }
        note(unwritten: [])
        // Under the key that goes nobody reads how many there were, which counts as many.
        if let failure = try storage.write(presentAttempts, root: keybag.root).first { throw failure.error }
        counter?.writtenFailed = attempts.failed
        if let failure = try store(body).first { throw failure.error }
        protectors?.body = body
        guard !body.contains(.softwareFile) else { return }
        protectors?.software = nil
        try storage.effaceSoftwareSecret()
    }

    private func wraps(
        of root: borrowing RootKey, for rest: [ProtectorsBody.Protector], _ code: DerivedSecret?,
        _ devices: DeviceWork.Outcome?
    ) throws(KeybagError) -> [ProtectorsBody.Protector] {
        var wraps: [ProtectorsBody.Protector] = []
        for protector in rest where protector.kind != .recoveryCode {
            switch protector.kind {
            case .softwareFile:
                guard let secret = protectors?.software else { throw .unreadable(.secretDamaged) }
                try storage.keepSoftwareSecret(secret)
                wraps.append(root.protected(by: .softwareFile, named: secret.identifier, under: secret.key, of: store))
            case .tpm2: wraps.append(try sealedAnew(protector, under: root, devices))
            case .fido2:
                let fresh = try sealedAnew(protector, under: root, devices)
                // What it says of a new salt counts where it says the same as ever of the old.
                guard let devices, makesTheSame(protector, devices) else { throw .device(.failed(Self.makesAnother)) }
                wraps.append(fresh)
            case .recoveryCode, .unknown: throw .unreadable(.noProtectorOpens)
            }
        }
        if let code { wraps.append(recovery(code, under: root)) }
        return wraps
    }

    /// As the device sealed it for this request.
    private func sealedAnew(
        _ protector: ProtectorsBody.Protector, under root: borrowing RootKey, _ devices: DeviceWork.Outcome?
    ) throws(KeybagError) -> ProtectorsBody.Protector {
        if protector.kind == .tpm2, let sealed = devices?.sealed[protector.identifier] {
            return tpm(named: protector.identifier, sealed, under: root)
        }
        if protector.kind == .fido2, let made = devices?.made[protector.identifier] {
            return securityKey(named: protector.identifier, made, under: root)
        }
        throw Self.failure(of: devices)
    }

    private func securityKey(
        named identifier: [UInt8], _ made: (key: SharedSecret, sealed: SealedByFIDO2), under root: borrowing RootKey
    ) -> ProtectorsBody.Protector {
        root.protected(
            by: .fido2, named: identifier, under: .ofSecurityKey(made.key.bytes), of: store,
            parameters: made.sealed.encoded)
    }

    private func tpm(
        named identifier: [UInt8], _ made: (key: SharedSecret, sealed: SealedByTPM), under root: borrowing RootKey
    ) -> ProtectorsBody.Protector {
        root.protected(
            by: .tpm2, named: identifier, under: SealingKey(made.key.bytes.copy()), of: store,
            parameters: made.sealed.encoded)
    }

    private func recovery(_ code: DerivedSecret, under root: borrowing RootKey) -> ProtectorsBody.Protector {
        root.protected(
            by: .recoveryCode, named: Random.bytes(ProtectorsBody.Protector.identifierCount),
            under: .ofRecoveryCode(code.secret.bytes), of: store)
    }

    private mutating func write(_ protectors: [ProtectorsBody.Protector]) throws(KeybagError) {
        guard self.protectors != nil else { return }
        guard protectors.count <= ProtectorsBody.mostProtectors else { throw .device(.failed("there are too many")) }
        let body = ProtectorsBody(store: store, protectors: protectors)
        note(unwritten: try store(body), of: .protectors)
        self.protectors?.body = body
    }

    /// The file, and nothing else: what it says is not adopted yet.
    private mutating func store(_ body: ProtectorsBody) throws(KeybagError) -> [RepairFailure] {
        guard let generation = protectors?.nextGeneration() else { return [] }
        let failures = try storage.write(body, generation: generation, root: keybag.root)
        protectors?.noteWritten()
        return failures
    }

    static func failure(of devices: DeviceWork.Outcome?) -> KeybagError {
        .device(devices?.refusals.values.first ?? .failed("it was not asked"))
    }
}

extension KeychainError {
    fileprivate static func protector(_ why: String) -> KeychainError { .parameter(.protectorRefused(why: why)) }
}
