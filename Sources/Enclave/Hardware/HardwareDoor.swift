package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// Security hardware, as the enclave reaches it.
package protocol HardwareDoor: Sendable {
    /// Asks once and waits for the answer, `patience` at the most: never on the way of an item.
    ///
    /// - Throws: where there is nobody to ask, or no answer came in time. What a device
    ///   refuses is an answer (``HardwareAnswer/failed(_:)``).
    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer
}

/// Why a question to a device has no answer.
package enum HardwareError: Error, Hashable, Sendable, CustomStringConvertible {
    case notInstalled
    case silent(Duration)
    /// A security key, called so, waits for a touch.
    case untouched(product: String)
    /// In the words of the system, of the device or of its library.
    case failed(String)
    /// It was sealed with another password.
    case wrongPassword
    /// Too many were wrong, of ours or of others: none is looked at for now.
    case lockedOut(String)
    /// Whoever counts for us there, and was not waited for, is still at it.
    case busy
    /// What was written there is no more: the right TPM says so.
    case gone(String)

    package var description: String {
        switch self {
        case .notInstalled: "latchkey-hardware is not installed beside the enclave"
        case .silent(let patience): "it gave no answer within \(patience.components.seconds) seconds"
        case .untouched(let product):
            "touch the security key\(product.isEmpty ? "" : " (\(product))") while it blinks, and try again"
        case .failed(let why), .lockedOut(let why), .gone(let why): why
        case .busy: "it is still busy with what was asked before; try again in a few seconds"
        case .wrongPassword: "it was sealed with another password"
        }
    }
}

/// For an engine in somebody else's process.
package struct NoHardware: HardwareDoor {
    package init() {}

    package func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        throw .notInstalled
    }
}

/// The enclave's hands: a process of `latchkey-hardware` for each question, which ends
/// with it. A device that hangs, and a library that crashes, cost that process alone.
package final class HardwareHelper: HardwareDoor {
    /// Starts the program and is its socket's other end.
    private let reach: @Sendable () throws(SystemCallError) -> PacketSocket
    private let clock: any KeychainClock
    /// Those that count and were not waited for: each may do so until it closes its end.
    private let counting = Mutex<[TPMIndex: MessageChannel]>([:])

    private static let ended = "latchkey-hardware ended without an answer"

    /// The program's name; it lies beside the enclave.
    package static let programName = "latchkey-hardware"

    /// - Parameter start: starts the program with that descriptor as its 3.
    package init(clock: any KeychainClock, start: @escaping @Sendable (Descriptor) throws(SystemCallError) -> Void) {
        self.clock = clock
        reach = { () throws(SystemCallError) in
            let (ours, theirs) = try PacketSocket.pair()
            try start(theirs.descriptor)
            return ours
        }
    }

    /// For a process that starts nothing and makes no sockets.
    ///
    /// - Parameter path: of the program, in the spawner's list as a peer.
    package init(clock: any KeychainClock, at path: String, by spawner: ProgramSpawner) {
        self.clock = clock
        reach = { () throws(SystemCallError) in try spawner.startPeer(path) }
    }

    /// For a process that may start programs itself: the program in that folder, where it
    /// is installed.
    package static func installed(in folder: String?, clock: any KeychainClock) -> any HardwareDoor {
        guard let path = folder.map({ "\($0)/\(programName)" }), TrustedPath.isExecutableOfOurs(path) else {
            return NoHardware()
        }
        return HardwareHelper(clock: clock) { descriptor throws(SystemCallError) in
            try DaemonStarter.start(path, arguments: [], environment: [], keeping: descriptor)
        }
    }

    package func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        let deadline = Deadline(after: patience, on: clock)
        if let index = request.counter { try awaitCounting(in: index, until: deadline) }
        let channel: MessageChannel
        do throws(SystemCallError) {
            channel = try MessageChannel(try reach())
        } catch {
            guard !error.isBrokenConnection else { throw .failed(ProgramSpawner.advice("latchkey-hardware")) }
            throw error.isNoSuchFile ? .notInstalled : .failed("\(error)")
        }
        do throws(FrameError) {
            let message = HardwareProtocol.encode(request, number: 1)
            try channel.send(message.header, message.tail, until: deadline)
            guard let frame = try channel.receive(until: deadline) else { throw FrameError.closed }
            guard let (number, answer) = HardwareProtocol.decodeAnswer(header: frame.header, tail: frame.tail),
                number == 1
            else { throw FrameError.malformed }
            return answer
        } catch {
            switch error {
            case .timedOut:
                if case .raiseCounter(let index, _, _, _) = request { counting.withLock { $0[index] = channel } }
                throw .silent(patience)
            case .closed: throw .failed(Self.ended)
            case .system(let error) where error.isBrokenConnection: throw .failed(Self.ended)
            default: throw .failed("latchkey-hardware answers what it never says (\(error))")
            }
        }
    }

    /// A count that nobody waited for may yet come, as long as the process lives that was
    /// asked for it: its socket closes behind its connection to the TPM, and a TPM does one
    /// command after the other. Until then nobody asks what the counter has, and nobody
    /// counts again.
    private func awaitCounting(in index: TPMIndex, until deadline: Deadline) throws(HardwareError) {
        guard let channel = counting.withLock({ $0[index] }) else { return }
        do throws(FrameError) {
            // Its answer, or its end. What came of it is read from the counter.
            _ = try channel.receive(until: deadline)
        } catch {
            guard error != .timedOut else { throw .busy }
        }
        counting.withLock { $0[index] = nil }
    }
}

