internal import FoundationEssentials
internal import KeychainMessages
package import KeychainModel
internal import KeychainPlatform

extension AuditRecord {
    /// What the daemon has sealed together.
    package static func encode(_ records: [AuditRecord]) -> [UInt8] {
        var writer = FieldWriter(capacity: records.count * 192)
        for record in records { writer.message(1) { $0.auditRecord(record) } }
        return writer.bytes
    }

    /// nil for bytes that no daemon of ours gave.
    package static func decode(_ bytes: [UInt8]) -> [AuditRecord]? {
        do throws(WireFault) {
            let message: Latchkey_AuditRecords = try decodeMessage(bytes)
            return message.records.map { AuditRecord($0) }
        } catch { return nil }
    }
}

extension FieldWriter {
    /// Of each value that is read there is one.
    fileprivate mutating func auditRecord(_ record: AuditRecord) {
        number(1, UInt64(record.event.number))
        double(2, record.first)
        if record.last != record.first { double(3, record.last) }
        if record.count != 1 { number(4, record.count) }
        text(5, record.program)
        signed(6, Int64(record.process))
        number(7, UInt64(record.strength.rawValue))
        number(8, record.isContained ? 1 : 0)
        number(9, record.inPersonsName ? 1 : 0)
        text(10, record.itemClass?.rawValue ?? "")
        text(11, record.protection?.rawValue ?? "")
        text(12, record.group ?? "")
        bytes(13, record.item)
        bytes(14, record.name)
        if let refusal = record.refusal {
            signed(15, Int64(refusal.status.rawValue))
            let (code, arguments) = refusal.reason.wireForm
            number(16, UInt64(code))
            for argument in arguments { presentText(17, argument) }
        }
        if let served = record.served {
            text(18, served.path)
            signed(19, Int64(served.process))
            number(20, UInt64(served.evidence.rawValue))
        }
    }
}

extension Latchkey_AuditRecord {
    init(_ record: AuditRecord) {
        self.init()
        event = record.event.number
        first = record.first
        if record.last != record.first { last = record.last }
        if record.count != 1 { count = record.count }
        program = record.program
        process = record.process
        strength = UInt32(record.strength.rawValue)
        contained = record.isContained
        if let served = record.served {
            (servedPath, servedProcess, servedEvidence) = (served.path, served.process, served.evidence.rawValue)
        }
        inPersonsName = record.inPersonsName
        itemClass = record.itemClass?.rawValue ?? ""
        protection = record.protection?.rawValue ?? ""
        group = record.group ?? ""
        item = Data(record.item)
        name = Data(record.name)
        guard let refusal = record.refusal else { return }
        status = refusal.status.rawValue
        let (code, arguments) = refusal.reason.wireForm
        reason = UInt32(code)
        self.arguments = arguments
    }
}

extension AuditRecord {
    /// Whatever says nothing to this version is left out: a line is shown all the same.
    init(_ message: Latchkey_AuditRecord) {
        self.init(Event(number: message.event), at: message.first)
        last = message.last == 0 ? message.first : message.last
        count = message.count == 0 ? 1 : message.count
        program = message.program
        process = message.process
        strength = IdentityStrength(rawValue: Int(message.strength)) ?? .none
        isContained = message.contained
        if !message.servedPath.isEmpty || message.servedProcess != 0 || message.servedEvidence != 0 {
            served = ServedProgram(
                path: message.servedPath, process: message.servedProcess,
                evidence: ServedProgram.Evidence(number: message.servedEvidence))
        }
        inPersonsName = message.inPersonsName
        itemClass = ItemClass(rawValue: message.itemClass)
        protection = ProtectionClass(rawValue: message.protection)
        group = message.group.isEmpty ? nil : message.group
        item = message.item.count == Self.digestByteCount ? Array(message.item) : []
        name = message.name.count == Self.digestByteCount ? Array(message.name) : []
        guard message.status != 0 else { return }
        refusal = Refusal(
            status: Status(rawValue: message.status),
            reason: Reason(code: Int(message.reason), arguments: message.arguments))
    }
}

extension Latchkey_AuditCursor {
    init(_ cursor: AuditCursor) {
        self.init()
        file = cursor.file
        block = cursor.block
    }

    var cursor: AuditCursor { AuditCursor(file: file, block: block) }
}

extension Latchkey_AuditQuery {
    init(_ query: AuditQuery) {
        self.init()
        if let from = query.from { self.from = Latchkey_AuditCursor(from) }
        if let name = query.name { self.name = name }
        if let account = query.account { self.account = account }
        wantsNames = query.wantsNames
        asksNobody = query.asksNobody
    }

    var query: AuditQuery {
        var query = AuditQuery()
        query.from = hasFrom ? from.cursor : nil
        query.name = hasName ? name : nil
        query.account = hasAccount ? account : nil
        query.wantsNames = wantsNames
        query.asksNobody = asksNobody
        return query
    }
}

extension Latchkey_AuditPage {
    init(_ page: AuditPage) {
        self.init()
        lines = page.records.map { record in
            var line = Line()
            line.record = Latchkey_AuditRecord(record)
            line.byEnclave = record.voucher == .enclave
            return line
        }
        findings = page.findings.map { finding in
            var out = Finding()
            out.kind = finding.kind.rawValue
            out.file = finding.file
            out.block = finding.block
            return out
        }
        names = page.names.map { name in
            var out = Name()
            out.digest = Data(name.digest)
            out.itemClass = name.names.itemClass.rawValue
            out.name = name.names.name
            out.account = name.names.account
            out.group = name.group
            return out
        }
        next = Latchkey_AuditCursor(page.next)
        atEnd = page.isAtEnd
        blocks = page.blocks
        if let waiting = page.unwritten {
            unwritten.count = waiting.count
            unwritten.since = waiting.since
        }
    }

    func page() throws(WireFault) -> AuditPage {
        var page = AuditPage(next: next.cursor)
        page.records = lines.map { line in
            var record = AuditRecord(line.record)
            record.voucher = line.byEnclave ? .enclave : .daemon
            return record
        }
        page.findings = findings.map {
            AuditFinding(AuditFinding.Kind(rawValue: $0.kind) ?? .unknown, file: $0.file, block: $0.block)
        }
        for name in names {
            guard let itemClass = ItemClass(rawValue: name.itemClass) else { throw WireFault() }
            page.names.append(
                AuditPage.Name(
                    digest: Array(name.digest),
                    names: AuditNames(itemClass: itemClass, name: name.name, account: name.account),
                    group: name.group))
        }
        page.isAtEnd = atEnd
        page.blocks = blocks
        if hasUnwritten { page.unwritten = AuditPage.Unwritten(count: unwritten.count, since: unwritten.since) }
        return page
    }
}

extension AuditPage {
    /// The one that follows, of the same answer.
    mutating func append(_ other: AuditPage) {
        records += other.records
        findings += other.findings
        names += other.names
        blocks += other.blocks
        (next, isAtEnd, unwritten) = (other.next, other.isAtEnd, other.unwritten)
    }
}

extension EncodedMessage {
    package static func audit(_ page: AuditPage, number: UInt64, more: Bool) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.more = more
        message.audit = Latchkey_AuditPage(page)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }
}
