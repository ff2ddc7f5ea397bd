package import KeychainPlatform
package import KeychainProtocol

extension HardwareRequest {
    /// When the process ends that does it. What counts ends with the patience of who asked:
    /// what came later would be taken for somebody else's.
    fileprivate var longest: Duration {
        if case .raiseCounter(_, _, _, let patience) = self { patience } else { HardwareProtocol.longestOperation }
    }
}

/// What `latchkey-hardware` does: one request of the enclave after the other, until the
/// enclave lets go of the socket.
///
/// It is the only process of ours that loads a device's library. What it is told is the
/// secret that a device seals, never a key of the keychain; what it says is checked by
/// the enclave: a secret that is not the right one opens nothing. A device that hangs
/// ends this process alone (SIGALRM after 20 s).
package struct HardwareHands {
    private let socket: PacketSocket

    package init(_ socket: PacketSocket) { self.socket = socket }

    /// The end that the enclave started this process with.
    ///
    /// - Throws: where it was started without one.
    package static func inherited() throws(FrameError) -> HardwareHands {
        guard let descriptor = Descriptor.inherited(HardwareProtocol.descriptor) else { throw .closed }
        return HardwareHands(PacketSocket(owning: descriptor))
    }

    /// - Throws: where the socket or a message on it is broken.
    package func serve() throws(FrameError) {
        let channel: MessageChannel
        do throws(SystemCallError) { channel = try MessageChannel(socket) } catch { throw .system(error) }
        let clock = SystemClock()
        while let frame = try Self.next(channel, clock) {
            guard let (number, request) = HardwareProtocol.decodeRequest(header: frame.header, tail: frame.tail)
            else { throw .malformed }
            ProcessAlarm.end(after: request.longest)
            let answer = HardwareProtocol.encode(Self.perform(request, for: channel.socket.descriptor), number: number)
            ProcessAlarm.cancel()
            try channel.send(
                answer.header, answer.tail, until: Deadline(after: HardwareProtocol.longestOperation, on: clock))
        }
    }

    /// However long the enclave wants nothing.
    private static func next(_ channel: MessageChannel, _ clock: SystemClock) throws(FrameError) -> Frame? {
        do throws(SystemCallError) { _ = try waitForAny(of: [channel.socket.descriptor]) } catch {
            throw .system(error)
        }
        return try channel.receive(until: Deadline(after: HardwareProtocol.longestOperation, on: clock))
    }

    private static func perform(_ request: HardwareRequest, for asker: Descriptor) -> HardwareAnswer {
        switch request {
        case .describe(let address):
            answer { () throws(TPM.Failure) in .described(try TPM(address: address).describe()) }
        case .seal(let secret, let address, let password):
            answer { () throws(TPM.Failure) in
                guard let sealed = try TPM(address: address).seal(secret.bytes, password: password) else {
                    return .failed("the TPM answered what no TPM answers")
                }
                return .sealed(sealed)
            }
        case .unseal(let sealed, let password): unseal(sealed, password)
        case .storageKey(let address):
            answer { () throws(TPM.Failure) in .storageKey(try TPM(address: address).storageKey()) }
        case .define(let index, let password, let record):
            answer { () throws(TPM.Failure) in
                try TPM(address: index.address).define(index, password: password, record: record, for: asker)
                return .defined(index)
            }
        case .read(let index, let password):
            answerOfIndex { () throws(TPM.Failure) in
                .record(try TPM(address: index.address).read(index, password: password))
            }
        case .undefine(let index):
            answerOfIndex { () throws(TPM.Failure) in
                try TPM(address: index.address).undefine(index)
                return .undefined
            }
        case .defineCounter(let index, let password):
            answer { () throws(TPM.Failure) in
                .count(try TPM(address: index.address).defineCounter(index, password: password, for: asker))
            }
        case .readCounter(let index, let password):
            answerOfIndex { () throws(TPM.Failure) in
                .count(try TPM(address: index.address).readCounter(index, password: password))
            }
        case .raiseCounter(let index, let target, let password, let patience):
            answerOfIndex { () throws(TPM.Failure) in
                .count(
                    try TPM(address: index.address).raiseCounter(
                        index, to: target, password: password, patience: patience - HardwareProtocol.grace, for: asker))
            }
        case .makeCredential(let address, let pin, let patience):
            answer { () throws(SecurityKey.Failure) in
                .made(try SecurityKeys(patience).makeCredential(at: address, pin: pin))
            }
        case .secrets(let sealed, let next, let patience):
            answer { () throws(SecurityKey.Failure) in
                let (now, next) = try SecurityKeys(patience).secrets(of: sealed, next: next)
                return .secrets(now, next: next)
            }
        }
    }

    private static func unseal(_ sealed: SealedByTPM, _ password: SharedSecret?) -> HardwareAnswer {
        let tpm = TPM(address: sealed.address)
        do throws(TPM.Failure) { return .unsealed(try tpm.unseal(sealed, password: password)) } catch {
            if error.isWrongPassword { return .refused }
            guard error.isLockout else { return .failed(error.description) }
            return .lockedOut("\(error); \(tpm.endOfLockout)")
        }
    }

    /// What is gone is no failure.
    private static func answerOfIndex(_ body: () throws(TPM.Failure) -> HardwareAnswer) -> HardwareAnswer {
        do throws(TPM.Failure) { return try body() } catch {
            return error.isGone ? .gone(error.description) : .failed(error.description)
        }
    }

    private static func answer<Failure: Error & CustomStringConvertible>(
        _ body: () throws(Failure) -> HardwareAnswer
    ) -> HardwareAnswer {
        do throws(Failure) { return try body() } catch { return .failed(error.description) }
    }
}
