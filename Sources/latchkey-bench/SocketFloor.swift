import KeychainPlatform

/// The floor of a hop: a raw blocking round trip over a sequenced-packet socket
/// with another process, 256 bytes each way.
struct SocketFloor {
    private let socket: PacketSocket
    private let message = [UInt8](repeating: 7, count: 256)

    /// The other end: echoes until its socket closes.
    static func echo(_ descriptor: Int32) throws {
        let socket = PacketSocket(owning: Descriptor(owning: descriptor))
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let envelope = try unsafe buffer.withUnsafeMutableBytes { try unsafe socket.receive(into: $0) }
            guard let envelope else { return }
            try socket.send(Array(buffer[..<envelope.byteCount]))
        }
    }

    init(program: String) throws {
        let pair = try PacketSocket.pair()
        socket = pair.0
        try DaemonStarter.start(program, arguments: ["echo"], environment: [], keeping: pair.1.descriptor)
    }

    func measure(count: Int) throws -> Measurement {
        var buffer = [UInt8](repeating: 0, count: 4096)
        return try Measurement.take("raw socket round trip, 256 B", count: count) { _ in
            try socket.send(message)
            _ = try unsafe buffer.withUnsafeMutableBytes { try unsafe socket.receive(into: $0) }
        }
    }
}
