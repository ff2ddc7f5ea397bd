internal import KeychainPlatform

/// The frames of a write-ahead log, each by itself
/// (<https://sqlite.org/fileformat2.html>, section 4).
///
/// SQLite takes a log to its end before the first frame whose checksum is wrong. But each frame
/// has the checksum with which the next one goes on, so that of a log in whose middle bytes were
/// changed, every other frame still proves itself; and where one word was changed, the checksum
/// mostly says which (``LogChecksum/wordToChange(in:toReach:)``).
struct LogFrames {
    static let headerSize = 32
    static let frameHeaderSize = 24
    static let frameSize = frameHeaderSize + PageBytes.pageSize
    /// The size in the header, where checksums are of little-endian words; one more: big-endian
    /// (section 4.1).
    static let magic: UInt32 = 0x377F_0682
    private static let version: UInt32 = 3_007_000
    /// Where the header says how often the log had begun anew (section 4.1).
    private static let roundOffset = 12
    /// Four gigabytes of log; what is behind is not looked at.
    private static let mostFrames = 1 << 20

    struct Frame {
        /// 0 for one of which nobody knows it.
        let page: UInt32
        /// How many pages the database has behind the commit that it ends; 0: it ends none.
        let size: UInt32
        let form: Form
        /// Whether more than one bit of what the checksum is of was changed, and is put right.
        var isOfSeveralBits = false
    }

    enum Form: Hashable {
        case right
        /// So many bytes at an offset of the frame, its header counted, were others.
        case corrected(at: Int, [UInt8])
        /// With the salts of this log, and not as it was written: nobody knows where, or whether it
        /// was ever committed.
        case changed
        /// Nobody knows what it was, or whether it is of this log.
        case lost
    }

    private let log: Descriptor
    private let byteCount: Int64
    /// Its header, corrected, or made anew; nil where nothing can be made of it.
    let header: [UInt8]?
    let isHeaderCorrected: Bool
    /// Up to the last one that ends a commit, or is as it was written: what ends its commit may be
    /// lost.
    private(set) var frames: [Frame] = []
    /// Whether there is more than was looked at.
    private(set) var isCutShort = false

    /// How many of the first frames are known to be as they were written, up to the last of them
    /// that ends a commit.
    private(set) var knownCount = 0

    /// How many commits end behind that.
    var unknownCommitCount: Int { frames[knownCount...].count { $0.size > 0 } }

    /// Whether all of it is.
    var isKnown: Bool { knownCount == frames.count }

    /// Whether what is known is all there is, and no more than a bit of any page was changed: of
    /// several bits there may be another explanation.
    var isCertain: Bool { isKnown && !frames.contains { $0.isOfSeveralBits } }

    /// How many parts of what is known were changed.
    var correctedCount: Int {
        frames[..<knownCount].count { $0.form != .right } + (isHeaderCorrected ? 1 : 0)
    }

    /// - Parameter isOver: asked at each frame; true ends the search.
    /// - Throws: where the header cannot be read. A frame that cannot be is one that is lost.
    init(_ log: Descriptor, until isOver: () -> Bool) throws(SystemCallError) {
        self.log = log
        byteCount = try FileStatus(of: log).byteCount
        let bytes = try log.read(atMost: Self.headerSize, from: 0)
        let first = Self.raw(log, 0)
        header = Self.corrected(bytes, first) ?? Self.header(of: first, Self.raw(log, 1))
        isHeaderCorrected = header.map { $0 != bytes } ?? false
        if let header { judge(header, until: isOver) }
    }

