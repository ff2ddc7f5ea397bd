internal import KeychainModel
internal import KeychainPlatform
internal import KeychainService

/// What is to be recorded and is not on the disk yet: what repeats is one line with a
/// count, and of more than there is place for the number alone is kept.
struct AuditBuffer: Sendable {
    /// Lines that wait at the most.
    static let most = 16_384
    /// From so many on nobody waits for the second to be over.
    static let urgent = 4096

    private struct ReadKey: Hashable {
        let program: String
        let served: ServedProgram?
        let inPersonsName: Bool
        let itemClass: ItemClass
        let low: UInt64
        let high: UInt64
    }

    fileprivate struct Read {
        let item: ReleasedItem
        let party: AuditParty
        let inPersonsName: Bool
        let first: Double
        var last: Double
        var count: UInt64
    }

    private struct Times {
        let first: Double
        var last: Double
        var count: UInt64
        let process: Int32
        let servedProcess: Int32

        /// Counts nothing yet.
        init(of record: AuditRecord) {
            (first, last, count) = (record.first, record.last, 0)
            (process, servedProcess) = (record.process, record.served?.process ?? 0)
        }

        mutating func add(_ record: AuditRecord) {
            last = record.last
            count += record.count
        }
    }

    private var reads: [ReadKey: Read] = [:]
    /// What else there is, by its line without times, count and processes.
    private var others: [AuditRecord: Times] = [:]
    /// Lines that could not be written the last time.
    private var returned: [AuditRecord] = []
    private var dropped: UInt64 = 0
    private var droppedFirst: Double = 0

    var isEmpty: Bool { reads.isEmpty && others.isEmpty && returned.isEmpty && dropped == 0 }
    var lineCount: Int { reads.count + others.count + returned.count }
    /// All that happened, each once, with a line or without.
    var eventCount: UInt64 {
        reads.values.reduce(0) { $0 + $1.count } + others.values.reduce(0) { $0 + $1.count }
            + returned.reduce(0) { $0 + $1.count } + dropped
    }
    private var isFull: Bool { lineCount >= Self.most }

    mutating func note(_ item: ReleasedItem, to party: AuditParty, inPersonsName: Bool, at moment: Double) {
        let (low, high) = Self.halves(item.reference)
        let key = ReadKey(
            program: party.program, served: party.served?.ofAnyProcess, inPersonsName: inPersonsName,
            itemClass: item.itemClass, low: low, high: high)
        if let index = reads.index(forKey: key) {
            reads.values[index].last = moment
            reads.values[index].count += 1
            return
        }
        guard !isFull else { return drop(1, at: moment) }
        reads[key] = Read(
            item: item, party: party, inPersonsName: inPersonsName, first: moment, last: moment, count: 1)
    }

    mutating func note(_ record: AuditRecord) {
        var key = record
        (key.first, key.last, key.count, key.process) = (0, 0, 1, 0)
        key.served = record.served?.ofAnyProcess
        // Looked up once: the line's whole text makes its place.
        if isFull, others[key] == nil { return drop(record.count, at: record.first) }
        others[key, default: Times(of: record)].add(record)
    }

    private mutating func drop(_ count: UInt64, at moment: Double) {
        if dropped == 0 { droppedFirst = moment }
        dropped += count
    }

    /// Everything that waits, by time, and how much had no place.
    ///
    /// - Parameter digest: of an item's class, name and account; without the account of
    ///   the first two.
    mutating func take(
        at moment: Double, digest: (ItemClass, _ name: String, _ account: String?) -> [UInt8]
    ) -> [AuditRecord] {
        var lines = returned
        lines += reads.values.map { $0.record(digest) }
        for (key, times) in others {
            var line = key
            (line.first, line.last, line.count, line.process) = (times.first, times.last, times.count, times.process)
            line.served = key.served.map {
                ServedProgram(path: $0.path, process: times.servedProcess, evidence: $0.evidence)
            }
            lines.append(line)
        }
        lines.sort { $0.first < $1.first }
        if dropped > 0 {
            var gap = AuditRecord(.gap, at: droppedFirst)
            gap.last = moment
            gap.count = dropped
            lines.append(gap)
        }
        self = AuditBuffer()
        return lines
    }

    /// Lines that could not be written wait again, before all others.
    mutating func giveBack(_ lines: [AuditRecord]) {
        let room = max(0, Self.most - lineCount)
        for line in lines.dropFirst(room) { drop(line.count, at: line.first) }
        returned = Array(lines.prefix(room)) + returned
    }

    private static func halves(_ bytes: [UInt8]) -> (UInt64, UInt64) {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.prefix(16).enumerated() {
            if index < 8 { low = low << 8 | UInt64(byte) } else { high = high << 8 | UInt64(byte) }
        }
        return (low, high)
    }
}

extension AuditBuffer.Read {
    fileprivate func record(_ digest: (ItemClass, String, String?) -> [UInt8]) -> AuditRecord {
        var record = AuditRecord(.read, at: first)
        record.last = last
        record.count = count
        record.take(party)
        record.inPersonsName = inPersonsName
        record.itemClass = item.itemClass
        record.protection = ProtectionClass(rawValue: item.protection)
        record.group = item.attributes[.accessGroup]?.string
        let name = item.attributes[AuditNames.nameCode(of: item.itemClass)]?.string ?? ""
        record.name = digest(item.itemClass, name, nil)
        record.item = digest(item.itemClass, name, item.attributes[.account]?.string ?? "")
        return record
    }
}

extension AuditRecord {
    /// Who it was.
    mutating func take(_ party: AuditParty) {
        program = party.program
        process = party.process
        strength = party.strength
        isContained = party.isContained
        served = party.served
    }
}
