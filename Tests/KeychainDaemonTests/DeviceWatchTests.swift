import CSQLite
import Enclave
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// The daemon's own look at rows that nobody asks for, beside a keychain that is locked and unlocked.
@Suite struct DeviceWatchTests {
    private let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))

    private func add(_ query: [(String, RawValue)], to daemon: DaemonUnderTest) throws {
        let value = SharedSecret(SecretBytes(copying: [1]))
        _ = try daemon.client().perform(
            KeychainRequest(.add, query: QueryDictionary(query + [("v_Data", .secret)]), value: value))
    }

    /// The first column of the first row.
    private func number(_ sql: String, _ daemon: DaemonUnderTest) throws -> Int {
        var db: OpaquePointer?
        var statement: OpaquePointer?
        defer { unsafe sqlite3_close(db) }
        try #require(unsafe sqlite3_open(daemon.locations.dataDirectory + "/keychain.db", &db) == SQLITE_OK)
        unsafe sqlite3_busy_timeout(db, 5000)
        defer { unsafe sqlite3_finalize(statement) }
        try #require(unsafe sqlite3_prepare_v2(db, sql, -1, &statement, nil) == SQLITE_OK)
        return unsafe sqlite3_step(statement) == SQLITE_ROW ? Int(unsafe sqlite3_column_int64(statement, 0)) : 0
    }

    private func groups(of table: String, _ daemon: DaemonUnderTest) throws -> Int {
        try number("SELECT count(DISTINCT b_agrp) FROM \(table)", daemon)
    }

    /// Lets the time pass by moments in which nobody calls.
    private func passes(_ daemon: DaemonUnderTest, until condition: () throws -> Bool) throws -> Bool {
        let limit = Deadline(after: .seconds(20), on: SystemClock())
        while !limit.hasPassed {
            if try condition() { return true }
            daemon.clock.advance(by: .seconds(2))
            let moment = Deadline(after: .milliseconds(20), on: SystemClock())
            _ = try waitForAny(of: [try EventSignal().descriptor], until: moment)
        }
        return false
    }

    /// Most of a person's items are locked when nobody calls: behind a login, or in a pause.
    ///
    /// - Parameter wasOver: whether the pass that found them locked had come to its end by then.
    @Test(arguments: [true, false]) func whatWasLockedIsLookedAtOnceItIsOpen(_ wasOver: Bool) throws {
        let rests = Mutex(0)
        let daemon = try DaemonUnderTest { configuration in
            configuration.rest = ServerRest { moment in if case .resting = moment { rests.withLock { $0 += 1 } } }
        }
        // First: rows that move under the new keys are written anew for that.
        try daemon.enclave.setPasscode(passcode)
        for account in ["0", "1"] {
            try add([("class", .string("genp")), ("svce", .string("s")), ("acct", .string(account))], to: daemon)
            let web: [(String, RawValue)] = [("class", .string("inet")), ("srvr", .string("example.org"))]
            try add(web + [("acct", .string(account)), ("pdmn", .string("dk"))], to: daemon)
        }
        try daemon.enclave.lock()
        for table in ["genp", "inet"] {
            _ = try number("UPDATE \(table) SET b_agrp = randomblob(16) WHERE rowid = 1", daemon)
        }
        // What is open at any time is of the class behind.
        #expect(try passes(daemon) { try groups(of: "inet", daemon) == 1 })
        #expect(try groups(of: "genp", daemon) == 2)
        if wasOver {
            // It rests behind the calls, and again behind the pass.
            #expect(try passes(daemon) { rests.withLock { $0 } >= 2 })
            #expect(try groups(of: "genp", daemon) == 2)
        }
        try daemon.enclave.unlock(with: .passcode(passcode))
        #expect(try passes(daemon) { try groups(of: "genp", daemon) == 1 })
        daemon.stop()
    }
}
