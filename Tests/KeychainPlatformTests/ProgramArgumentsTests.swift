import KeychainPlatform
import Testing

/// What `CommandLine` finds in /proc, the kernel laid out beside the program; that it is there
/// where /proc cannot be read the stage "unlisted user" shows, with programs that need no
/// descriptor to be loaded.
@Suite struct ProgramArgumentsTests {
    @Test func theyAreThoseOfTheCommandLine() throws {
        #expect(try #require(ProgramArguments.given) == Array(CommandLine.arguments.dropFirst()))
        #expect(CommandLine.arguments.count > 1)
    }
}
