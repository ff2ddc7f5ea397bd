internal import KeychainPlatform

/// The pages of a database, each as it was committed last: from its log, else from the file.
/// Neither has to be whole, or there.
struct DatabasePages {
    /// 16 GiB; what is behind is not looked at.
    private static let mostPages: UInt32 = 1 << 22

    private let database: Descriptor?
    private let log: LogPages?
    /// Pages of the file, without those that a later commit has cut off.
    private let inFile: UInt32
    /// Pages of the log alone.
    private let behind: [UInt32]
    /// Whether there is more than is looked at.
    let isCutShort: Bool

    /// - Parameters:
    ///   - database: nil where it is gone.
    ///   - log: the write-ahead log that lies beside it, which nothing else says is its own.
    ///   - isOver: asked at each frame of the log; true ends the search.
    init(_ database: Descriptor?, log: Descriptor?, until isOver: () -> Bool) throws(SystemCallError) {
        self.database = database
        self.log = try log.map { file throws(SystemCallError) in try LogPages(file, until: isOver) }
        let size = try database.map { file throws(SystemCallError) in try FileStatus(of: file).byteCount } ?? 0
        let whole = max(0, size / Int64(PageBytes.pageSize))
        let committed = self.log.map(\.pageCount) ?? 0
        // Where a commit may be missing nobody knows how many pages the file keeps.
        let limit = committed > 0 && self.log?.isWhole == true ? Int64(committed) : .max
        let inFile = UInt32(clamping: min(whole, limit, Int64(Self.mostPages)))
        self.inFile = inFile
        isCutShort = min(whole, limit) > Int64(inFile) || self.log?.isCutShort == true
        behind = self.log.map { $0.numbers.filter { $0 > inFile && $0 <= committed }.sorted() } ?? []
    }

    var count: Int { Int(inFile) + behind.count }

    /// Which form of a page.
    enum Form: UInt8 {
        case newest
        /// The one before, where nobody knows whether the newest was written so (``LogPages``);
        /// else the newest.
        case known
    }

    /// Every page there is, in each of its forms, until `body` says that it is enough.
    func forEach(_ body: (UInt32, Form, [UInt8]) -> Bool) {
        var number: UInt32 = 0
        while number < inFile {
            number += 1
            if !hand(number, to: body) { return }
        }
        for number in behind where !hand(number, to: body) { return }
    }

    private func hand(_ number: UInt32, to body: (UInt32, Form, [UInt8]) -> Bool) -> Bool {
        if let page = page(number), !body(number, .newest, page) { return false }
        guard log?.doubts(number) == true, let page = page(number, .known) else { return true }
        return body(number, .known, page)
    }

    /// nil for one that is not there, or that the disk refuses.
    func page(_ number: UInt32, _ form: Form = .newest) -> [UInt8]? {
        guard number > 0 else { return nil }
        if let log, log.holds(number) {
            guard form == .known, log.doubts(number) else { return log.page(number) }
            if let known = log.knownPage(number) { return known }
        }
        guard let database, number <= inFile else { return nil }
        do throws(SystemCallError) {
            let bytes = try database.read(
                atMost: PageBytes.pageSize, from: Int64(number - 1) * Int64(PageBytes.pageSize))
            return bytes.count == PageBytes.pageSize ? bytes : nil
        } catch { return nil }
    }

    /// The pages that are in no use (<https://sqlite.org/fileformat2.html>, section 1.5); none where
    /// the list is not whole: a page that is in use is better looked at twice than not at all.
    ///
    /// - Parameter isOver: asked at each page of the list; true ends the search.
    func free(until isOver: () -> Bool) -> PageSet {
        let last = behind.last ?? inFile
        var found = PageSet()
        // Where a page may have a newer form the list may be that of before.
        guard log?.isWhole != false, let first = page(1), let start = PageBytes.number32(first, 32),
            let total = PageBytes.number32(first, 36), total <= UInt32(clamping: count)
        else { return found }
        var next = start
        var foundCount: UInt32 = 0
        while next != 0 {
            guard !isOver(), foundCount < total, next <= last, let trunk = trunk(next), found.insert(next) else {
                return PageSet()
            }
            foundCount += 1
            for leaf in trunk.leaves {
                guard leaf > 1, leaf <= last, foundCount < total, found.insert(leaf) else { return PageSet() }
                foundCount += 1
            }
            next = trunk.next
        }
        return foundCount == total ? found : PageSet()
    }

    /// Whether the header's list of free pages is one, or says that there are none.
    var hasWholeFreeList: Bool {
        guard let first = page(1), let start = PageBytes.number32(first, 32), let total = PageBytes.number32(first, 36)
        else { return true }
        // One that the disk refuses is not wrong for that.
        if start != 0, start <= inFile, page(start) == nil { return true }
        return start == 0 && total == 0 || !free(until: { false }).isEmpty
    }

    private func trunk(_ number: UInt32) -> (next: UInt32, leaves: [UInt32])? {
        guard number > 1, let bytes = page(number), let next = PageBytes.number32(bytes, 0),
            let leafCount = PageBytes.number32(bytes, 4), leafCount <= UInt32(PageBytes.pageSize / 4 - 2)
        else { return nil }
        return (next, (0..<Int(leafCount)).compactMap { PageBytes.number32(bytes, 8 + 4 * $0) })
    }
}

/// Numbers of pages, of those that are looked at.
struct PageSet {
    private var words: [UInt32: UInt64] = [:]

    var isEmpty: Bool { words.isEmpty }

    func contains(_ page: UInt32) -> Bool { (words[page >> 6] ?? 0) & 1 << UInt64(page & 63) != 0 }

    /// False where it was there.
    mutating func insert(_ page: UInt32) -> Bool {
        let bit: UInt64 = 1 << UInt64(page & 63)
        let word = words[page >> 6] ?? 0
        words[page >> 6] = word | bit
        return word & bit == 0
    }
}
