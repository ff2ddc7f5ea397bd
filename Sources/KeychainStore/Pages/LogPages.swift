internal import KeychainPlatform

/// Which frames of a write-ahead log hold the newest committed forms of each page.
///
/// Up to the first frame that is not known to be as it was written that is one. From there on a
/// frame may be of another page than it says, or of a commit that was taken back; so a page that
/// has one there has its form before as well.
struct LogPages {
    private let log: LogFrames
    private var newest: [UInt32: Int] = [:]
    /// Among those that are known.
    private var known: [UInt32: Int] = [:]
    /// How many pages the database has after the last commit, or more where that is not known; 0
    /// where the log holds none.
    private(set) var pageCount: UInt32 = 0

    /// Whether there is more than was looked at.
    var isCutShort: Bool { log.isCutShort }
    /// Whether all of it is known.
    var isWhole: Bool { log.isKnown }
    /// The numbers of the pages that it holds.
    var numbers: some Sequence<UInt32> { newest.keys }

    /// - Parameter isOver: asked at each frame; true ends the search.
    /// - Throws: where the header cannot be read. A frame that cannot be is one that is lost.
    init(_ log: Descriptor, until isOver: () -> Bool) throws(SystemCallError) {
        self.log = try LogFrames(log, until: isOver)
        for (index, frame) in self.log.frames.enumerated() where frame.form != .lost {
            newest[frame.page] = index
            if index < self.log.knownCount { known[frame.page] = index }
            if !self.log.isKnown {
                pageCount = max(pageCount, frame.size, frame.page)
            } else if frame.size > 0 {
                pageCount = frame.size
            }
        }
    }

    /// The newest committed form of a page; nil where the log has none, or cannot be read there.
    func page(_ number: UInt32) -> [UInt8]? { newest[number].flatMap { content(of: $0) } }

    /// The newest one that is known; nil where the log has none.
    func knownPage(_ number: UInt32) -> [UInt8]? { known[number].flatMap { content(of: $0) } }

    private func content(of index: Int) -> [UInt8]? {
        log.frame(index).map { Array($0[LogFrames.frameHeaderSize...]) }
    }

    func holds(_ number: UInt32) -> Bool { newest[number] != nil }

    /// Whether the newest form is one that is not known.
    func doubts(_ number: UInt32) -> Bool { newest[number] != known[number] }
}
