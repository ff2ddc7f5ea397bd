import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// One request of a person: what they know before and after it.
struct PasscodeRequest {
    enum Kind: String, CaseIterable, CustomStringConvertible {
        case set, change, reset, remove, addCode, removeCode, addLogin, changeLogin, removeLogin, lock, unlock
        /// The first of two; the other gets another secret.
        case removeTPM

        static let withoutDevices = allCases.filter { $0 != .removeTPM }
        var description: String { rawValue }
        /// Whether what lasts as long as a passcode is set is destroyed by it.
        var effaces: Bool { self == .reset || self == .remove }
    }

    let kind: Kind
    let before: Credentials
    let after: Credentials
    let perform: (RemotePersonDoor) throws -> Void
}

/// Keeps what an enclave has to open, and holds it against that after each kill.
final class PasscodeBook {
    private static let keptOfEachClass = 3

    let home: PasscodeHome
    private(set) var known = Credentials()
    private(set) var counts = FaultCounts()
    /// How often each request was under way when the kill fell.
    private(set) var struck: [PasscodeRequest.Kind: Int] = [:]
    /// How long each took that was acknowledged last.
    private(set) var durations: [PasscodeRequest.Kind: Duration] = [:]
    private var kept: [KeptKey] = []
    private var lasting: KeptKey?
    private var passcodes = 0

    init(_ program: String, tpms: [SoftwareTPM] = []) throws { home = try PasscodeHome(program, tpms: tpms) }

    // MARK: Before

    /// Everything that the request needs is there, and keys have been made.
    func prepare(_ kind: PasscodeRequest.Kind) throws -> PasscodeRequest {
        try makeWayFor(kind)
        for named in [ProtectionClass.whenUnlocked, .afterFirstUnlock] {
            kept.append(try KeptKey(named, in: home.enclave))
        }
        // The first ones stay: they are of the oldest class keys.
        if kept.count > 2 * Self.keptOfEachClass { kept.removeSubrange(2..<4) }
        if known.passcode != nil, lasting == nil {
            lasting = try KeptKey(.whenPasscodeSetThisDeviceOnly, in: home.enclave)
        }
        return try request(kind)
    }

    /// Binds it to its last TPM alone, and has that count.
    func beginCounting() throws {
        try make(.set)
        try make(.addCode)
        let tpm = try #require(home.tpms.last.flatMap { TPMAddress($0.address) })
        let (passcode, code) = (SharedSecret.text(known.passcode ?? ""), SharedSecret.text(known.code ?? ""))
        let door = try home.door()
        let present = try door.addProtector(tpm, passcode: passcode)
        known.tpms.insert(tpm.description)
        let software = try #require(present.first { $0.kind == "software-file" })
        _ = try door.removeProtector(software.identifier, passcode: passcode, code: code, withoutCode: false)
        try door.count(in: tpm, passcode: passcode, code: code)
        try home.record()
    }

    private func makeWayFor(_ kind: PasscodeRequest.Kind) throws {
        if let passcode = known.passcode { try home.door().unlock(with: .passcode(.text(passcode))) }
        if kind == .set {
            if known.passcode != nil { try make(.remove) }
            return
        }
        if known.passcode == nil { try make(.set) }
        if known.code == nil, kind == .reset || kind == .removeCode { try make(.addCode) }
        if known.login == nil, kind == .changeLogin || kind == .removeLogin { try make(.addLogin) }
        guard kind == .removeTPM, let passcode = known.passcode else { return }
        for address in home.tpms.map(\.address) where !known.tpms.contains(address) {
            _ = try home.door().addProtector(TPMAddress(address), passcode: .text(passcode))
            known.tpms.insert(address)
        }
        try home.record()
    }

    /// Undisturbed.
    private func make(_ kind: PasscodeRequest.Kind) throws {
        let request = try request(kind)
        try request.perform(home.door())
        settle(on: request.after, kind)
    }

    private func settle(on credentials: Credentials, _ kind: PasscodeRequest.Kind) {
        known = credentials
        if kind.effaces { lasting = nil }
    }

