internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService

/// Reads a part of the audit record and says what of it is not as it was written.
///
/// Each block is sealed for its place, each file says how many blocks the one before
/// it has, and the enclave knows where the record ends: so a line that was taken
/// away, changed or cut off shows, but for the last block before it was confirmed.
struct AuditReader {
    private let engine: KeychainEngine
    private let folder: AuditFolder

    /// Sealed bytes, and blocks, of one page; a page has blocks of one file.
    private static let pageBytes = 512 << 10
    private static let pageBlocks = 256

    init(_ engine: KeychainEngine, _ folder: AuditFolder) {
        self.engine = engine
        self.folder = folder
    }

    /// - Throws: `errSecInteractionNotAllowed` while the keychain is locked.
    func page(_ query: AuditQuery) throws(KeychainError) -> AuditPage {
        let head = try engine.auditHead(settled: false)
        let numbers = folder.numbers
        let from = query.from ?? AuditCursor(file: Self.oldest(head, numbers), block: 0)
        var page = AuditPage(next: from)
        if query.wantsNames { page.names = try engine.auditNames() }
        if query.from == nil, head == nil, let last = numbers.last {
            page.findings.append(AuditFinding(.headMissing, file: last))
        }
        guard let last = Self.newest(head, numbers), from.file <= last else {
            page.isAtEnd = true
            return page
        }
        var part = Part(from: from, before: head, isLast: from.file == last, filter: AuditFilter(query, engine))
        switch try content(of: from.file) {
        case nil: part.end(with: AuditFinding(.fileMissing, file: from.file), &page)
        case .foreign: part.end(with: AuditFinding(.fileDamaged, file: from.file), &page)
        case .file(let file) where file.first.file != from.file || file.store != engine.storeID:
            part.end(with: AuditFinding(.fileDamaged, file: from.file), &page)
        case .file(let file): try read(file, &part, &page)
        }
        return page
    }

    /// The number of the oldest file that there should be.
    private static func oldest(_ head: AuditPlace?, _ numbers: [UInt64]) -> UInt64 {
        let kept = head.map { $0.file > AuditFolder.mostFiles ? $0.file - AuditFolder.mostFiles + 1 : 1 }
        return [kept, numbers.first].compactMap { $0 }.min() ?? 1
    }

    /// The number of the newest file that there is, or should be.
    private static func newest(_ head: AuditPlace?, _ numbers: [UInt64]) -> UInt64? {
        guard let head else { return numbers.last }
        // Of a file that begins nothing is written before its first block.
        let written = head.index > 0 ? head.file : head.file - 1
        let newest = max(written, numbers.last ?? 0)
        return newest > 0 ? newest : nil
    }

    /// What is read of one file, for one page.
    private struct Part {
        let from: AuditCursor
        /// Where the record ended before the file was read.
        let before: AuditPlace?
        /// Whether no file follows.
        let isLast: Bool
        let filter: AuditFilter

        /// The file says no more.
        func end(with finding: AuditFinding?, at block: UInt32 = 0, _ page: inout AuditPage) {
            if let finding { page.findings.append(finding) }
            page.isAtEnd = isLast
            page.next =
                isLast ? AuditCursor(file: from.file, block: block) : AuditCursor(file: from.file + 1, block: 0)
        }
    }

    private func content(of number: UInt64) throws(KeychainError) -> AuditFolder.Content? {
        do throws(SystemCallError) { return try folder.read(number) } catch { throw KeychainError(auditFiles: error) }
    }

    private func read(_ file: AuditFile, _ part: inout Part, _ page: inout AuditPage) throws(KeychainError) {
        let after = try engine.auditHead(settled: false)
        var expected = part.from.block
        var run: [AuditFile.Block] = []
        var bytes = 0
        for block in file.blocks where block.index >= part.from.block {
            if block.index != expected {
                guard try take(run, of: file, part, &page) else { return part.end(with: nil, &page) }
                run = []
                let isBehind = block.index < expected
                page.findings.append(
                    AuditFinding(
                        isBehind ? .linesChanged : .linesMissing, file: file.first.file,
                        block: isBehind ? block.index : expected))
                if isBehind { continue }
            }
            expected = block.index + 1
            run.append(block)
            bytes += block.box.count
            guard run.count < Self.pageBlocks, bytes < Self.pageBytes else { break }
        }
        guard try take(run, of: file, part, &page) else { return part.end(with: nil, &page) }
        guard expected >= file.count else {
            page.next = AuditCursor(file: file.first.file, block: expected)
            return
        }
        checkEnd(of: file, part, after, &page)
        part.end(with: nil, at: max(expected, file.count), &page)
    }

