internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What went wrong, for the last line.
struct LoadFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The real daemon in a folder of its own, as its clients see it.
struct Keychain: Sendable {
    let locations: KeychainLocations
    let pool: DaemonConnectionPool

    init(programs: String, folder: String) {
        locations = KeychainLocations(dataDirectory: folder + "/data", runDirectory: folder + "/run")
        pool = DaemonConnectionPool(
            ClientConfiguration(target: .store(locations, autostart: true), programDirectories: [programs]))
    }

    static func item(_ account: String) -> [(String, RawValue)] {
        [("class", .string("genp")), ("svce", .string("load")), ("acct", .string(account))]
    }

    func add(_ account: String, _ value: [UInt8]) throws(KeychainError) {
        _ = try pool.perform(
            KeychainRequest(
                .add, query: QueryDictionary(Self.item(account) + [("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: value))))
    }

    func update(_ account: String, _ value: [UInt8]) throws(KeychainError) {
        _ = try pool.perform(
            KeychainRequest(
                .update, query: QueryDictionary(Self.item(account)), changes: QueryDictionary([("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: value))))
    }

    func delete(_ account: String) throws(KeychainError) {
        _ = try pool.perform(KeychainRequest(.delete, query: QueryDictionary(Self.item(account))))
    }

    func value(_ account: String) throws(KeychainError) -> [UInt8]? {
        let query = QueryDictionary(Self.item(account) + [("r_Data", .bool(true))])
        return try pool.perform(KeychainRequest(.copy, query: query)).rows.first?.value?.bytes.insecureArray()
    }

    func status() throws -> KeychainStatus {
        guard let status = try pool.perform(KeychainRequest(.status)).status else { throw LoadFailure("no status") }
        return status
    }

    /// A bare connection.
    func connect() throws -> PacketSocket {
        let run = try PrivateDirectory(locations.runDirectory, creating: false)
        return try PacketSocket.connect(to: Rendezvous.socketName, in: run.descriptor)
    }
}
