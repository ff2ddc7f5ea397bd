internal import Conformance
internal import Foundation
internal import KeychainPlatform

// latchkeyd-testing --data-dir DIR --run-dir DIR
//
// The daemon as tests need it: whoever calls has the entitlements that its
// starter last said, and it damages its store when told to. Says "ok" on standard
// output once it listens and after each command on standard input (see
// DaemonCommand); leaves at the end of its input. Not installed.

func option(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
}

guard let data = option("--data-dir"), let run = option("--run-dir") else {
    StandardError.write("usage: latchkeyd-testing --data-dir DIR --run-dir DIR\n")
    exit(2)
}
Hardening.ignoreBrokenPipes()
do {
    let daemon = try TestingDaemon(dataDirectory: data, runDirectory: run)
    try daemon.run()
} catch {
    StandardError.write("latchkeyd-testing: \(error)\n")
    exit(1)
}
