internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// One client with large values, in a process of its own: whoever shares a process
/// with connections that never read waits behind them.
struct LargeValues {
    let keychain: Keychain

    func run(seconds: Int) throws {
        let rounds = try write(until: Deadline(after: .seconds(seconds), on: SystemClock()))
        print("values of 64 MiB: \(rounds) rounds")
    }

    /// Values of 64 MiB, again and again, beside whatever else goes on.
    private func write(until end: Deadline) throws -> Int {
        let count = 64 << 20
        let secret = SharedSecret(.random(count: count))
        let marks = stride(from: 0, to: count, by: 65_537)
        let query = Keychain.item("large")
        var rounds = 0
        repeat {
            _ = try keychain.pool.perform(
                KeychainRequest(.add, query: QueryDictionary(query + [("v_Data", .secret)]), value: secret))
            let answer = try keychain.pool.perform(
                KeychainRequest(.copy, query: QueryDictionary(query + [("r_Data", .bool(true))])))
            guard let read = answer.rows.first?.value, read.bytes.count == count,
                marks.allSatisfy({ Self.byte($0, of: read) == Self.byte($0, of: secret) })
            else { throw LoadFailure("a large value came back as another") }
            try keychain.delete("large")
            rounds += 1
        } while !end.hasPassed
        return rounds
    }

    private static func byte(_ index: Int, of secret: SharedSecret) -> UInt8 {
        unsafe secret.bytes.withUnsafeBytes { unsafe $0[index] }
    }
}
