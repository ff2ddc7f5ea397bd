package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// The enclave's door for a person, as the prompt reaches it: by itself, so that
/// nobody else ever had an end of the socket.
package enum PersonDoors {
    /// Opened for no question; it unlocks.
    package static func open(
        runDirectory: String, clock: any KeychainClock
    ) throws(KeychainError) -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: runDirectory, process: nil, clock: clock)
    }

    /// - Parameters:
    ///   - runDirectory: where the enclave listens.
    ///   - question: what the question is called there, 32 hexadecimal digits.
    /// - Throws: `errSecNotAvailable`, reason `enclaveUnreachable`; `errSecParam` for
    ///   anything but such a name.
    package static func open(
        runDirectory: String, question: String, clock: any KeychainClock
    ) throws(KeychainError) -> RemotePersonDoor {
        let digits = Array(question.utf8)
        var name: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { break }
            name.append(byte)
        }
        guard digits.count == 32, name.count == 16 else { throw .parameter(.malformed(key: "--question")) }
        return try RemotePersonDoor(runDirectory: runDirectory, process: nil, asked: name, clock: clock)
    }
}
