internal import Conformance
internal import Foundation
internal import KeychainPlatform

// conformance [--mode in-process|daemon] [--case ID-OR-PREFIX]… [FOLDER]
//
// Runs the corpus in FOLDER (default: Tests/ConformanceTests/Corpus here), or
// what CONFORMANCE_CASES and CONFORMANCE_FIXTURES name, and exits with 1 where
// a case fails.

struct Arguments {
    var modes = Mode.allCases
    var prefixes: [String] = []
    /// The project's own copy, from wherever the tool is run.
    var folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../ConformanceTests/Corpus")
        .standardizedFileURL.path

    static let usage = "usage: conformance [--mode in-process|daemon] [--case ID-OR-PREFIX]... [FOLDER]"

    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--mode":
                guard let name = rest.next(), let mode = Self.mode(name) else { return nil }
                modes = [mode]
            case "--case":
                guard let prefix = rest.next() else { return nil }
                prefixes.append(prefix)
            case _ where argument.hasPrefix("-"): return nil
            default: folder = argument
            }
        }
    }

    private static func mode(_ name: String) -> Mode? {
        switch name {
        case "in-process": .inProcess
        case "daemon": .daemon
        default: nil
        }
    }
}

func run() throws -> Int32 {
    guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
        StandardError.write(Arguments.usage + "\n")
        return 2
    }
    var corpus = try Corpus.fromEnvironment(own: arguments.folder)
    if !arguments.prefixes.isEmpty {
        corpus.cases.removeAll { one in !arguments.prefixes.contains { one.id.hasPrefix($0) } }
    }
    let programs = ProcessEnvironment.executableDirectory ?? "."
    let report = ConformanceRun(corpus, modes: arguments.modes, programs: programs).report()
    print(report)
    return report.isSuccess ? 0 : 1
}

do { exit(try run()) } catch {
    StandardError.write("conformance: \(error)\n")
    exit(2)
}