    /// What it says is known but for one number, and the first frame goes on with its checksum.
    ///
    /// - Returns: nil where the first frame does not prove it.
    private static func corrected(_ bytes: [UInt8], _ first: [UInt8]?) -> [UInt8]? {
        guard bytes.count == headerSize else { return nil }
        for isBigEndian in [false, true] where isHeader(bytes, isBigEndian) {
            let sum = LogChecksum(isBigEndian: isBigEndian).adding(Array(bytes[..<24]))
            if sum.bytes == Array(bytes[24...]) { return bytes }
        }
        guard let first else { return nil }
        for isBigEndian in [false, true] {
            guard let end = LogChecksum(in: first, at: 16, isBigEndian: isBigEndian),
                let stored = LogChecksum(in: bytes, at: 24, isBigEndian: isBigEndian)
            else { return nil }
            let known = start(isBigEndian) + bytes[12..<16] + first[8..<16]
            let none = LogChecksum(isBigEndian: isBigEndian)
            let sum = none.adding(known)
            if sum.adding(checked(first)) == end { return known + sum.bytes }
            guard stored.adding(checked(first)) == end,
                let round = none.word(at: roundOffset, of: known, toReach: stored)
            else { continue }
            return replacing(known, at: roundOffset, round) + stored.bytes
        }
        return nil
    }

    /// A header for frames that have lost theirs; nil where the second does not go on with the
    /// first.
    private static func header(of first: [UInt8]?, _ second: [UInt8]?) -> [UInt8]? {
        guard let first, let second, first[8..<16] == second[8..<16] else { return nil }
        for isBigEndian in [false, true] {
            guard let sum = LogChecksum(in: first, at: 16, isBigEndian: isBigEndian),
                let following = LogChecksum(in: second, at: 16, isBigEndian: isBigEndian),
                sum.adding(checked(second)) == following
            else { continue }
            var bytes = start(isBigEndian) + [0, 0, 0, 0] + first[8..<16]
            let none = LogChecksum(isBigEndian: isBigEndian)
            // How often the log had begun anew: with the right count the first frame proves it.
            if let round = none.word(at: roundOffset, of: bytes + checked(first), toReach: sum) {
                bytes = replacing(bytes, at: roundOffset, round)
            }
            return bytes + none.adding(bytes).bytes
        }
        return nil
    }

    private static func isHeader(_ bytes: [UInt8], _ isBigEndian: Bool) -> Bool {
        bytes.starts(with: start(isBigEndian))
    }

    /// The first three numbers of every log of ours.
    private static func start(_ isBigEndian: Bool) -> [UInt8] {
        [magic + (isBigEndian ? 1 : 0), version, UInt32(PageBytes.pageSize)].flatMap(LogChecksum.bytes)
    }

    static func replacing(_ bytes: [UInt8], at offset: Int, _ others: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes.replaceSubrange(offset..<offset + others.count, with: others)
        return bytes
    }

    // MARK: Judging

    private mutating func judge(_ header: [UInt8], until isOver: () -> Bool) {
        let isBigEndian = header[3] & 1 == 1
        guard var before = LogChecksum(in: header, at: 24, isBigEndian: isBigEndian) else { return }
        let salts = Array(header[16..<24])
        var found: [Frame] = []
        var end = 0
        var isBehindLost = false
        var next = rawOrNothing(0)
        while let frame = next {
            guard found.count < Self.mostFrames, !isOver() else {
                isCutShort = true
                break
            }
            next = rawOrNothing(found.count + 1)
            let judged = Self.judge(frame, before, next, salts, isBehindLost)
            isBehindLost = judged.form == .lost
            found.append(judged)
            if judged.size > 0 || judged.form != .changed && judged.form != .lost { end = found.count }
            // With what was written there the next one goes on.
            let written = if case .corrected(let offset, let bytes) = judged.form {
                Self.replacing(frame, at: offset, bytes)
            } else {
                frame
            }
            guard let stored = LogChecksum(in: written, at: 16, isBigEndian: isBigEndian) else { break }
            before = stored
        }
        frames = Array(found[..<end])
        for (index, frame) in frames.enumerated() {
            if frame.form == .changed || frame.form == .lost { break }
            if frame.size > 0 { knownCount = index + 1 }
        }
    }

