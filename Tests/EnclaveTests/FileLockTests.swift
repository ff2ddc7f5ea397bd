import KeychainPlatform
import KeychainTestSupport
import Testing

@Suite struct FileLockTests {
    /// A forked child that has not come to its exec holds the descriptor too.
    @Test func aLockGoesWithItsOwnerWhoeverElseHoldsTheFile() throws {
        let temporary = try TemporaryDirectory("lock")
        let folder = try temporary.folder("data")
        let file = try folder.openFile("lock", creating: true)
        do {
            let lock = try #require(try FileLock.take(file))
            #expect(try FileLock.take(try folder.openFile("lock", creating: false)) == nil)
            withExtendedLifetime(lock) {}
        }
        #expect(try FileLock.take(try folder.openFile("lock", creating: false)) != nil)
        withExtendedLifetime(file) {}
    }
}
