internal import Foundation

/// The cases to run and the fixtures that they name.
package struct Corpus: Sendable {
    package var cases: [ConformanceCase]
    /// Lines that are no case, with the reason; each counts as a failure.
    package var unreadable: [String]
    package let fixtures: Fixtures

    /// The variables that name other files than the project's own.
    package static let casesVariable = "CONFORMANCE_CASES"
    package static let fixturesVariable = "CONFORMANCE_FIXTURES"

    package init(fixtures: Fixtures) {
        cases = []
        unreadable = []
        self.fixtures = fixtures
    }

    package init(files: [String], fixtures: Fixtures) throws {
        self.init(fixtures: fixtures)
        for file in files { read(try String(contentsOfFile: file, encoding: .utf8), named: file) }
    }

    /// What the environment names, else the project's own copy beside the tests.
    package static func fromEnvironment(own folder: String) throws -> Corpus {
        let environment = ProcessInfo.processInfo.environment
        let named = environment[casesVariable].map { $0.split(separator: ":").map(String.init) }
        return try Corpus(
            files: named ?? ["cases.jsonl", "ours.jsonl"].map { folder + "/" + $0 },
            fixtures: Fixtures(folder: environment[fixturesVariable] ?? folder + "/fixtures"))
    }

    /// A case a line.
    package mutating func read(_ text: String, named file: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) { continue }
            do {
                cases.append(try ConformanceCase(JSONValue(parsing: line.utf8)))
            } catch {
                unreadable.append("\(file):\(index + 1): \(error)")
            }
        }
    }
}
