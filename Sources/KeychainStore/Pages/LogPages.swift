internal import KeychainPlatform

/// Which frame of a write-ahead log holds the newest committed form of each page
/// (<https://sqlite.org/fileformat2.html>, section 4).
///
/// As SQLite itself: a frame counts whose salts are the header's and whose checksum, which goes
/// on from frame to frame, is right, and only up to the last one that ends a commit. What lies
/// behind is what a former round left, or what was under way.
struct LogPages {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let frameSize = Int64(frameHeaderSize + PageBytes.pageSize)
    /// The size in the header, where checksums are of little-endian words; one more: big-endian
    /// (section 4.1).
    private static let magic: UInt32 = 0x377F_0682
    private static let version: UInt32 = 3_007_000
    /// Four gigabytes of log; what is behind is not looked at.
    private static let mostFrames = 1 << 20

    private let log: Descriptor
    private var frames: [UInt32: Int] = [:]
    /// How many pages the database has after the last commit; 0 where the log holds none.
    private(set) var pageCount: UInt32 = 0
    /// Whether there is more than was looked at.
    private(set) var isCutShort = false

    /// The numbers of the pages that it holds.
    var numbers: some Sequence<UInt32> { frames.keys }

    /// - Parameter isOver: asked at each frame; true ends the search.
    /// - Throws: where the header cannot be read. A frame that cannot be ends the log.
    init(_ log: Descriptor, until isOver: () -> Bool) throws(SystemCallError) {
        self.log = log
        let header = try log.read(atMost: Self.headerSize, from: 0)
        guard header.count == Self.headerSize, let magic = PageBytes.number32(header, 0), magic & ~1 == Self.magic,
            PageBytes.number32(header, 4) == Self.version,
            PageBytes.number32(header, 8) == UInt32(PageBytes.pageSize)
        else { return }
        var sum = Checksum(isBigEndian: magic & 1 == 1)
        sum.add(header[..<24])
        guard sum.agrees(with: header, at: 24) else { return }
        frames = committed(Array(header[16..<24]), sum, until: isOver)
    }

    private mutating func committed(
        _ salts: [UInt8], _ start: Checksum, until isOver: () -> Bool
    ) -> [UInt32: Int] {
        var sum = start
        var owners: [UInt32] = []
        var committedCount = 0
        while let frame = frame(owners.count), frame.count == Int(Self.frameSize) {
            guard owners.count < Self.mostFrames, !isOver() else {
                isCutShort = true
                break
            }
            sum.add(frame[..<8])
            sum.add(frame[Self.frameHeaderSize...])
            guard let page = PageBytes.number32(frame, 0), page > 0, let size = PageBytes.number32(frame, 4),
                Array(frame[8..<16]) == salts, sum.agrees(with: frame, at: 16)
            else { break }
            owners.append(page)
            guard size > 0 else { continue }
            committedCount = owners.count
            pageCount = size
        }
        var newest: [UInt32: Int] = [:]
        for (index, page) in owners[..<committedCount].enumerated() { newest[page] = index }
        return newest
    }

    private func frame(_ index: Int) -> [UInt8]? {
        do throws(SystemCallError) {
            return try log.read(
                atMost: Int(Self.frameSize), from: Int64(Self.headerSize) + Int64(index) * Self.frameSize)
        } catch { return nil }
    }

    /// The newest committed form of a page; nil where the log has none, or cannot be read there.
    func page(_ number: UInt32) -> [UInt8]? {
        guard let index = frames[number], let frame = frame(index), frame.count == Int(Self.frameSize) else {
            return nil
        }
        return Array(frame[Self.frameHeaderSize...])
    }

    func holds(_ number: UInt32) -> Bool { frames[number] != nil }

    /// Section 4.2.
    private struct Checksum {
        private var first: UInt32 = 0
        private var second: UInt32 = 0
        private let isBigEndian: Bool

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// - Parameter bytes: a multiple of eight of them.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            for offset in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
                first = first &+ word(bytes, offset) &+ second
                second = second &+ word(bytes, offset + 4) &+ first
            }
        }

        private func word(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
            let (a, b) = (UInt32(bytes[offset]), UInt32(bytes[offset + 1]))
            let (c, d) = (UInt32(bytes[offset + 2]), UInt32(bytes[offset + 3]))
            return isBigEndian ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
        }

        /// The checksum that is written is big-endian always.
        func agrees(with bytes: [UInt8], at offset: Int) -> Bool {
            PageBytes.number32(bytes, offset) == first && PageBytes.number32(bytes, offset + 4) == second
        }
    }
}
