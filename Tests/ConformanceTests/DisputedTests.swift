import Conformance
import Testing

@Suite struct DisputedTests {
    private func reason(_ step: String) throws -> String? {
        let json = #"{"id": "c", "topic": "t", "steps": [\#(step)]}"#
        return Disputed.reason(for: try ConformanceCase(JSONValue(parsing: json.utf8)))
    }

    @Test func knowWhatOtherPagesDecide() throws {
        let limit = #""kSecMatchLimit": {"const": "kSecMatchLimitAll"}"#
        #expect(try reason(#"{"call": "delete", "query": {\#(limit)}, "status": -50}"#) != nil)
        #expect(try reason(#"{"call": "delete", "query": {\#(limit)}, "status": 0}"#) == nil)
        #expect(try reason(#"{"call": "update", "query": {\#(limit)}, "status": -50}"#) == nil)
        #expect(try reason(#"{"call": "add", "query": {\#(limit)}, "status": 0}"#) != nil)
        #expect(try reason(#"{"call": "add", "query": {\#(limit)}, "status": -50}"#) == nil)
    }

    /// The table holds rules for cases to come; none of ours needs one.
    @Test func coverNoCaseOfOurOwnCopy() throws {
        let corpus = try Corpus(
            files: ["cases.jsonl", "ours.jsonl"].map { OwnCorpus.folder + "/" + $0 },
            fixtures: Fixtures(folder: OwnCorpus.folder + "/fixtures"))
        #expect(corpus.cases.allSatisfy { Disputed.reason(for: $0) == nil })
        #expect(corpus.unreadable.isEmpty)
        #expect(Set(corpus.cases.map(\.id)).count == corpus.cases.count)
    }
}
