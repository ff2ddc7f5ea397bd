#if DEBUG
    internal import FoundationEssentials
    internal import KeychainMessages
    internal import KeychainModel
    internal import KeychainPlatform
    internal import KeychainProtocol
    @testable internal import Enclave

    extension FuzzTarget {
        /// What somebody of the same user says at the person's door: header and tail.
        static let personCall = FuzzTarget("person-call", seeds: { PersonSeeds.all }) { bytes throws(Finding) in
            var source = ByteSource(bytes)
            let (header, tail) = source.message()
            guard let (_, message) = PersonMessage.decode(header: header, tail: SecretBytes(copying: tail)) else {
                return
            }
            let typed =
                (message.credential?.secret.bytes.insecureArray() ?? [])
                + (message.login?.bytes.insecureArray() ?? [])
                + (message.new?.bytes.insecureArray() ?? [])
            try claim(typed == tail, "what was typed is not the tail")
            guard let call = PersonCall(message) else { return }
            switch call {
            case .change(let request):
                let isAsked = request.credential != nil
                let isGiven = message.credential != nil || message.login != nil
                try claim(isAsked == isGiven, "a credential that nothing asked for")
                guard message.login != nil else { break }
                switch request {
                case .unlockByLogin, .changeLogin: break
                default: try claim(false, "a login password that does more than it may")
                }
            case .agree: try claim(message.credential != nil, "an agreement without a credential")
            case .state, .awaitState, .question, .awaitNews, .decline, .unlockByFinger:
                try claim(message.credential == nil, "a credential that nothing asked for")
            }
        }
    }

    private enum PersonSeeds {
        private static let operations: [Latchkey_PersonRequest.Operation] = [
            .state, .awaitState, .unlock, .lock, .setPasscode, .changePasscode, .resetPasscode, .removePasscode,
            .makeRecoveryCode, .confirmRecoveryCode, .removeRecoveryCode, .question, .agree, .decline,
            .awaitQuestion, .setLockPolicy,
            .listProtectors, .testProtectors, .addProtector, .removeProtector, .resealProtector,
            .listSlots, .addSlot, .removeSlot, .unlockBySlot, .changeLogin, .addLoginSlot, .guardPasscode,
            .keepEffacement, .count, .acceptCopy,
        ]

        /// Every operation with no credential and with each sort, with and without
        /// something new.
        static let all: [[UInt8]] =
            operations.flatMap { operation in
                [Latchkey_PersonRequest.Credential.none, .passcode, .recoveryCode, .loginPassword].flatMap {
                    credential in [0, 6].map { seed(operation, credential, new: $0) }
                }
            } + [givingUp]

        private static let givingUp: [UInt8] = {
            var request = Latchkey_PersonRequest()
            request.number = 7
            request.operation = .keepEffacement
            request.credential = .passcode
            request.credentialLength = 4
            request.givingUp = true
            return ByteSink.message(MessageCoding.encode(request), Array("1234".utf8))
        }()

        private static func seed(
            _ operation: Latchkey_PersonRequest.Operation, _ credential: Latchkey_PersonRequest.Credential, new: Int
        ) -> [UInt8] {
            var request = Latchkey_PersonRequest()
            request.number = 7
            request.operation = operation
            request.credential = credential
            request.credentialLength = credential == .none ? 0 : 4
            request.question = Data(0..<16)
            if [.removeProtector, .resealProtector, .removeSlot].contains(operation) {
                request.protector = Data(0..<16)
            }
            if [.addProtector, .addSlot, .guardPasscode, .keepEffacement, .count].contains(operation) {
                request.protectorAddress = "device:/dev/tpmrm0"
            }
            if operation == .decline {
                request.reason = Latchkey_Failure(KeychainError(.userCanceled, reason: .userCanceled))
            }
            let tail = Array(
                "1234newone".utf8.dropFirst(credential == .none ? 4 : 0).prefix((credential == .none ? 0 : 4) + new))
            return ByteSink.message(MessageCoding.encode(request), tail)
        }
    }
#endif
