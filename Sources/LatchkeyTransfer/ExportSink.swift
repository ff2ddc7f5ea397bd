internal import KeychainCrypto
internal import KeychainPlatform
internal import LatchkeyCommand

/// Where the lines of an export go.
struct ExportSink: ~Copyable {
    /// In the clear, or sealed with what has come and is not sealed yet.
    private enum Protection: ~Copyable {
        case none
        case sealed(Sealing)

        /// The parts that a line fills, or nil where it goes as it is.
        mutating func take(_ line: borrowing SecretBytes) -> [[UInt8]]? {
            switch consume self {
            case .none:
                self = .none
                return nil
            case .sealed(var sealing):
                let full = sealing.take(line)
                self = .sealed(sealing)
                return full
            }
        }
    }

    private var protection: Protection
    private let write: (borrowing SecretBytes) throws(CommandFailure) -> Void

    /// - Parameter write: takes bytes of the file, in order.
    init(insecureTo write: @escaping (borrowing SecretBytes) throws(CommandFailure) -> Void) {
        protection = .none
        self.write = write
    }

    init(
        passphrase: borrowing SecretBytes, cost: PassphraseCost,
        to write: @escaping (borrowing SecretBytes) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let sealing = try Sealing(passphrase, cost)
        try write(SecretBytes(copying: sealing.header.bytes))
        protection = .sealed(sealing)
        self.write = write
    }

    mutating func take(_ line: borrowing SecretBytes) throws(CommandFailure) {
        guard let full = protection.take(line) else { return try write(line) }
        for part in full { try write(SecretBytes(copying: part)) }
    }

    consuming func finish() throws(CommandFailure) {
        switch consume protection {
        case .none: return
        case .sealed(let sealing): try write(SecretBytes(copying: sealing.last()))
        }
    }
}

/// Lines on their way into sealed parts.
private struct Sealing: ~Copyable {
    let header: ExportHeader
    private var stream: SealedStream.Writer
    private var pending = SecretBytes(count: ExportFile.partByteCount)
    private var count = 0

    init(_ passphrase: borrowing SecretBytes, _ cost: PassphraseCost) throws(CommandFailure) {
        let salt = Random.bytes(PassphraseKey.saltByteCount)
        let key: SecretBytes
        do throws(SystemCallError) {
            key = try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
        } catch {
            throw CommandFailure(
                .unavailable, "there is no memory for the passphrase (\(cost.kibibytes >> 10) MiB)",
                "Free some and try again.")
        }
        stream = SealedStream.Writer(key: key)
        header = ExportHeader(cost: cost, salt: salt, stream: stream.header)
    }

    /// The parts that are full now.
    mutating func take(_ line: borrowing SecretBytes) -> [[UInt8]] {
        var full: [[UInt8]] = []
        var taken = 0
        while taken < line.count {
            let part = min(line.count - taken, pending.count - count)
            let (from, to) = (taken, count)
            unsafe pending.withUnsafeMutableBytes { place in
                unsafe line.withUnsafeBytes { bytes in
                    unsafe UnsafeMutableRawBufferPointer(rebasing: place[to..<to + part])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + part]))
                }
            }
            taken += part
            count += part
            if count == pending.count { full.append(seal(as: .message)) }
        }
        return full
    }

    consuming func last() -> [UInt8] { seal(as: .last) }

    private mutating func seal(as tag: SealedStream.Tag) -> [UInt8] {
        let sealed = stream.seal(pending.copy(0..<count), bound: header.bytes, as: tag)
        count = 0
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(sealed.count) >> $0) } + sealed
    }
}