    /// - Returns: false where nothing of the file can be read.
    private func take(
        _ run: [AuditFile.Block], of file: AuditFile, _ part: Part, _ page: inout AuditPage
    ) throws(KeychainError) -> Bool {
        guard let first = run.first else { return true }
        let opened: [OpenedAuditBlock?]
        switch try engine.openAudit(run.map(\.box), from: file.first.at(first.index)) {
        case .blocks(let blocks): opened = blocks
        case .locked:
            throw KeychainError(
                .interactionNotAllowed, reason: .locked(class: ProtectionClass.whenUnlocked.rawValue))
        case .unknownChain:
            page.findings.append(AuditFinding(.keysForgotten, file: file.first.file))
            return false
        }
        for (block, content) in zip(run, opened) {
            guard let content, let records = AuditRecord.decode(content.records) else {
                page.findings.append(AuditFinding(.linesChanged, file: file.first.file, block: block.index))
                continue
            }
            if block.index == 0 { try checkFile(before: file, has: content.previousCount, &page) }
            page.blocks += 1
            page.records += (records + content.ownRecords(after: records)).filter(part.filter.passes)
        }
        return true
    }

    // MARK: What has to be there

    /// A file knows how many blocks the one before it has; one more was not confirmed.
    private func checkFile(
        before file: AuditFile, has expected: UInt32, _ page: inout AuditPage
    ) throws(KeychainError) {
        guard file.first.file > 1, case .file(let former) = try content(of: file.first.file - 1) else { return }
        if former.count < expected {
            page.findings.append(AuditFinding(.linesCut, file: former.first.file, block: former.count))
        }
        if former.count > expected + 1 {
            page.findings.append(AuditFinding(.tooLong, file: former.first.file, block: expected + 1))
        }
    }

    private func checkEnd(of file: AuditFile, _ part: Part, _ after: AuditPlace?, _ page: inout AuditPage) {
        let number = file.first.file
        if let before = part.before, before.file == number, file.count < before.index {
            page.findings.append(AuditFinding(.linesCut, file: number, block: file.count))
        }
        if let after {
            // The block that was not confirmed yet may be the first of the next file.
            let known = after.file == number ? after.index : after.file < number ? 0 : nil
            if let known, file.count > known + 1 || number > after.file + 1 {
                page.findings.append(AuditFinding(.tooLong, file: number, block: known + 1))
            }
        }
        if file.rest > 0, !part.isLast {
            page.findings.append(AuditFinding(.linesChanged, file: number, block: file.count))
        }
    }
}

/// Which lines are asked for.
struct AuditFilter: Sendable {
    private enum Wanted: Sendable {
        case all
        case names(Set<[UInt8]>)
        case items(Set<[UInt8]>)
    }

    private let wanted: Wanted

    init(_ query: AuditQuery, _ engine: KeychainEngine) {
        guard let name = query.name else {
            wanted = .all
            return
        }
        let digests = ItemClass.stored.map { engine.auditDigest($0, name: name, account: query.account) }
        wanted = query.account == nil ? .names(Set(digests)) : .items(Set(digests))
    }

    func passes(_ record: AuditRecord) -> Bool {
        switch wanted {
        case .all: true
        case .names(let digests): digests.contains(record.name)
        case .items(let digests): digests.contains(record.item)
        }
    }
}

extension OpenedAuditBlock {
    /// What the enclave says by itself, as lines.
    ///
    /// - Parameter records: of the daemon, in the same block.
    fileprivate func ownRecords(after records: [AuditRecord]) -> [AuditRecord] {
        var own = events.map { event in
            AuditRecord(
                AuditRecord.Event(number: AuditRecord.Event.firstOfEnclave + event.kind.rawValue), at: event.time)
        }
        let time = (records.map(\.last) + events.map(\.time)).max() ?? 0
        if rowKeys > 0 {
            var keys = AuditRecord(.keysOpened, at: time)
            keys.count = rowKeys
            own.append(keys)
        }
        if droppedEvents > 0 {
            var gap = AuditRecord(.gap, at: time)
            gap.count = droppedEvents
            own.append(gap)
        }
        for index in own.indices { own[index].voucher = .enclave }
        return own
    }
}

extension KeychainError {
    fileprivate init(auditFiles error: SystemCallError) {
        self.init(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
    }
}
