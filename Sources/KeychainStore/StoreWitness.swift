internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// How far a store had come when it last acknowledged a change.
struct StoreTestimony: Sendable, Hashable {
    /// The last change that was acknowledged.
    let position: ChangePosition
    /// Which write-ahead log holds it (``StoreLog/name(of:)``); 0: none.
    let log: UInt64
    /// A change that the database itself has come to by now: one that has not is older, and of
    /// the log beside such a one nothing is concluded.
    let base: Int64

    /// "LKEYWTN1"; the history, 16 bytes; the number, the log and the base, 8 bytes each,
    /// big-endian; the first 8 bytes of SHA-256 of all that.
    private static let magic = Array("LKEYWTN1".utf8)
    static let byteCount = 56

    init(position: ChangePosition, log: UInt64, base: Int64) {
        self.position = position
        self.log = log
        self.base = base
    }

    var encoded: [UInt8] {
        var bytes = Self.magic + position.history
        for number in [UInt64(bitPattern: position.number), log, UInt64(bitPattern: base)] {
            bytes += stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return bytes + KeyDerivation.digest(bytes)[..<8]
    }

    /// nil for anything but an ``encoded`` one.
    init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let start = Self.magic.count + ChangePosition.historySize
        func number(_ index: Int) -> UInt64 { bytes[(start + 8 * index)...].prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
        let (last, base) = (Int64(bitPattern: number(0)), Int64(bitPattern: number(2)))
        guard last >= 0, base >= 0 else { return nil }
        self.init(
            position: ChangePosition(history: Array(bytes[Self.magic.count..<start]), number: last), log: number(1),
            base: base)
        guard encoded == bytes else { return nil }
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
/// behind each commit and not flushed: a process that is killed leaves it exact, a loss of
/// power may leave it behind, never ahead. Where it is missing, damaged or of another history
/// nothing is concluded. Nothing in it is secret.
final class StoreWitness: Sendable {
    static let fileName = Store.fileName + ".witness"

    private struct Stand: Sendable {
        let file: Descriptor
        let folder: PrivateDirectory
        /// Opened once there is one.
        var log: Descriptor?
        var testimony: StoreTestimony
    }

    /// None until the store is known to be whose it seems to be.
    private let stand = Mutex<Stand?>(nil)

    /// What the witness of a folder says; nil where there is none that can be believed.
    static func testimony(in directory: PrivateDirectory) -> StoreTestimony? {
        do throws(SystemCallError) {
            let bytes = try directory.read(fileName, atMost: StoreTestimony.byteCount + 1)
            return bytes.flatMap { StoreTestimony(encoded: $0) }
        } catch { return nil }
    }

    /// From here on it speaks of the store as it was opened. Where the file cannot be opened
    /// the store serves without it.
    func takeUp(_ position: ChangePosition, after former: StoreTestimony?, in directory: PrivateDirectory) {
        do throws(SystemCallError) {
            let file = try directory.openFile(Self.fileName, creating: true)
            try file.cut(to: StoreTestimony.byteCount)
            let log = StoreLog.open(in: directory)
            let name = log.map { StoreLog.name(of: $0) } ?? 0
            let knownBase = former.flatMap { $0.position.history == position.history && $0.log == name ? $0.base : nil }
            let testimony = StoreTestimony(position: position, log: name, base: knownBase ?? position.number)
            stand.withLock { $0 = Stand(file: file, folder: directory, log: log, testimony: testimony) }
            try file.writeAtStart(testimony.encoded)
        } catch { return }
    }

    /// Hears of a commit: the number of its last change, nil where it changed no item. A full
    /// disk or one that fails keeps the former testimony, which claims less.
    func hear(of number: Int64?) {
        stand.withLock { stand in
            guard let last = stand?.testimony, let folder = stand?.folder, let file = stand?.file else { return }
            if stand?.log == nil { stand?.log = StoreLog.open(in: folder) }
            let log = stand?.log.map { StoreLog.name(of: $0) } ?? 0
            // A log begins anew once all of it has gone into the database.
            let testimony = StoreTestimony(
                position: ChangePosition(history: last.position.history, number: number ?? last.position.number),
                log: log, base: log == last.log ? last.base : last.position.number)
            guard testimony != last else { return }
            stand?.testimony = testimony
            do throws(SystemCallError) { try file.writeAtStart(testimony.encoded) } catch { return }
        }
    }
}