extension HardwareRequest {
    /// The counter that it asks of.
    fileprivate var counter: TPMIndex? {
        switch self {
        case .readCounter(let index, _), .raiseCounter(let index, _, _, _): index
        default: nil
        }
    }
}

/// What became of an index that was to be made.
enum IndexDefinition: Sendable {
    /// It is there, and gives back what was written.
    case defined
    /// It is not to be used. Nobody goes on with it; looking for it says whether it is there.
    case refused(HardwareError)
    /// Whoever makes it may still be at it.
    case unknown(HardwareError)
}

/// What became of a counter that was to be made.
enum CounterDefinition: Sendable {
    case defined(UInt64)
    /// As ``IndexDefinition/refused(_:)``.
    case refused(HardwareError)
    case unknown(HardwareError)
}

extension HardwareDoor {
    func seal(
        _ secret: SharedSecret, in address: TPMAddress, password: SharedSecret? = nil, patience: Duration
    ) throws(HardwareError) -> SealedByTPM {
        guard case .sealed(let sealed) = try asking(.seal(secret, address, password: password), patience),
            sealed.address == address
        else { throw .odd }
        return sealed
    }

    /// A new secret, sealed and tried: what does not come back is none.
    func sealed(
        in address: TPMAddress, password: SharedSecret? = nil
    ) throws(HardwareError) -> (key: SharedSecret, sealed: SealedByTPM) {
        let key = SharedSecret(.random(count: HardwareProtocol.secretByteCount))
        let sealed = try seal(key, in: address, password: password, patience: DeviceWork.patience)
        let back = try unseal(sealed, password: password, patience: ProtectorKeys.patience)
        guard back.bytes.isEqual(to: key.bytes) else {
            throw .failed("it gives back another secret than it was given")
        }
        return (key, sealed)
    }

    /// - Parameter password: as when it was sealed.
    /// - Throws: ``HardwareError/wrongPassword``, ``HardwareError/lockedOut(_:)``, where
    ///   there is one.
    func unseal(
        _ sealed: SealedByTPM, password: SharedSecret? = nil, patience: Duration
    ) throws(HardwareError) -> SharedSecret {
        guard case .unsealed(let secret) = try asking(.unseal(sealed, password: password), patience) else { throw .odd }
        return secret
    }

    func describe(_ address: TPMAddress, patience: Duration) throws(HardwareError) -> TPMDescription {
        guard case .described(let tpm) = try asking(.describe(address), patience) else { throw .odd }
        return tpm
    }

    func storageKey(of address: TPMAddress, patience: Duration) throws(HardwareError) -> [UInt8] {
        guard case .storageKey(let key) = try asking(.storageKey(address), patience) else { throw .odd }
        return key
    }

