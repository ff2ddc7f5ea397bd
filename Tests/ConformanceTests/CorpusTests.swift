import Conformance
import KeychainPlatform
import Testing

/// The project's own copy of the corpus, or the one that CONFORMANCE_CASES and
/// CONFORMANCE_FIXTURES name, in process and through a daemon.
@Suite struct CorpusTests {
    @Test(arguments: Mode.allCases) func everyCaseThatDoesNotWaitPasses(mode: Mode) throws {
        let corpus = try Corpus.fromEnvironment(own: OwnCorpus.folder)
        let programs = try #require(ProcessEnvironment.executableDirectory)
        let report = ConformanceRun(corpus, modes: [mode], programs: programs).report()
        print(report)
        #expect(report.isSuccess, "\(report)")
    }

    /// By somebody who had the specification and Apple's published sources before him, and not
    /// our code; expected before anything was run.
    @Test func whatAnIndependentAuthorExpectsIsSo() throws {
        let corpus = try Corpus(
            files: [OwnCorpus.folder + "/independent.jsonl"],
            fixtures: Fixtures(folder: OwnCorpus.folder + "/fixtures"))
        #expect(corpus.cases.count > 700 && corpus.unreadable.isEmpty)
        let programs = try #require(ProcessEnvironment.executableDirectory)
        let report = ConformanceRun(corpus, modes: [.inProcess], programs: programs).report()
        #expect(report.isSuccess, "\(report)")
    }
}