    private func request(_ kind: PasscodeRequest.Kind) throws -> PasscodeRequest {
        let before = known
        let old = SharedSecret.text(before.passcode ?? "")
        var after = before
        passcodes += 1
        let next = "passcode \(passcodes)"
        let perform: (RemotePersonDoor) throws -> Void
        switch kind {
        case .set:
            after.passcode = next
            perform = { try $0.setPasscode(.text(next)) }
        case .change:
            after.passcode = next
            perform = { try $0.changePasscode(from: old, to: .text(next)) }
        case .reset:
            after.passcode = next
            let code = SharedSecret.text(before.code ?? "")
            perform = { try $0.resetPasscode(with: code, to: .text(next)) }
        case .remove:
            after = Credentials(tpms: before.tpms)
            perform = { try $0.removePasscode(with: .passcode(old)) }
        case .addCode:
            // Who is shown a code is the one who types it back.
            let door = try home.door()
            let code = try door.makeRecoveryCode(passcode: old)
            after.code = code.text
            perform = { _ in try door.confirmRecoveryCode(code) }
        case .removeCode:
            after.code = nil
            perform = { try $0.removeRecoveryCode(passcode: old) }
        case .addLogin:
            after.login = next
            perform = { _ = try $0.addLoginSlot(.text(next), passcode: old) }
        case .changeLogin:
            after.login = next
            let login = SharedSecret.text(before.login ?? "")
            perform = { try $0.changeLogin(from: login, to: .text(next)) }
        case .removeLogin:
            after.login = nil
            let name = try home.door().slots().first { $0.kind == "login" }?.identifier ?? []
            let code = before.code.map { SharedSecret.text($0) }
            perform = { _ = try $0.removeSlot(name, passcode: old, code: code) }
        case .removeTPM:
            let address = try #require(home.tpms.first?.address)
            let name = try home.door().protectors().first { $0.address?.description == address }?.identifier ?? []
            after.tpms.remove(address)
            let code = before.code.map { SharedSecret.text($0) }
            perform = { _ = try $0.removeProtector(name, passcode: old, code: code, withoutCode: code == nil) }
        case .lock: perform = { try $0.lock() }
        case .unlock: perform = { try $0.unlock(with: .passcode(old)) }
        }
        return PasscodeRequest(kind: kind, before: before, after: after, perform: perform)
    }

    // MARK: The fault

    /// Sends the request to an enclave that `strike` begins to kill; then another one
    /// has to open what this one had. Whether it was acknowledged.
    ///
    /// - Parameters:
    ///   - strike: gives what lets go of that enclave.
    ///   - reasons: what it may say where it is not killed.
    @discardableResult
    func send(
        _ request: PasscodeRequest, _ note: String, expecting reasons: Set<Reason> = [],
        while strike: (Int32) throws -> () -> Void
    ) throws -> Bool {
        let secret = try home.effacementSecret()
        let door = try home.door()
        let letGo = try strike(home.process)
        var isAcknowledged = false
        var said: KeychainError?
        let began = SystemClock().monotonic
        do {
            defer { letGo() }
            try request.perform(door)
            isAcknowledged = true
            counts.acknowledged += 1
            durations[request.kind] = SystemClock().monotonic - began
        } catch let error as KeychainError {
            counts.inFlight += 1
            said = error
            struck[request.kind, default: 0] += 1
            // Killed before it was asked, or when it might have been done already.
            let ends: [Reason] = [.enclaveUnreachable, .noAnswer(mayHaveHappened: true)]
            if !ends.contains(error.reason), !reasons.contains(error.reason) {
                complain("\(error)", \.wrongAnswers, request, note)
            }
        }
        counts.bursts += 1
        if !reasons.isEmpty { try auditLiving(request, note) }
        kill(home.process, SIGKILL)
        try home.startAnother()
        try audit(request, isAcknowledged, secret, note)
        // Nobody was killed: who is told that it failed and has it done is told that too.
        let isDone = !isAcknowledged && known == request.after
        if !reasons.isEmpty, isDone, said?.underlying?.contains("it is done all the same") != true {
            complain("done, and \(String(describing: said))", \.wrongAnswers, request, note)
        }
        return isAcknowledged
    }

