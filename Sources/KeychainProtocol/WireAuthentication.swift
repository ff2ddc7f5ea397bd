internal import FoundationEssentials
package import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform

extension AuthenticationMeans {
    package init(_ message: Latchkey_AuthenticationMeans) {
        self.init(hasPasscode: message.hasPasscode_p)
        guard message.hasBiometry, let number = UInt8(exactly: message.biometry.kind),
            let kind = BiometryState.Kind(rawValue: number)
        else { return }
        biometry = BiometryState(
            kind: kind, isEnrolled: message.biometry.enrolled, isLockedOut: message.biometry.lockedOut,
            enrolment: Array(message.biometry.enrolment))
    }

    package var message: Latchkey_AuthenticationMeans {
        var message = Latchkey_AuthenticationMeans()
        message.hasPasscode_p = hasPasscode
        guard let biometry else { return message }
        message.biometry.kind = UInt32(biometry.kind.rawValue)
        message.biometry.enrolled = biometry.isEnrolled
        message.biometry.lockedOut = biometry.isLockedOut
        message.biometry.enrolment = Data(biometry.enrolment)
        return message
    }
}

extension AuthenticationDemand {
    var message: Latchkey_AuthenticationDemand {
        var message = Latchkey_AuthenticationDemand()
        switch subject {
        case .policy(let policy): message.policy = UInt32(policy.rawValue)
        case .accessControl(let access, let operation):
            message.accessControl = Data(access.encoded)
            message.operation = operation
        }
        message.reason = reason
        message.mayAsk = mayAsk
        message.reuseSeconds = UInt32(clamping: reuse.components.seconds)
        return message
    }

    init(_ message: Latchkey_AuthenticationDemand) throws(WireFault) {
        let subject: AuthenticationSubject
        switch message.subject {
        case .policy(let number):
            guard let policy = UInt8(exactly: number).flatMap(AuthenticationPolicy.init(rawValue:)) else {
                throw WireFault()
            }
            subject = .policy(policy)
        case .accessControl(let bytes):
            guard let access = AccessControl(encoded: Array(bytes)) else { throw WireFault() }
            subject = .accessControl(access, operation: message.operation)
        case nil: throw WireFault()
        }
        self.init(
            subject, reason: message.reason, mayAsk: message.mayAsk, reuse: .seconds(Int(message.reuseSeconds)))
    }
}

extension EncodedMessage {
    package static func means(_ means: AuthenticationMeans, number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.means = means.message
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    /// Done, with nothing to tell.
    package static func done(number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }
}
