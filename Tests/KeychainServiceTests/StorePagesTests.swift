import CSQLite
import KeychainModel
import KeychainService
import Synchronization
import Testing

/// Pages of the database that nobody reads any more are given back.
@Suite struct StorePagesTests {
    /// In a process of its own: SQLite counts what all connections of one have.
    @Test func pagesAreLetGoOfAndComeBack() async {
        await #expect(processExitsWith: .success) {
            let keychain = try EngineUnderTest()
            for index in 0..<600 { try keychain.add("a\(index)", String(repeating: "v", count: 2_000)) }
            for index in 0..<600 { #expect(try keychain.value("a\(index)")?.utf8.count == 2_000) }
            func letGo(ofReaders: Bool) async -> Int64 {
                let (told, tell) = AsyncStream<Void>.makeStream()
                keychain.engine.letGoOfPages(ofReaders: ofReaders) { tell.yield() }
                for await _ in told.prefix(ofReaders ? 2 : 1) {}
                return sqlite3_memory_used()
            }
            let before = sqlite3_memory_used()
            let withoutTheWriters = await letGo(ofReaders: false)
            #expect(before - withoutTheWriters > 1 << 20)
            let withoutAny = await letGo(ofReaders: true)
            #expect(withoutTheWriters - withoutAny > 512 << 10)
            try keychain.add("b", "w")
            #expect(try keychain.value("b") == "w")
            #expect(try keychain.value("a599")?.utf8.count == 2_000)
            let engine = keychain.engine
            try keychain.close()
            // Of connections that are closed there is nothing to let go of.
            let (told, tell) = AsyncStream<Void>.makeStream()
            engine.letGoOfPages(ofReaders: true) { tell.yield() }
            for await _ in told.prefix(1) {}
            try keychain.reopen()
            #expect(try keychain.value("b") == "w")
        }
    }
}
