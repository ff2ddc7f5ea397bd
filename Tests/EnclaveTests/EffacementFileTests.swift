import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import Enclave

/// The file of two places, however its writing was cut short.
@Suite struct EffacementFileTests {
    private let home: EnclaveHome
    private let file: EffacementFile
    private let old = EffacementSecret.random()
    private let fresh = EffacementSecret.random()

    init() throws {
        home = try EnclaveHome()
        _ = try PrivateDirectory(home.dataDirectory, creating: true)
        file = EffacementFile(directory: try PrivateDirectory(home.path(""), creating: true))
    }

    private var bytes: [UInt8] {
        get throws { try home.read(EffacementFile.fileName) }
    }

    private func has(_ secret: EffacementSecret) throws -> Bool {
        try file.secret(named: secret.identifier).map { $0.secret.isEqual(to: secret.secret) } ?? false
    }

    /// Whether any byte sequence of the secret is left.
    private func isOnDisk(_ secret: EffacementSecret) throws -> Bool {
        let (all, needle) = (try bytes, secret.secret.insecureArray())
        guard all.count >= needle.count else { return false }
        return (0...(all.count - needle.count)).contains { all[$0] == needle[0] && Array(all[$0..<$0 + 32]) == needle }
    }

    /// As it is once a passcode has been set.
    private func settled() throws {
        try file.add(old, beside: nil)
        try file.settle(on: old.identifier)
    }

    @Test func noFileIsNoSecretAndSettlingMakesNone() throws {
        #expect(try !has(old))
        try file.settle(on: nil)
        #expect(try home.contents()[EffacementFile.fileName] == nil)
    }

    /// What a full disk leaves of the first one, whose zeros would find no room either.
    @Test func whereNoByteIsNoneIsWritten() throws {
        let path = home.path(EffacementFile.fileName)
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(FileManager.default.createFile(atPath: path, contents: Data(), attributes: mode))
        try file.settle(on: nil)
        #expect(try bytes.isEmpty)
        try file.add(fresh, beside: nil)
        try file.settle(on: nil)
        #expect(try !isOnDisk(fresh) && bytes.count >= EffacementSecret.recordCount)
    }

    @Test func aNewOneLeavesTheOldUntilItIsSettled() throws {
        try settled()
        try file.add(fresh, beside: old.identifier)
        #expect(try has(old) && has(fresh))
        try file.settle(on: fresh.identifier)
        #expect(try has(fresh) && !isOnDisk(old))
        try file.settle(on: nil)
        #expect(try !isOnDisk(fresh) && bytes.allSatisfy { $0 == 0 })
    }

    @Test func settlingAgainChangesNothing() throws {
        try settled()
        for identifier in [old.identifier, nil, nil] {
            try file.settle(on: identifier)
            let once = try bytes
            try file.settle(on: identifier)
            #expect(try bytes == once)
        }
    }

    /// Both places hold the old one; a new one is written over one of them and torn.
    @Test func aTornWriteOfTheNewKeepsTheOld() throws {
        try settled()
        let before = try bytes
        try file.add(fresh, beside: old.identifier)
        let after = try bytes
        for cut in 0..<EffacementSecret.recordCount {
            try home.write(EffacementFile.fileName, Array(after[..<cut]) + before[cut...])
            #expect(try has(old))
            try file.settle(on: old.identifier)
            #expect(try has(old) && !isOnDisk(fresh))
        }
    }

    @Test func aTornSettlingOfTheNewIsDoneByTheNext() throws {
        try settled()
        try file.add(fresh, beside: old.identifier)
        let before = try bytes
        try file.settle(on: fresh.identifier)
        let after = try bytes
        let differing = before.indices.filter { before[$0] != after[$0] }
        for cut in [differing[0], differing[differing.count / 2], try #require(differing.last)] {
            try home.write(EffacementFile.fileName, Array(after[..<cut]) + before[cut...])
            #expect(try has(fresh))
            try file.settle(on: fresh.identifier)
            #expect(try has(fresh) && !isOnDisk(old))
        }
    }

    @Test func withBothPlacesBadThereIsNoneAndNothingIsWrittenOver() throws {
        try settled()
        var damaged = try bytes
        damaged[40] ^= 1
        damaged[EffacementFile.placeSize + 40] ^= 1
        try home.write(EffacementFile.fileName, damaged)
        #expect(try !has(old))
        try file.settle(on: old.identifier)
        // Somebody may bring the bit back.
        #expect(try bytes == damaged)
        try file.add(fresh, beside: old.identifier)
        #expect(try has(fresh))
    }

    @Test func oneBadPlaceIsMendedFromTheOther() throws {
        for place in 0..<EffacementFile.placeCount {
            try settled()
            var damaged = try bytes
            damaged[place * EffacementFile.placeSize + 40] ^= 1
            try home.write(EffacementFile.fileName, damaged)
            #expect(try has(old))
            try file.settle(on: old.identifier)
            try home.write(EffacementFile.fileName, try bytes)
            #expect(try bytes[40] == bytes[EffacementFile.placeSize + 40])
        }
    }
}
