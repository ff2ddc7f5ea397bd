import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices

/// A real daemon with a real enclave, in a folder of its own, and a client.
struct DaemonUnderBench {
    private let transport: DaemonConnectionPool
    private let locations: KeychainLocations

    init(_ folder: String, beside program: String) throws {
        locations = KeychainLocations(dataDirectory: folder + "/data", runDirectory: folder + "/run")
        let directory = (program as NSString).deletingLastPathComponent
        transport = DaemonConnectionPool(
            ClientConfiguration(target: .store(locations, autostart: true), programDirectories: [directory]))
        CurrentKeychain.install(transport)
    }

    func fill(_ count: Int) throws {
        for index in 0..<count { try add("item \(index)") }
    }

    private func add(_ account: String) throws {
        let query = QueryDictionary([
            ("class", .string("genp")), ("svce", .string("bench")), ("acct", .string(account)), ("v_Data", .secret),
        ])
        _ = try transport.perform(
            KeychainRequest(.add, query: query, value: SharedSecret(SecretBytes(copying: Array("correct horse battery".utf8)))))
    }

    private func query(_ index: Int, _ returning: String) -> QueryDictionary {
        QueryDictionary([
            ("class", .string("genp")), ("svce", .string("bench")),
            ("acct", .string("item \(index &* 7919 % LatchkeyBench.items)")), (returning, .bool(true)),
        ])
    }

    func measureRead(_ count: Int) throws -> Measurement {
        try Measurement.take("daemon read", count: count) { index in
            guard try transport.perform(KeychainRequest(.copy, query: query(index, "r_Data"))).rows.count == 1 else {
                throw BenchFailure("read")
            }
        }
    }

    func measureAttributes(_ count: Int) throws -> Measurement {
        try Measurement.take("daemon read, attributes", count: count) { index in
            guard try transport.perform(KeychainRequest(.copy, query: query(index, "r_Attributes"))).rows.count == 1 else {
                throw BenchFailure("read")
            }
        }
    }

    func measureDoorRead(_ count: Int) throws -> Measurement {
        try Measurement.take("SecItemCopyMatching", count: count) { index in
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "bench",
                kSecAttrAccount: "item \(index &* 7919 % LatchkeyBench.items)", kSecReturnData: true,
            ]
            var result: CFTypeRef?
            guard unsafe SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, result is NSData else {
                throw BenchFailure("SecItemCopyMatching")
            }
        }
    }

    func measureAdd(_ count: Int) throws -> Measurement {
        try Measurement.take("daemon add", count: count) { try add("added \($0) \(Random.bytes(4))") }
    }

    /// The daemon is asked to leave by the signal that a session's end sends.
    func stop() {
        do {
            let data = try PrivateDirectory(locations.dataDirectory, creating: false)
            if let rendezvous = try Rendezvous.read(in: data) { kill(rendezvous.processID, SIGTERM) }
        } catch { return }
    }
}
