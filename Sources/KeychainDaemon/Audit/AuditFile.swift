package import Enclave
internal import KeychainPlatform

/// One file of the audit record, `DATA/audit/NNNNNNNNNN.audit` (FORMATS.md, "Audit
/// record"). Numbers big-endian: magic `LKAUDREC`, version (4), store (16), chain
/// (16), number of the file (8), its ordinal in the chain (4); then blocks: index (4),
/// length (4), box. Nothing in it is read before the enclave has opened it.
package struct AuditFile: Hashable, Sendable {
    package struct Block: Hashable, Sendable {
        package let index: UInt32
        package let box: [UInt8]
    }

    package static let headerCount = 8 + 4 + 16 + 16 + 8 + 4
    private static let magic = Array("LKAUDREC".utf8)
    private static let version: UInt32 = 1
    /// Larger than any block of ours; a file ends with the first after 4 MiB.
    package static let largestBlock = 1 << 20
    package static let largestFile = 6 << 20

    package let store: [UInt8]
    /// Where its first block goes.
    package let first: AuditPlace
    package private(set) var blocks: [Block] = []
    /// Up to the end of the last whole block.
    package private(set) var length = headerCount
    /// Bytes behind it: a block that was torn, or anything else.
    package private(set) var rest = 0

    /// nil for a file that does not begin as one of ours, of this version.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headerCount, Array(bytes[..<8]) == Self.magic,
            Self.number(bytes[8..<12]) == UInt64(Self.version),
            let first = AuditPlace(
                chain: Array(bytes[28..<44]), file: Self.number(bytes[44..<52]),
                ordinal: UInt32(Self.number(bytes[52..<56])), index: 0)
        else { return nil }
        store = Array(bytes[12..<28])
        self.first = first
        while bytes.count >= length + 8 {
            let size = Int(Self.number(bytes[(length + 4)..<(length + 8)]))
            let index = UInt32(Self.number(bytes[length..<(length + 4)]))
            guard size <= Self.largestBlock, bytes.count >= length + 8 + size, index < AuditPlace.mostBlocks else {
                break
            }
            blocks.append(Block(index: index, box: Array(bytes[(length + 8)..<(length + 8 + size)])))
            length += 8 + size
        }
        rest = bytes.count - length
    }

    package static func header(of place: AuditPlace, store: [UInt8]) -> [UInt8] {
        magic + bytes(version) + store + place.chain + bytes(place.file) + bytes(place.ordinal)
    }

    package static func bytes(of block: SealedAuditBlock) -> [UInt8] {
        bytes(block.place.index) + bytes(UInt32(block.box.count)) + block.box
    }

    /// Where a block's bytes begin.
    func start(of position: Int) -> Int {
        blocks[..<position].reduce(Self.headerCount) { $0 + 8 + $1.box.count }
    }

    /// The blocks from the first on that are there without a gap.
    var unbroken: Int { blocks.enumerated().first { $0.offset != Int($0.element.index) }?.offset ?? blocks.count }

    /// One past the highest block.
    var count: UInt32 { (blocks.map(\.index).max() ?? 0) &+ (blocks.isEmpty ? 0 : 1) }

    private static func bytes<I: FixedWidthInteger>(_ value: I) -> [UInt8] {
        (1...(I.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> (I.bitWidth - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The folder `DATA/audit`.
struct AuditFolder: Sendable {
    static let name = "audit"
    static let suffix = ".audit"
    private static let digitCount = 10
    /// What a file that contradicts the keychain is renamed to, with a number.
    static let asideMark = ".aside-"
    /// Files that are kept; the oldest goes when another begins.
    static let mostFiles: UInt64 = 8

    private let directory: PrivateDirectory

    init(in data: PrivateDirectory) throws(DirectoryRefusal) {
        directory = try PrivateDirectory("\(data.path)/\(Self.name)", creating: true)
    }

    static func fileName(_ number: UInt64) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, digitCount - digits.count)) + digits + suffix
    }

    /// nil for a name that no file of ours has.
    static func number(of name: String) -> UInt64? {
        guard name.hasSuffix(suffix), name.utf8.count == digitCount + suffix.utf8.count,
            let number = UInt64(name.dropLast(suffix.count)), number > 0, fileName(number) == name
        else { return nil }
        return number
    }

    /// Of the files that are there, rising.
    var numbers: [UInt64] { FolderContent.names(at: directory.path).compactMap(Self.number).sorted() }

    /// nil where there is none; ``Content/foreign`` for what is no file of ours.
    func read(_ number: UInt64) throws(SystemCallError) -> Content? {
        do throws(SystemCallError) {
            guard let bytes = try directory.read(Self.fileName(number), atMost: AuditFile.largestFile) else {
                return nil
            }
            return AuditFile(bytes).map { .file($0) } ?? .foreign
        } catch {
            guard error.isNotAFileOfOurs || error.isInputOutput else { throw error }
            return .foreign
        }
    }

    enum Content: Sendable {
        case file(AuditFile)
        case foreign
    }

    /// Puts a block behind what is there, on the disk before this returns.
    func append(_ block: SealedAuditBlock, at offset: Int, store: [UInt8]) throws(SystemCallError) -> Int {
        let isFirst = offset == 0
        let bytes =
            (isFirst ? AuditFile.header(of: block.place, store: store) : []) + AuditFile.bytes(of: block)
        try directory.overwrite(Self.fileName(block.place.file), with: bytes, at: offset)
        return offset + bytes.count
    }

    func truncate(_ number: UInt64, to length: Int) throws(SystemCallError) {
        try directory.truncate(Self.fileName(number), to: length)
    }

    func remove(_ number: UInt64) throws(SystemCallError) { try directory.remove(Self.fileName(number)) }

    /// Keeps a file that contradicts the keychain under another name, as long as there
    /// are not many of them.
    func setAside(_ number: UInt64) throws(SystemCallError) {
        if let name = freeAsideName(number) {
            try directory.move(Self.fileName(number), to: name)
        } else {
            try directory.remove(Self.fileName(number))
        }
        try directory.synchronize()
    }

    /// The same with a copy; the file stays.
    func copyAside(_ number: UInt64) throws(SystemCallError) {
        guard let name = freeAsideName(number),
            let bytes = try directory.read(Self.fileName(number), atMost: AuditFile.largestFile)
        else { return }
        try directory.replace(name, with: bytes)
    }

    private static let mostAside = 8

    private func freeAsideName(_ number: UInt64) -> String? {
        let taken = Set(FolderContent.names(at: directory.path).filter { $0.contains(Self.asideMark) })
        guard taken.count < Self.mostAside else { return nil }
        return (1...).lazy.map { Self.fileName(number) + Self.asideMark + "\($0)" }.first { !taken.contains($0) }
    }

    /// Whether a name is that of a file of ours, or of one that was kept apart.
    static func isOurs(_ name: String) -> Bool {
        guard let mark = name.firstRange(of: asideMark) else { return number(of: name) != nil }
        return number(of: String(name[..<mark.lowerBound])) != nil && UInt64(name[mark.upperBound...]) != nil
    }
}