    /// - Parameters:
    ///   - before: the checksum that the frame before it has.
    ///   - next: what lies behind it.
    ///   - isBehindLost: whether that checksum is somebody's word only.
    private static func judge(
        _ frame: [UInt8], _ before: LogChecksum, _ next: [UInt8]?, _ salts: [UInt8], _ isBehindLost: Bool
    ) -> Frame {
        let content = checked(frame)
        let hasSalts = Array(frame[8..<16]) == salts
        guard hasSalts || !isBehindLost, let stored = LogChecksum(in: frame, at: 16, isBigEndian: before.isBigEndian)
        else { return made(frame, .lost) }
        let reached = before.adding(content)
        if reached == stored { return made(frame, hasSalts ? .right : .corrected(at: 8, salts)) }
        // Of a frame without its salts two things would have to have been changed.
        guard hasSalts else { return made(frame, .lost) }
        // With which of the two the next one goes on says what was changed; where none does, nobody.
        guard !isBehindLost, let next,
            let following = LogChecksum(in: next, at: 16, isBigEndian: before.isBigEndian)
        else { return made(frame, .changed) }
        if reached.adding(checked(next)) == following { return made(frame, .corrected(at: 16, reached.bytes)) }
        if stored.adding(checked(next)) == following,
            let change = before.wordToChange(in: content, toReach: stored)
        {
            let offset = change.offset < 8 ? change.offset : change.offset + 16
            var judged = made(frame, .corrected(at: offset, change.bytes))
            judged.isOfSeveralBits = change.isOfSeveralBits
            if judged.form != .lost { return judged }
        }
        return made(frame, .changed)
    }

    /// Without a page that can be one it is lost.
    private static func made(_ frame: [UInt8], _ form: Form) -> Frame {
        var header = Array(frame[..<frameHeaderSize])
        if case .corrected(let offset, let bytes) = form, offset + bytes.count <= header.count {
            header = replacing(header, at: offset, bytes)
        }
        let most = UInt32(mostFrames) << 2
        guard form != .lost, let page = PageBytes.number32(header, 0), let size = PageBytes.number32(header, 4),
            page > 0, page <= most, size <= most
        else { return Frame(page: 0, size: 0, form: .lost) }
        return Frame(page: page, size: size, form: form)
    }

    /// What the checksum of a frame is of (section 4.2).
    private static func checked(_ frame: [UInt8]) -> [UInt8] {
        Array(frame[..<8] + frame[frameHeaderSize...])
    }

    // MARK: Reading

    private func raw(_ index: Int) -> [UInt8]? { Self.raw(log, index) }

    private static func offset(of index: Int) -> Int64 { Int64(headerSize) + Int64(index) * Int64(frameSize) }

    private static func raw(_ log: Descriptor, _ index: Int) -> [UInt8]? {
        do throws(SystemCallError) {
            let bytes = try log.read(atMost: frameSize, from: offset(of: index))
            return bytes.count == frameSize ? bytes : nil
        } catch { return nil }
    }

    /// For judging: what the disk refuses is a frame of which nobody knows anything.
    private func rawOrNothing(_ index: Int) -> [UInt8]? {
        raw(index) ?? (Self.offset(of: index + 1) <= byteCount ? [UInt8](repeating: 0, count: Self.frameSize) : nil)
    }

    /// A frame, corrected; nil where it cannot be read.
    func frame(_ index: Int) -> [UInt8]? {
        guard let bytes = raw(index) else { return nil }
        guard case .corrected(let offset, let others) = frames[index].form else { return bytes }
        return Self.replacing(bytes, at: offset, others)
    }

    /// The log of what is known, as it was written; nil where that is nothing, or cannot be read.
    func mended() -> [UInt8]? {
        guard let header, knownCount > 0 else { return nil }
        var bytes = header
        bytes.reserveCapacity(Self.headerSize + knownCount * Self.frameSize)
        for index in 0..<knownCount {
            guard let frame = frame(index) else { return nil }
            bytes += frame
        }
        return bytes
    }
}
