internal import Foundation
internal import KeychainTestSupport

/// A running `latchkeyd-testing`, told what to do over its standard input.
final class DaemonProcess {
    static let programName = "latchkeyd-testing"

    private let process = TestProcess()
    private let commands = Pipe()
    private let answers = Pipe()
    private let errors: URL
    private var unread = Data()

    /// Returns once the daemon listens.
    init(in folder: String, programs: String, _ context: CaseContext) throws {
        errors = URL(fileURLWithPath: folder + "/errors")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.executableURL = URL(fileURLWithPath: programs + "/" + Self.programName)
        process.arguments = ["--data-dir", folder + "/data", "--run-dir", folder + "/run"]
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
        try expectReady("start")
        try tell(.become(context))
    }

    /// Waits until it is done.
    func tell(_ command: DaemonCommand) throws {
        try commands.fileHandleForWriting.write(contentsOf: Data((command.line + "\n").utf8))
        try expectReady(command.line)
    }

    private func expectReady(_ what: String) throws {
        let answer = try readLine()
        guard answer == DaemonCommand.ready else { throw CorpusError("the daemon for tests, \(what): \(answer)") }
    }

    private var said: String { (try? Data(contentsOf: errors)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    private func readLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[unread.startIndex..<end], as: UTF8.self)
                unread = Data(unread[unread.index(after: end)...])
                return line
            }
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CorpusError("the daemon for tests has gone: \(said)") }
            unread.append(more)
        }
    }

    /// The end of its input is the daemon's order to leave.
    func stop() {
        do { try commands.fileHandleForWriting.close() } catch { process.terminate() }
        process.waitUntilExit()
    }
}
