import Foundation
import KeychainClient
import KeychainPlatform

/// A process of this program that does nothing but call the daemon.
final class ClientProcess {
    enum Call: String {
        case read
        case attributes
        case add
        case all
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ call: Call, count: Int, seed: Int, items: Int, data: String) throws {
        process.executableURL = URL(fileURLWithPath: BenchFolder.program)
        process.arguments = ["client", call.rawValue, "\(count)", "\(seed)", "\(items)", data, BenchFolder.run]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// It has connected and made a few calls.
    func waitUntilReady() throws {
        guard output.fileHandleForReading.availableData.first == UInt8(ascii: "r") else {
            throw BenchFailure("a client")
        }
    }

    func go() { input.fileHandleForWriting.write(Data("g".utf8)) }

    /// Waits for its end: the seconds that it was on a processor since `go`.
    func processorTime() throws -> Double {
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let seconds = Double(text) else { throw BenchFailure("a client's calls") }
        return seconds
    }

    // MARK: Within that process

    /// `client CALL COUNT SEED ITEMS DATA RUN`
    static func main(_ arguments: [String]) throws {
        guard arguments.count == 6, let call = Call(rawValue: arguments[0]), let count = Int(arguments[1]),
            let seed = Int(arguments[2]), let items = Int(arguments[3])
        else { throw BenchFailure("the arguments of a client") }
        let calls = ClientCalls(data: arguments[4], run: arguments[5], items: items)
        for index in 0..<20 { try calls.make(call == .add ? .read : call, seed + index) }
        FileHandle.standardOutput.write(Data("r".utf8))
        guard FileHandle.standardInput.availableData.count == 1 else { return }
        let own = ProcessEnvironment.processID
        let before = ProcessFigures.processorTime(of: own)
        for index in 0..<count { try calls.make(call, seed + index) }
        let used = ProcessFigures.processorTime(of: own) - before
        FileHandle.standardOutput.write(Data("\(used)".utf8))
    }
}
