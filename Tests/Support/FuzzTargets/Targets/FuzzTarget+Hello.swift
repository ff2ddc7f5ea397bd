internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// Either side of the hello.
    static let hello = FuzzTarget(
        "hello", seeds: { [HelloSeeds.client, HelloSeeds.server] }
    ) { bytes throws(Finding) in
        do throws(WireFault) { let _: Latchkey_ClientHello = try decodeMessage(bytes) } catch {}
        let server: Latchkey_ServerHello
        do throws(WireFault) { server = try decodeMessage(bytes) } catch { return }
        let session = server.session
        let again = Latchkey_ServerHello(session, protocolVersion: server.protocol)
        try claim(again.session == session, "a session that its encoding changes")
    }

    /// A reason for a refusal, as it travels.
    static let failure = FuzzTarget("failure", seeds: { HelloSeeds.failures }) { bytes throws(Finding) in
        let message: Latchkey_Failure
        do throws(WireFault) { message = try decodeMessage(bytes) } catch { return }
        let error = message.keychainError
        _ = error.description
        let again = Latchkey_Failure(error).keychainError
        try claim(again == error && again.underlying == error.underlying, "a failure that its encoding changes")
    }
}

private enum HelloSeeds {
    static var client: [UInt8] {
        var hello = Latchkey_ClientHello()
        hello.lowestProtocol = 1
        hello.highestProtocol = 1
        hello.programVersion = "1.0"
        return hello.wireBytes
    }

    static var server: [UInt8] {
        let session = SessionInformation(
            groups: ["a", "b"], nameableGroups: ["latchkey"], strength: .program, isTemporary: true, identity: "exe./x",
            missingFeatures: ["SO_PEERPIDFD"], serverVersion: "1.0")
        return Latchkey_ServerHello(session, protocolVersion: 1).wireBytes
    }

    static var failures: [[UInt8]] {
        (1...41).map { code in
            Latchkey_Failure(
                KeychainError(.param, reason: Reason(code: code, arguments: ["1", "2", "3"]), underlying: "below")
            ).wireBytes
        }
    }
}
