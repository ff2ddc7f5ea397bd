import Foundation
import KeychainPlatform

/// The floor of the way to the daemon and on to the enclave: raw blocking round
/// trips over sequenced-packet sockets, 256 bytes each way, between processes
/// that are pinned like the real ones and do nothing else.
final class SocketFloor {
    private let socket: PacketSocket
    private let message = [UInt8](repeating: 7, count: 256)
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private let processes: [Int32]

    /// `hops` 1: to a process that echoes. 2: to one that passes on to another,
    /// as the daemon does to the enclave.
    init(program: String, hops: Int) throws {
        let before = Self.echoes()
        let pair = try PacketSocket.pair()
        socket = pair.0
        try DaemonStarter.start(
            program, arguments: ["echo", "\(hops)", program], environment: [], keeping: pair.1.descriptor)
        // The answer shows that all of them run.
        try pair.0.send([UInt8](repeating: 7, count: 256))
        var answer = [UInt8](repeating: 0, count: 4096)
        _ = try unsafe answer.withUnsafeMutableBytes { try unsafe pair.0.receive(into: $0) }
        processes = Self.echoes().filter { !before.contains($0) }
        guard processes.count == hops else { throw BenchFailure("starting the echo") }
    }

    func pin(_ pinning: Pinning) throws { try processes.forEach(pinning.pinServer) }

    func roundTrip() throws {
        try socket.send(message)
        _ = try unsafe buffer.withUnsafeMutableBytes { try unsafe socket.receive(into: $0) }
    }

    /// Processes that run this program's `echo`.
    private static func echoes() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { process in
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return false }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.count == 4 && words[1] == "echo" && words[0] == words[3]
        }
    }

    // MARK: The other end

    /// Answers each message with itself, or with what the next process made of
    /// it, until the socket closes.
    static func serve(hops: Int, program: String) throws {
        let socket = PacketSocket(owning: Descriptor(owning: 3))
        var next: PacketSocket?
        if hops > 1 {
            let pair = try PacketSocket.pair()
            next = pair.0
            try DaemonStarter.start(
                program, arguments: ["echo", "\(hops - 1)", program], environment: [], keeping: pair.1.descriptor)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard let count = try receive(socket, &buffer) else { return }
            guard let next else {
                try send(socket, buffer, count)
                continue
            }
            try send(next, buffer, count)
            guard let answer = try receive(next, &buffer) else { return }
            try send(socket, buffer, answer)
        }
    }

    private static func receive(_ socket: PacketSocket, _ buffer: inout [UInt8]) throws -> Int? {
        try unsafe buffer.withUnsafeMutableBytes { try unsafe socket.receive(into: $0) }?.byteCount
    }

    private static func send(_ socket: PacketSocket, _ buffer: [UInt8], _ count: Int) throws {
        try unsafe buffer.withUnsafeBytes { bytes in
            try unsafe socket.send(
                UnsafeRawBufferPointer(rebasing: bytes[..<count]), UnsafeRawBufferPointer(start: nil, count: 0),
                UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}