    /// A new index with the record in it, read back: what does not come back is none.
    func define(
        _ index: TPMIndex, password: SharedSecret, record: SharedSecret, patience: Duration
    ) -> IndexDefinition {
        do throws(HardwareError) {
            switch try ask(.define(index, password: password, record: record), patience: patience) {
            case .defined(index): break
            case .failed(let why): return .refused(.failed(why))
            default: return .unknown(.odd)
            }
        } catch { return .unknown(error) }
        do throws(HardwareError) {
            guard let back = try self.record(in: index, password: password, patience: patience),
                back.bytes.isEqual(to: record.bytes)
            else { throw .failed("it gives back another secret than it was given") }
            return .defined
        } catch { return .refused(error) }
    }

    /// nil where it is gone.
    func record(
        in index: TPMIndex, password: SharedSecret, patience: Duration
    ) throws(HardwareError) -> SharedSecret? {
        switch try asking(.read(index, password: password), patience) {
        case .record(let record): return record
        case .gone: return nil
        default: throw .odd
        }
    }

    /// Returns where nothing of ours is there any more, as the TPM says that had it.
    func undefine(_ index: TPMIndex, patience: Duration) throws(HardwareError) {
        switch try asking(.undefine(index), patience) {
        case .undefined, .gone: return
        default: throw .odd
        }
    }

    /// What a new counter has at first.
    func defineCounter(_ index: TPMIndex, password: SharedSecret, patience: Duration) -> CounterDefinition {
        do throws(HardwareError) {
            switch try ask(.defineCounter(index, password: password), patience: patience) {
            case .count(let value): return .defined(value)
            case .failed(let why): return .refused(.failed(why))
            default: return .unknown(.odd)
            }
        } catch { return .unknown(error) }
    }

    /// - Throws: ``HardwareError/gone(_:)`` where there is none any more.
    func readCounter(_ index: TPMIndex, password: SharedSecret, patience: Duration) throws(HardwareError) -> UInt64 {
        try count(.readCounter(index, password: password), patience)
    }

    /// - Returns: what it has then, which need not be the target.
    /// - Throws: as ``readCounter(_:password:patience:)``; after ``HardwareError/silent(_:)``
    ///   it may still be counted, until ``HardwareError/busy`` is no longer said.
    func raiseCounter(
        _ index: TPMIndex, to target: UInt64, password: SharedSecret, patience: Duration
    ) throws(HardwareError) -> UInt64 {
        try count(.raiseCounter(index, to: target, password: password, patience: patience), patience)
    }

    private func count(_ request: HardwareRequest, _ patience: Duration) throws(HardwareError) -> UInt64 {
        switch try asking(request, patience) {
        case .count(let value): return value
        case .gone(let why): throw .gone(why)
        default: throw .odd
        }
    }

    func makeCredential(
        at address: FIDO2Address, pin: SharedSecret?, patience: Duration
    ) throws(HardwareError) -> FIDO2Credential {
        let request = HardwareRequest.makeCredential(
            address, pin: pin, patience: patience - HardwareProtocol.grace)
        guard case .made(let credential) = try asking(request, patience) else { throw .odd }
        return credential
    }

    /// What a security key makes of its salt.
    func secret(of sealed: SealedByFIDO2, patience: Duration) throws(HardwareError) -> SharedSecret {
        let request = HardwareRequest.secrets(sealed, next: nil, patience: patience - HardwareProtocol.grace)
        guard case .secrets(let secret, next: nil) = try asking(request, patience) else { throw .odd }
        return secret
    }

    /// And of another, with the same touch.
    func secrets(
        of sealed: SealedByFIDO2, next: FIDO2Salt, patience: Duration
    ) throws(HardwareError) -> (now: SharedSecret, next: SharedSecret) {
        let request = HardwareRequest.secrets(sealed, next: next, patience: patience - HardwareProtocol.grace)
        guard case .secrets(let now, next: let next?) = try asking(request, patience) else { throw .odd }
        return (now, next)
    }

    private func asking(_ request: HardwareRequest, _ patience: Duration) throws(HardwareError) -> HardwareAnswer {
        let answer = try ask(request, patience: patience)
        switch answer {
        case .failed(let why): throw .failed(why)
        case .refused: throw .wrongPassword
        case .lockedOut(let why): throw .lockedOut(why)
        default: return answer
        }
    }
}

extension HardwareError {
    fileprivate static let odd = failed("latchkey-hardware answers what was not asked")
}
