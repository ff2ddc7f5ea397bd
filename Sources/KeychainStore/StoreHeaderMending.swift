internal import KeychainModel
internal import KeychainPlatform

/// Puts bytes of the file's header right that are the same in every database of ours
/// (<https://sqlite.org/fileformat2.html>, section 1.3): SQLite makes nothing of a file for one of
/// them, takes it for one that may not be written, or reads it as another one (its text in another
/// encoding, its pages with a map in front), though every row is whole.
///
/// Only where all else says that the file is ours: the number of the application, a format that we
/// know, and the other bytes that are known. What a header says besides is left to SQLite, and to
/// the records inside (``StoreHeader``).
enum StoreHeaderMending {
    /// Page size 4096, one of the two pairs of formats, no bytes reserved, the fractions of a
    /// payload; the schema's format 4, the cache's usual size, no map of pages, UTF-8; no
    /// incremental vacuum; nothing in what is reserved.
    private static let constants: [(offset: Int, bytes: [UInt8])] = [
        (0, Array("SQLite format 3\0".utf8)), (16, [0x10, 0]), (20, [0, 64, 32, 32]), (44, [0, 0, 0, 4]),
        (48, [0, 0, 0, 0]), (52, [0, 0, 0, 0]), (56, [0, 0, 0, 1]), (64, [0, 0, 0, 0]),
        (72, [UInt8](repeating: 0, count: 20)),
    ]
    /// The formats for writing and for reading: both with a log, as ours, or both without, as a
    /// backup that was just put back.
    private static let formats: [[UInt8]] = [[2, 2], [1, 1]]
    private static let formatsOffset = 18
    private static let headerSize = 100
    /// One number of the header, all of it; a page that lost more is no header any more.
    private static let mostWrong = 4
    static let journal = Store.fileName + "-journal"

    /// To be called before anything opens the database, by whoever has the store's lock.
    ///
    /// - Returns: how many bytes were put right.
    /// - Throws: `storeMalformed` where the list of free pages that the header names is none of
    ///   the file's: SQLite would write new rows over old ones; `storeNewer` where the records say
    ///   that the file is a newer program's: every byte is as it was then.
    static func run(in directory: PrivateDirectory) throws(KeychainError) -> Int {
        let found: [UInt8]?
        do throws(SystemCallError) {
            // A transaction without a log that a crash cut off: SQLite takes it back first.
            guard try directory.holds(Store.fileName), try !directory.holds(journal) else { return 0 }
            found = try directory.readPrefix(Store.fileName, byteCount: headerSize)
        } catch { return 0 }
        guard let header = found, header.count == headerSize, isOurs(header) else { return 0 }
        let mended = withConstants(header)
        guard count(header, mended) <= mostWrong else { return 0 }
        let whole = try withSize(mended, in: directory)
        guard whole != header else { return 0 }
        // Its records may say that it is a newer one, which is not touched.
        try StoreHeader.refuseNewer(in: directory)
        let count = write(whole, over: header, in: directory)
        do throws(KeychainError) { try StoreHeader.refuseNewer(in: directory) } catch {
            // SQLite finds them now.
            _ = write(header, over: whole, in: directory)
            throw error
        }
        return count
    }

    private static func write(_ mended: [UInt8], over header: [UInt8], in directory: PrivateDirectory) -> Int {
        // What only reads a folder that may not be written is told so by what comes next.
        do throws(SystemCallError) { try directory.overwrite(Store.fileName, with: mended, at: 0) } catch { return 0 }
        return count(header, mended)
    }

    private static func isOurs(_ header: [UInt8]) -> Bool {
        let format = number(header, 60)
        return Int32(bitPattern: number(header, 68)) == StoreSchema.applicationID && format >= 1
            && format <= UInt32(StoreSchema.format)
    }

    private static func withConstants(_ header: [UInt8]) -> [UInt8] {
        var mended = header
        for (offset, bytes) in constants { mended.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        let present = Array(header[formatsOffset..<formatsOffset + 2])
        if let usual = formats.first, !formats.contains(present) {
            mended.replaceSubrange(formatsOffset..<formatsOffset + 2, with: usual)
        }
        return mended
    }

    private static func count(_ header: [UInt8], _ mended: [UInt8]) -> Int {
        zip(header, mended).count { $0 != $1 }
    }

    /// The number of pages, which SQLite believes where the two counters of changes agree: behind
    /// a smaller one it would put new pages over those that are there. One wrong byte of it is put
    /// right; a file that is shorter than it says was cut, which SQLite sees.
    ///
    /// Where a log holds anything, this page may be an older one.
    private static func withSize(
        _ header: [UInt8], in directory: PrivateDirectory
    ) throws(KeychainError) -> [UInt8] {
        guard (StoreLog.byteCount(in: directory) ?? 0) == 0 else { return header }
        let pages: DatabasePages
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: FilePath(Store.fileName), in: directory.descriptor, .readingNoLink)
            pages = try DatabasePages(file, log: nil, until: { false })
        } catch { return header }
        guard pages.isCutShort || pages.hasWholeFreeList else {
            throw KeychainError(.notAvailable, reason: .storeMalformed, underlying: "the list of free pages")
        }
        let size = UInt32(clamping: pages.count)
        var mended = header
        let isBelieved = number(header, 24) == number(header, 92)
        let told = number(header, 28)
        // What was only added to the file (a copy's zeros) is no page of it.
        guard isBelieved, told < size, !pages.isCutShort,
            (told + 1...size).contains(where: { pages.page($0)?.contains { $0 != 0 } == true })
        else { return header }
        let bytes = stride(from: UInt32(24), through: 0, by: -8).map { UInt8(truncatingIfNeeded: size >> $0) }
        mended.replaceSubrange(28..<32, with: bytes)
        return count(header, mended) == 1 ? mended : header
    }

    private static func number(_ header: [UInt8], _ offset: Int) -> UInt32 {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
