internal import KeychainModel

extension LatchkeyProgram {
    /// For the test that compares them with the constants of KeychainServices.
    package static var protocolCodes: [String] { Array(ProtocolNames.codes.values) }
}
