import Conformance
import KeychainPlatform
import Testing

/// What the runner makes of steps, matchers and values: nothing passes that it
/// does not understand.
@Suite struct RunnerTests {
    private static let item = """
        "kSecClass": {"const": "kSecClassGenericPassword"}, "kSecAttrAccount": {"string": "a"}
        """
    private static let add = """
        {"call": "add", "query": {\(item), "kSecValueData": {"data": "0102"}}, "status": 0}
        """

    /// Runs the steps in process; nil: the case passed.
    private func failure(of steps: String, context: String = #""applicationIdentifier": "T.app""#) throws -> String? {
        var corpus = Corpus(fixtures: try Fixtures(folder: OwnCorpus.folder + "/fixtures"))
        corpus.read(
            #"{"id": "c", "topic": "t", "context": {\#(context)}, "steps": [\#(steps)]}"#
                .split(separator: "\n").joined(separator: " "), named: "steps")
        let report = ConformanceRun(corpus, modes: [.inProcess], programs: "/").report()
        return report.isSuccess ? nil : report.failures.joined(separator: "; ")
    }

    private func failure(ofResult matcher: String, asking keys: String = "") throws -> String? {
        try failure(
            of: """
                \(Self.add), {"call": "copy", "query": {\(Self.item), "kSecReturnData": {"bool": true}\(keys)}, \
                "status": 0, "result": \(matcher)}
                """)
    }

    @Test(arguments: [
        #"{"data": "0102"}"#, #"{"data": {"data": "0102"}}"#, #"{"dataLength": 2}"#, #"{"dataPrefix": "01"}"#,
        #"{"type": "data"}"#, #"{"none": false}"#, #"{"type": "data", "dataLength": 2}"#,
    ]) func passesWhatMatches(matcher: String) throws {
        #expect(try failure(ofResult: matcher) == nil)
    }

    @Test(arguments: [
        #"{"data": "0103"}"#, #"{"dataLength": 3}"#, #"{"dataPrefix": "02"}"#, #"{"type": "array"}"#,
        #"{"none": true}"#,
        #"{"count": 1}"#, #"{"dict": {}}"#, #"{"each": {"type": "data"}}"#, #"{"present": ["kSecAttrAccount"]}"#,
        #"{"string": "x"}"#, #"{"int": 1}"#, #"{"dataLength": 2, "dataPrefix": "02"}"#, #"{"sameAs": "nothing"}"#,
        #"{"certDER": "leafRSA"}"#,
    ]) func failsWhatDiffers(matcher: String) throws {
        #expect(try failure(ofResult: matcher) != nil)
    }

    @Test(arguments: [
        #"{"bogus": 1}"#, #"{"type": "bogus"}"#, #"{}"#, #""text""#, #"{"dataLength": 2, "bogus": 1}"#,
        #"{"data": "zz"}"#, #"{"const": "kSecBogus"}"#, #"{"sameAs": {"bogus": "x"}}"#, #"{"none": 1}"#,
    ]) func failsMatchersThatItDoesNotKnow(matcher: String) throws {
        #expect(try failure(ofResult: matcher) != nil)
    }

    @Test(arguments: [
        #"{"dict": {"kSecAttrAccount": {"string": "a"}}}"#,
        #"{"present": ["kSecAttrAccount"], "absent": ["kSecClass"]}"#,
        #"{"dict": {"kSecAttrSynchronizable": {"bool": false}}}"#, #"{"dict": {"raw:sync": {"int": 0}}}"#,
        #"{"equalKeys": ["kSecAttrCreationDate", "kSecAttrModificationDate"]}"#,
        #"{"equalKeys": {"kSecAttrCreationDate": "kSecAttrModificationDate"}}"#,
        #"{"dateNear": {"kSecAttrCreationDate": "now"}}"#, #"{"dateNear": ["kSecAttrCreationDate"]}"#,
        #"{"dateNear": {"kSecAttrCreationDate": {"seconds": 5}}}"#,
    ]) func looksIntoDictionaries(matcher: String) throws {
        #expect(try failure(ofResult: matcher, asking: #", "kSecReturnAttributes": {"bool": true}"#) == nil)
    }

