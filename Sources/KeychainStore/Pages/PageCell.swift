/// One cell of a page of a b-tree (<https://sqlite.org/fileformat2.html>, section 1.6): a row of a
/// table, or an entry of an index, as whose entries the rows of a table WITHOUT ROWID are kept.
struct PageCell {
    /// The kinds of pages that have rows.
    enum Kind: UInt8 {
        case tableLeaf = 0x0D
        case indexLeaf = 0x0A
        case indexInterior = 0x02
    }

    /// Longer rows we never write: a value has 64 MiB at the most.
    private static let mostBytes: UInt64 = 80 << 20
    private static let usable = PageBytes.pageSize

    /// 0 in an index.
    let rowid: Int64
    /// How many bytes the record has.
    let byteCount: Int
    /// Those of them that are in the page.
    let local: [UInt8]
    /// Where the others begin; 0 where there are none.
    let overflow: UInt32

    /// Where the cells of a page begin; nothing for a page of another kind. Only what the array
    /// of cell pointers names is a cell: what lies beside is left of what was deleted.
    static func offsets(in page: [UInt8]) -> (kind: Kind, offsets: [Int])? {
        guard let kind = page.first.flatMap(Kind.init(rawValue:)), let count = PageBytes.number16(page, 3) else {
            return nil
        }
        let start = kind == .indexInterior ? 12 : 8
        // Each cell has six bytes at least, its pointer included.
        guard count <= (usable - start) / 6 else { return nil }
        let offsets = (0..<count).compactMap { PageBytes.number16(page, start + 2 * $0) }
        return (kind, offsets.filter { $0 >= start + 2 * count })
    }

    /// nil for what is no cell, or does not end within its page.
    init?(_ page: [UInt8], at offset: Int, _ kind: Kind) {
        var offset = kind == .indexInterior ? offset + 4 : offset
        guard let size = PageBytes.variable(page, &offset), size > 0, size <= Self.mostBytes else { return nil }
        byteCount = Int(size)
        if kind == .tableLeaf {
            guard let number = PageBytes.variable(page, &offset) else { return nil }
            rowid = Int64(bitPattern: number)
        } else {
            rowid = 0
        }
        let localCount = Self.localCount(byteCount, kind)
        guard offset <= page.count - localCount else { return nil }
        local = Array(page[offset..<offset + localCount])
        if localCount < byteCount {
            guard let first = PageBytes.number32(page, offset + localCount) else { return nil }
            overflow = first
        } else {
            overflow = 0
        }
    }

    /// Section 1.6, "Cell payload overflow": U, X, M and K of the text.
    private static func localCount(_ byteCount: Int, _ kind: Kind) -> Int {
        let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if byteCount <= most { return byteCount }
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (byteCount - least) % (usable - 4)
        return fitting <= most ? fitting : least
    }

    /// How many pages hold the rest.
    var overflowCount: Int { (byteCount - local.count + Self.usable - 5) / (Self.usable - 4) }

    /// The whole record; nil where a page of its chain is missing (section 1.6).
    func payload(in pages: DatabasePages, _ form: DatabasePages.Form) -> [UInt8]? {
        guard overflow != 0 || local.count == byteCount, isChainThere(pages, form) else { return nil }
        var bytes = local
        bytes.reserveCapacity(byteCount)
        var next = overflow
        while bytes.count < byteCount {
            guard let page = pages.page(next, form), let following = PageBytes.number32(page, 0) else { return nil }
            bytes += page[4..<4 + min(Self.usable - 4, byteCount - bytes.count)]
            next = following
        }
        return bytes
    }

    /// Looks at the chain before there is room for what it holds.
    private func isChainThere(_ pages: DatabasePages, _ form: DatabasePages.Form) -> Bool {
        var next = overflow
        for _ in 0..<overflowCount {
            guard let page = pages.page(next, form), let following = PageBytes.number32(page, 0) else { return false }
            next = following
        }
        return true
    }
}
