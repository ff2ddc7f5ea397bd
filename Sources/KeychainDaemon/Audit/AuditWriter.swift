internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService

/// Puts records behind the record that is on the disk. One thread uses it.
///
/// A block is sealed by the enclave, written, and confirmed there, in this order: so
/// after a crash the file has what the enclave counts, and one block more at the most,
/// which is then confirmed or cut off. What was not confirmed is not counted by the
/// enclave, and its records are not lost before the process is.
struct AuditWriter {
    /// Why nothing could be recorded.
    enum Failure: Error {
        /// The disk, or what lies on it.
        case disk(SystemCallError)
        case keychain(KeychainError)
    }

    private let engine: KeychainEngine
    /// Opened anew after a failure: somebody may have moved or removed it.
    var folder: AuditFolder
    /// Where the next byte goes; nil: nobody has looked since something failed.
    private var end: (file: UInt64, length: Int)?
    /// Given to the disk, and maybe counted by the enclave.
    private var unsettled: (block: SealedAuditBlock, records: [AuditRecord])?

    /// Events of a block of which nobody knows whether it is on the disk; the next attempt
    /// finds out.
    var unsettledCount: UInt64 { unsettled?.records.reduce(0) { $0 + $1.count } ?? 0 }

    /// Records in one block.
    static let batch = 128

    init(_ engine: KeychainEngine, _ folder: AuditFolder) {
        self.engine = engine
        self.folder = folder
    }

    /// Writes records; none of them is in `records` any more that is on the disk.
    ///
    /// - Parameter saysOwn: also where there are none, for what the enclave has to say.
    mutating func write(_ records: inout [AuditRecord], saysOwn: Bool) throws(Failure) {
        if end == nil { try settle(&records) }
        var isFirst = true
        while !records.isEmpty || isFirst && saysOwn {
            isFirst = false
            let part = Array(records.prefix(Self.batch))
            guard let block = try seal(part) else { return }
            records.removeFirst(part.count)
            unsettled = (block, part)
            do throws(Failure) { try put(block) } catch {
                end = nil
                throw error
            }
            unsettled = nil
        }
    }

    private func seal(_ records: [AuditRecord]) throws(Failure) -> SealedAuditBlock? {
        let lowest = (folder.numbers.last ?? 0) + 1
        do throws(KeychainError) {
            return try engine.sealAudit(records.isEmpty ? [] : AuditRecord.encode(records), fromFile: lowest)
        } catch { throw .keychain(error) }
    }

    private mutating func put(_ block: SealedAuditBlock) throws(Failure) {
        let isSame = end?.file == block.place.file
        let start = isSame ? (end?.length ?? 0) : 0
        if start == 0 { try makeRoom(for: block.place) }
        let store = engine.storeID
        let folder = folder
        let length = try onDisk { () throws(SystemCallError) in try folder.append(block, at: start, store: store) }
        guard try confirm(block) == block.place.at(block.place.index + 1) else {
            throw .keychain(KeychainError(.notAvailable, reason: .enclaveUnreachable, underlying: "another state"))
        }
        end = (block.place.file, length)
    }

    /// Another file begins: what lies in its place is kept apart, and the oldest goes.
    private func makeRoom(for place: AuditPlace) throws(Failure) {
        let folder = folder
        try onDisk { () throws(SystemCallError) in
            if try folder.read(place.file) != nil { try folder.setAside(place.file) }
            for number in folder.numbers where number + AuditFolder.mostFiles <= place.file {
                try folder.remove(number)
            }
        }
    }

    private func confirm(_ block: SealedAuditBlock) throws(Failure) -> AuditPlace? {
        do throws(KeychainError) { return try engine.confirmAudit(block) } catch { throw .keychain(error) }
    }

    // MARK: After a failure, and at the beginning

    /// Looks where the record ends, for the enclave and on the disk, and makes the two one.
    private mutating func settle(_ records: inout [AuditRecord]) throws(Failure) {
        let pending = unsettled
        guard let head = try head() else {
            if let pending { records = pending.records + records }
            unsettled = nil
            end = (0, 0)
            return
        }
        let settled = try settle(head)
        if let pending {
            let counts = settled.isInFile(of: pending.block.place) && settled.index == pending.block.place.index + 1
            // Whoever lost the answer and not the block must not write it twice.
            if !counts { records = pending.records + records }
            unsettled = nil
        }
    }

    private func head() throws(Failure) -> AuditPlace? {
        do throws(KeychainError) { return try engine.auditHead(settled: true) } catch { throw .keychain(error) }
    }

    /// - Returns: where the next block goes.
    private mutating func settle(_ head: AuditPlace) throws(Failure) -> AuditPlace {
        // A file that was full is followed by another, which may have its first block.
        if let next = try file(head.file + 1), next.first.chain == head.chain, let block = next.blocks.first,
            next.unbroken == 1
        {
            let sealed = SealedAuditBlock(place: next.first, box: block.box)
            if let after = try confirm(sealed), after == next.first.at(1) {
                return try trim(next, to: 1, at: after)
            }
        }
        guard let file = try file(head.file) else {
            end = (0, 0)
            return head
        }
        guard file.first == head.at(0) else {
            end = (0, 0)
            return head
        }
        let count = UInt32(file.unbroken)
        if count == head.index + 1 {
            let block = SealedAuditBlock(place: head, box: file.blocks[Int(head.index)].box)
            if let after = try confirm(block), after == head.at(count) {
                return try trim(file, to: Int(count), at: after)
            }
        }
        if count > head.index + 1 { try keepApart(file) }
        return try trim(file, to: Int(min(count, head.index)), at: head)
    }

    /// The file up to a block is what goes on; what is behind it, a block that was torn
    /// or never counted, goes.
    private mutating func trim(_ file: AuditFile, to count: Int, at place: AuditPlace) throws(Failure) -> AuditPlace {
        let isShort = count < Int(place.index)
        // Lines that somebody took away stay away: the next go behind what is left.
        let length = isShort ? file.length : file.start(of: count)
        if length < file.length + file.rest {
            let folder = folder
            try onDisk { () throws(SystemCallError) in try folder.truncate(file.first.file, to: length) }
        }
        end = (file.first.file, length)
        return place
    }

    /// A file that is longer than the enclave knows is evidence: a copy of it stays.
    private func keepApart(_ file: AuditFile) throws(Failure) {
        let folder = folder
        try onDisk { () throws(SystemCallError) in try folder.copyAside(file.first.file) }
    }

    private func file(_ number: UInt64) throws(Failure) -> AuditFile? {
        let folder = folder
        let content = try onDisk { () throws(SystemCallError) in try folder.read(number) }
        if case .file(let file) = content { return file }
        return nil
    }

    private func onDisk<R>(_ body: () throws(SystemCallError) -> R) throws(Failure) -> R {
        do throws(SystemCallError) { return try body() } catch { throw .disk(error) }
    }
}