    /// What the enclave's loop calls for a request that nothing disturbs.
    func calls(of kind: PasscodeRequest.Kind) throws -> [TracedCall] {
        var tracer: Tracer?
        let loop = "\(home.process)"
        try send(prepare(kind), "undisturbed") { process in
            let started = try Tracer(of: process, [], in: home.folder.path)
            tracer = started
            return started.detach
        }
        return TracedCall.all(of: loop, in: try #require(tracer).lines())
    }

    /// The enclave that met a fault and goes on: everything is open, and whoever asks what
    /// it hangs on hears that, or what to do.
    private func auditLiving(_ request: PasscodeRequest, _ note: String) throws {
        guard !ProcessHandle.isGone(home.process) else {
            return complain("the enclave has ended", \.wrongAnswers, request, note)
        }
        try auditKeys(request, note)
        do { _ = try home.door().protectors() } catch let error as KeychainError {
            guard case .protectorRefused(let why) = error.reason, why.contains("`latchkey lock --stop`") else {
                return complain("\(error)", \.wrongAnswers, request, note)
            }
        }
    }

    /// Each that is listed opens what there is, and the record goes on.
    private func auditDevices(_ request: PasscodeRequest, _ note: String) throws {
        guard !home.tpms.isEmpty else { return }
        for state in try home.door().testProtectors(pretendingGone: nil)
        where state.trial != .opens && state.trial != .needsPerson {
            complain("\(state.kind) at \(state.address?.description ?? ""): \(state.trial)", \.lost, request, note)
        }
        try home.record()
    }

    private func audit(
        _ request: PasscodeRequest, _ isAcknowledged: Bool, _ secret: Data?, _ note: String
    ) throws {
        let isDone = try home.isOpened(by: request.after)
        if isDone {
            if !isAcknowledged { counts.inFlightPresent += 1 }
            try auditLoss(request, secret, note)
            settle(on: request.after, request.kind)
        } else if isAcknowledged {
            complain("what was acknowledged opens nothing", \.lost, request, note)
        } else {
            counts.inFlightAbsent += 1
        }
        if !isDone, try !home.isOpened(by: request.before) {
            complain("neither the old nor the new opens", \.lost, request, note)
        }
        try auditKeys(request, note)
        try auditDevices(request, note)
    }

    /// What is to be gone once a request is done.
    private func auditLoss(_ request: PasscodeRequest, _ secret: Data?, _ note: String) throws {
        if let old = request.before.passcode, let new = request.after.passcode, old != new {
            let stillOpens = try home.isOpened(
                by: Credentials(
                    passcode: old, code: request.after.code, login: request.after.login, tpms: request.after.tpms))
            if stillOpens { complain("the old passcode opens beside the new", \.halfThere, request, note) }
            _ = try home.isOpened(by: request.after)
        }
        guard request.kind.effaces else { return }
        if let fate = try lasting?.fate(in: home.enclave), fate != .effaced {
            complain("a key of akpu that is gone: \(fate)", \.halfThere, request, note)
        }
        if let secret, try home.effacementFile().range(of: secret) != nil {
            complain("the secret of what was destroyed is on the disk", \.halfThere, request, note)
        }
    }

    private func auditKeys(_ request: PasscodeRequest, _ note: String) throws {
        for key in kept {
            let fate = try key.fate(in: home.enclave)
            counts.readBack += 1
            if fate != .opens { complain("a key of \(key.binding.protectionClass): \(fate)", \.lost, request, note) }
        }
        if let lasting {
            let fate = try lasting.fate(in: home.enclave)
            counts.readBack += 1
            if fate != .opens { complain("a key of akpu: \(fate)", \.lost, request, note) }
        }
        guard known.passcode != nil else { return }
        do { _ = try KeptKey(.whenPasscodeSetThisDeviceOnly, in: home.enclave) } catch is KeptKey.Unmade {
            complain("no key of akpu can be made beside a passcode", \.lost, request, note)
        }
    }

    private func complain(
        _ what: String, _ count: WritableKeyPath<FaultCounts, Int>, _ request: PasscodeRequest, _ note: String
    ) {
        counts[keyPath: count] += 1
        Issue.record("\(request.kind), \(note): \(what)")
    }
}
