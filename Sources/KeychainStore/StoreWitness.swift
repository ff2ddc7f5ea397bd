internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// How far a store had come when it last acknowledged a commit.
struct StoreTestimony: Sendable, Hashable {
    /// The last commit that was acknowledged.
    let position: ChangePosition
    /// Which write-ahead log holds it (``StoreLog/name(of:)``); 0: none.
    let log: UInt64

    /// "LKEYWTN1"; the history, 16 bytes; the number and the log, 8 bytes each, big-endian; the
    /// first 8 bytes of SHA-256 of all that.
    private static let magic = Array("LKEYWTN1".utf8)
    static let byteCount = 48

    init(position: ChangePosition, log: UInt64) {
        self.position = position
        self.log = log
    }

    var encoded: [UInt8] {
        var bytes = Self.magic + position.history
        for number in [UInt64(bitPattern: position.number), log] {
            bytes += stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return bytes + KeyDerivation.digest(bytes)[..<8]
    }

    /// nil for anything but an ``encoded`` one.
    init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let start = Self.magic.count + ChangePosition.historySize
        func number(_ index: Int) -> UInt64 { bytes[(start + 8 * index)...].prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
        let last = Int64(bitPattern: number(0))
        guard last >= 0 else { return nil }
        self.init(
            position: ChangePosition(history: Array(bytes[Self.magic.count..<start]), number: last), log: number(1))
        guard encoded == bytes else { return nil }
    }
}

/// What the witness of a database said that was set aside as malformed since.
package struct SetAsideTestimony: Sendable, Hashable {
    private let testimony: StoreTestimony

    init(_ testimony: StoreTestimony) { self.testimony = testimony }

    /// The name of its log of changes.
    package var history: [UInt8] { testimony.position.history }

    /// What is missing from what of it can be read, as ``StoreRecord/behind`` says it.
    ///
    /// - Parameter last: the last commit that can be seen in it; nil: none can.
    /// - Returns: nil where nothing is known to be missing.
    package func shortfall(of last: Int64?) -> [UInt8]? {
        // A database that was closed had everything in its own file.
        guard let last else { return testimony.log == 0 ? nil : StoreRecord.bytes(of: 0) }
        return last < testimony.position.number ? StoreRecord.bytes(of: Double(last)) : nil
    }
}

/// Says, in a file beside the database, what was acknowledged last (FORMATS.md, "The witness").
///
/// SQLite takes a log that was cut for one whose last writes were under way, and a log from
/// before, or of another database, for the one that belongs beside it: what is missing then
/// would be "not found".
///
/// It speaks of accidents, not of attacks: whoever may write the database may write the
/// witness, and an older copy of the whole folder has the witness of its time. It is written
/// behind each commit and not flushed, but where it goes down: a process that is killed leaves
/// it exact, a loss of power may leave it behind, never ahead. Where it is missing, damaged or of
/// another history nothing is concluded. Nothing in it is secret.
final class StoreWitness: Sendable {
    static let fileName = Store.fileName + ".witness"

    private struct Stand: Sendable {
        let file: Descriptor
        let folder: PrivateDirectory
        var testimony: StoreTestimony
    }

    /// None until the store is known to be whose it seems to be.
    private let stand = Mutex<Stand?>(nil)

    /// What the witness of a folder says; nil where there is none that can be believed.
    ///
    /// - Parameter file: its name there; another one where it was set aside.
    static func testimony(in directory: PrivateDirectory, named file: String = fileName) -> StoreTestimony? {
        do throws(SystemCallError) {
            let bytes = try directory.read(file, atMost: StoreTestimony.byteCount + 1)
            return bytes.flatMap { StoreTestimony(encoded: $0) }
        } catch { return nil }
    }

    /// From here on it speaks of the store as it was opened. One that cannot be written is
    /// removed, and the store serves without: what nobody goes on with is believed by nobody.
    ///
    /// - Parameter durably: the former one said more; what comes next is measured by this one.
    /// - Throws: what kept the file from being written and from being removed.
    func takeUp(
        _ position: ChangePosition, durably: Bool, in directory: PrivateDirectory
    ) throws(SystemCallError) {
        do throws(SystemCallError) { try open(position, durably, directory) } catch {
            try directory.remove(Self.fileName)
            try directory.synchronize()
        }
    }

    private func open(
        _ position: ChangePosition, _ durably: Bool, _ directory: PrivateDirectory
    ) throws(SystemCallError) {
        let file = try directory.openFile(Self.fileName, creating: true)
        try file.cut(to: StoreTestimony.byteCount)
        let log = try StoreLog.open(in: directory)
        let name = try log.map { log throws(SystemCallError) in try StoreLog.name(of: log) }
        let testimony = StoreTestimony(position: position, log: name ?? 0)
        try file.writeAtStart(testimony.encoded)
        if durably { try file.flush() }
        stand.withLock { $0 = Stand(file: file, folder: directory, testimony: testimony) }
    }

    /// Hears of a commit. A full disk or one that fails keeps the former testimony, which claims
    /// less.
    ///
    /// - Parameter log: the name of the log that holds it.
    func hear(of number: Int64, in log: UInt64) {
        stand.withLock { stand in
            guard let last = stand?.testimony, let file = stand?.file else { return }
            let testimony = StoreTestimony(
                position: ChangePosition(history: last.position.history, number: number), log: log)
            do throws(SystemCallError) { try file.writeAtStart(testimony.encoded) } catch { return }
            stand?.testimony = testimony
        }
    }

    /// Every connection is closed, and the log, where it is gone, is in the database.
    func hearOfTheEnd() {
        stand.withLock { stand in
            guard let last = stand else { return }
            let testimony = StoreTestimony(position: last.testimony.position, log: 0)
            do throws(SystemCallError) {
                guard try !last.folder.holds(StoreLog.name) else { return }
                stand = nil
                try last.file.writeAtStart(testimony.encoded)
            } catch { return }
        }
    }
}