    @Test(arguments: [
        #"{"dict": {"kSecAttrAccount": {"data": "61"}}}"#, #"{"absent": ["kSecAttrAccount"]}"#,
        #"{"dict": {"kSecAttrLabel": {"string": ""}}}"#, #"{"present": ["kSecAttrLabel"]}"#,
        #"{"equalKeys": ["kSecAttrCreationDate", "kSecAttrAccount"]}"#, #"{"equalKeys": ["kSecAttrCreationDate"]}"#,
        #"{"laterKeys": ["kSecAttrModificationDate", "kSecAttrCreationDate"]}"#,
        #"{"sameKeys": {"unsaved": ["kSecAttrAccount"]}}"#, #"{"dateNear": {"kSecAttrAccount": "now"}}"#,
        #"{"dateNear": {"kSecAttrCreationDate": "2001-01-01T00:00:00Z"}}"#, #"{"present": "kSecAttrAccount"}"#,
        #"{"dict": {"kSecBogus": {"string": "a"}}}"#,
    ]) func findsDifferencesInDictionaries(matcher: String) throws {
        #expect(try failure(ofResult: matcher, asking: #", "kSecReturnAttributes": {"bool": true}"#) != nil)
    }

    @Test(arguments: [
        #"{"call": "bogus", "status": 0}"#, #"{"call": "add", "query": {"kSecBogus": {"int": 1}}, "status": -50}"#,
        #"{"call": "add", "query": {"raw:labl": {"bogus": 1}}, "status": -50}"#,
        #"{"call": "add", "query": {"raw:labl": "text"}, "status": -50}"#,
        #"{"call": "add", "query": {"raw:labl": {"string": 1}}, "status": -50}"#,
        #"{"call": "copy", "query": {}, "status": -50, "surprise": true}"#,
        #"{"call": "copy", "query": {}, "status": -50, "merge": "unsaved"}"#,
        #"{"call": "copy", "query": {}, "status": -50, "resultPointer": "bogus"}"#,
        #"{"call": "corruptItem", "match": {"kSecAttrAccount": {"string": "none"}}, "status": 0}"#,
        #"{"call": "accessControlCreate", "protection": "ak", "flags": ["kSecBogus"], "status": 0}"#,
        #"{"call": "copy", "query": {}, "status": 0}"#,
        #"{"call": "copy", "query": {}, "status": {"anyOf": [0, -25300]}}"#,
    ]) func failsStepsThatItCannotMake(step: String) throws {
        #expect(try failure(of: step) != nil)
    }

    @Test func countsLinesThatAreNoCase() throws {
        var corpus = Corpus(fixtures: try Fixtures(folder: OwnCorpus.folder + "/fixtures"))
        corpus.read("{\"id\": \"x\"}\nnonsense\n", named: "lines")
        #expect(corpus.unreadable.count == 2)
        #expect(!ConformanceRun(corpus, modes: [.inProcess], programs: "/").report().isSuccess)
    }

    @Test func keepsValuesForLaterSteps() throws {
        #expect(
            try failure(
                of: """
                    \(Self.add), {"call": "copy", "query": {\(Self.item), "kSecReturnAttributes": {"bool": true}}, "status": 0, \
                    "save": "d"}, {"call": "copy", "query": {"kSecClass": {"const": "kSecClassGenericPassword"}, \
                    "kSecReturnAttributes": {"bool": true}}, "merge": "d", "status": 0, "result": \
                    {"sameAs": "d", "dict": {"kSecAttrAccount": {"var": "d", "path": "kSecAttrAccount"}}, \
                    "sameKeys": {"var": "d", "keys": ["kSecAttrAccount"]}}}
                    """) == nil)
    }
}
