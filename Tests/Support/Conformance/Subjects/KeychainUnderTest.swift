internal import Foundation

/// An empty keychain, and the hooks of the schema on it. Used by one thread.
protocol KeychainUnderTest: AnyObject {
    /// Its time now.
    var now: Date { get }

    /// Runs calls as the program that calls at the moment.
    func calling<R>(_ body: () throws -> R) throws -> R

    /// Another program calls from here on.
    func become(_ context: CaseContext) throws

    /// Damages the sealed bytes of rows, named by their persistent references.
    func corrupt(_ references: [Data]) throws

    /// Damages the metadata key of a protection class ("ak").
    func corruptMetadataKey(of protection: String) throws

    /// Makes the database something that SQLite calls malformed.
    func corruptDatabase() throws

    /// What happens to the device.
    func change(_ change: DeviceChange) throws

    /// The daemon goes and comes back.
    func restart()

    /// Stops it and removes what it left.
    func close()
}

/// What happens to the device on which the keychain is.
enum DeviceChange: Sendable {
    case lock
    case unlock
    /// The computer starts anew: locked, where there is a passcode.
    case restart
    case setPasscode
    case changePasscode
    case removePasscode
    case enrolBiometry
    /// What the person does from now on when asked ("success", "fail", "cancel").
    case answer(String)

    /// nil: the call is about something else.
    init?(call: String, _ fields: [String: JSONValue]) {
        switch (call, fields["state"]?.string) {
        case ("setState", "locked"): self = .lock
        case ("setState", "unlocked"): self = .unlock
        case ("setState", "beforeFirstUnlock"): self = .restart
        case ("setPasscode", _): self = .setPasscode
        case ("changePasscode", _): self = .changePasscode
        case ("removePasscode", _): self = .removePasscode
        case ("changeBiometryEnrolment", _): self = .enrolBiometry
        case ("setAuthResult", _): self = .answer(fields["result_"]?.string ?? "")
        default: return nil
        }
    }
}

/// Where the same calls are made twice.
package enum Mode: String, Sendable, CaseIterable {
    case inProcess = "in process"
    case daemon = "daemon"
}
