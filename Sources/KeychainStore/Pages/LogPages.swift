internal import KeychainPlatform

/// Which frame of a write-ahead log holds the newest committed form of each page, as far as its
/// frames are known (``LogFrames``): where one is lost, of its page the form before.
///
/// What lies behind the last commit is what a former round left, or what was under way.
struct LogPages {
    private let log: LogFrames
    private var newest: [UInt32: Int] = [:]
    /// How many pages the database has after the last commit; 0 where the log holds none.
    private(set) var pageCount: UInt32 = 0

    /// Whether there is more than was looked at.
    var isCutShort: Bool { log.isCutShort }
    /// Whether some page may have a newer form that is lost.
    var isWhole: Bool { !log.hasLost }
    /// The numbers of the pages that it holds.
    var numbers: some Sequence<UInt32> { newest.keys }

    /// - Parameter isOver: asked at each frame; true ends the search.
    /// - Throws: where the header cannot be read. A frame that cannot be ends the log.
    init(_ log: Descriptor, until isOver: () -> Bool) throws(SystemCallError) {
        self.log = try LogFrames(log, until: isOver)
        for (index, frame) in self.log.frames.enumerated() where frame.form != .lost {
            newest[frame.page] = index
            if frame.size > 0 { pageCount = frame.size }
        }
    }

    /// The newest committed form of a page; nil where the log has none, or cannot be read there.
    func page(_ number: UInt32) -> [UInt8]? {
        newest[number].flatMap { log.frame($0) }.map { Array($0[LogFrames.frameHeaderSize...]) }
    }

    func holds(_ number: UInt32) -> Bool { newest[number] != nil }
}
