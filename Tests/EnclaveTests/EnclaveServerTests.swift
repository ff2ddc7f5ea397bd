import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// The loop: who is served, who is ended, when it leaves.
@Suite struct EnclaveServerTests {
    @Test func keysTravelBothHops() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let other = try server.connector(.named(enclave.storeID)).connect()
        #expect(other.indexBytes == enclave.indexBytes)
        #expect(try MadeKey(in: enclave).opens(in: other))
        let metadata = try enclave.makeMetadataKey(for: .always)
        let opened = try other.openMetadataKey(try #require(metadata.wrapped), of: .always)
        #expect(opened.secret == metadata.secret)
        #expect(opened.wrapped == metadata.wrapped)
        let described = try other.describe()
        #expect(described.processID == ProcessEnvironment.processID)
        #expect(described.protectors == ["software-file"])
        #expect(described.slots == ["open"])
        #expect(described.state.openClasses.count == 6)
        #expect(described.state.hasPasscode == false)
        #expect(described.keybagGeneration == 1)
    }

    @Test(arguments: [0, 1, 255, 256, 257, 1000])
    func aBatchOfAnySizeKeepsItsOrder(count: Int) throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let accessControl = AccessControl(unconstrained: .always).encoded
        let bindings = (0..<count).map { index in
            RowBinding.row(index % 3 == 0 ? .whenPasscodeSetThisDeviceOnly : .always, accessControl: accessControl)
        }
        let made = try enclave.makeRowKeys(for: bindings)
        #expect(made.map(\.fate) == bindings.indices.map { $0 % 3 == 0 ? .noClassKey : .key })
        let none = WrappedKey(generation: 1, box: [])
        let opened = try enclave.openRowKeys(zip(bindings, made).map { ($0, $1.wrapped ?? none) })
        #expect(opened.map(\.secret) == made.map(\.secret))
        #expect(opened.map(\.fate) == made.map(\.fate))
    }

    @Test func sixtyFourConnectionsAreServedAndNoMore() throws {
        let server = try RunningServer()
        var open = try (0..<64).map { _ in try server.connect() }
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try server.connect() }
        #expect(try open.allSatisfy { try MadeKey(in: $0).opens(in: open[0]) })
        open.removeLast()
        _ = try server.connect()
    }

    @Test func anotherUserIsRefused() throws {
        let server = try RunningServer(userID: ProcessEnvironment.effectiveUserID + 1)
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try server.connect() }
        #expect(try server.bareConnection().isEnded)
    }

    @Test func aListenerOfAnotherUserIsToldNothing() throws {
        let server = try RunningServer()
        let stranger = RemoteEnclave(
            runDirectory: server.home.runDirectory, expecting: .anyOrNew,
            userID: ProcessEnvironment.effectiveUserID + 1, clock: SystemClock())
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try stranger.connect() }
        #expect(try server.home.contents().isEmpty)
    }

    @Test func whoSaysNothingIsEndedAloneAfterFiveSeconds() throws {
        let server = try RunningServer()
        let silent = try server.bareConnection()
        let enclave = try server.connect()
        server.clock.advance(by: .seconds(4.9))
        _ = try enclave.describe()
        #expect(try silent.isQuiet)
        server.clock.advance(by: .seconds(0.1))
        #expect(try silent.isEnded)
        _ = try enclave.describe()
    }

    @Test func whoOpenedTheStoreMayBeSilent() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        server.clock.advance(by: .seconds(3600))
        _ = try enclave.describe()
    }

    @Test func whoDoesNotReadIsEndedAlone() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let deaf = try server.bareConnection()
        var open = Latchkey_EnclaveRequest.OpenStore()
        open.protocol = EnclaveProtocol.version
        var request = Latchkey_EnclaveRequest()
        request.open = open
        try deaf.send(MessageCoding.encode(request), until: MessageChannel.soon)
        request.describe = true
        #expect(throws: FrameError.self) {
            while true { try deaf.send(MessageCoding.encode(request), until: MessageChannel.soon) }
        }
        _ = try enclave.describe()
    }

    @Test func itLeavesTenMinutesAfterTheLastConnection() throws {
        let server = try RunningServer()
        var enclave: (any EnclaveConnection)? = try server.connect()
        server.clock.advance(by: .seconds(3600))
        _ = try enclave?.describe()
        enclave = nil
        // Each turn is ten minutes; how soon the loop sees the end is its affair.
        while server.ended(within: .milliseconds(10)) == nil { server.clock.advance(by: .seconds(600)) }
        #expect(server.ended() == .idle)
    }

    @Test func nobodyEverCameIsIdleToo() throws {
        let server = try RunningServer()
        server.clock.advance(by: .seconds(599))
        #expect(server.ended(within: .milliseconds(10)) == nil)
        while server.ended(within: .milliseconds(10)) == nil { server.clock.advance(by: .seconds(1)) }
        #expect(server.ended() == .idle)
    }

    @Test func itLeavesWhenTold() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        try server.connector().askToLeave()
        let socket = "\(server.home.runDirectory)/\(EnclaveProtocol.socketName)"
        #expect(FileManager.default.fileExists(atPath: socket) == false)
        #expect(server.ended() == .toldToLeave)
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try enclave.describe() }
    }

    @Test func aLostSocketEndsItOnceNobodyIsConnected() throws {
        let server = try RunningServer()
        var enclave: (any EnclaveConnection)? = try server.connect()
        try FileManager.default.removeItem(atPath: "\(server.home.runDirectory)/\(EnclaveProtocol.socketName)")
        server.clock.advance(by: .seconds(2))
        _ = try enclave?.describe()
        enclave = nil
        #expect(server.ended() == .socketGone)
    }

    @Test func aDamagedKeybagIsReportedAndReadAgainNextTime() throws {
        let home = try EnclaveHome.made()
        let good = try home.read("keybag.0")
        for copy in 0..<2 { try home.write("keybag.\(copy)", []) }
        let server = try RunningServer(home: home)
        #expect(throws: KeychainError(.notAvailable, reason: .keybagUnreadable)) { try server.connect() }
        try home.write("keybag.1", good)
        let enclave = try server.connect()
        #expect(throws: KeychainError(.notAvailable, reason: .storeMismatch)) {
            try server.connector(.named(Random.bytes(16))).connect()
        }
        _ = try enclave.describe()
    }

    @Test func aConnectorStaysWithTheStoreItFoundFirst() throws {
        let home = try EnclaveHome()
        let connector: RemoteEnclave
        do {
            let server = try RunningServer(home: home)
            connector = server.connector()
            _ = try connector.connect()
        }
        for name in EnclaveHome.keyFiles { try home.remove(name) }
        let server = try RunningServer.again(home: home)
        _ = try server.connect()
        #expect(throws: KeychainError(.notAvailable, reason: .storeMismatch)) { try connector.connect() }
    }
}
