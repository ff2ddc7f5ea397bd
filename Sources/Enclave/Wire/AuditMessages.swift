internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform

extension Latchkey_AuditPlace {
    init(_ place: AuditPlace) {
        self.init()
        chain = Data(place.chain)
        file = place.file
        ordinal = place.ordinal
        index = place.index
    }

    /// nil for what is no place.
    var place: AuditPlace? { AuditPlace(chain: Array(chain), file: file, ordinal: ordinal, index: index) }
}

extension Latchkey_SealedAuditBlock {
    init(_ block: SealedAuditBlock) {
        self.init()
        place = Latchkey_AuditPlace(block.place)
        box = Data(block.box)
    }

    var block: SealedAuditBlock? { place.place.map { SealedAuditBlock(place: $0, box: Array(box)) } }
}

extension Latchkey_EnclaveReply.OpenedAudit {
    init(_ opening: AuditOpening) {
        self.init()
        switch opening {
        case .locked: locked = true
        case .unknownChain: unknownChain = true
        case .blocks(let opened):
            blocks = opened.map { block in
                var out = Block()
                out.opens = block != nil
                if let block { out.content = Data(block.encoded) }
                return out
            }
        }
    }

    /// nil for what is no answer about so many blocks.
    func opening(of count: Int) -> AuditOpening? {
        if locked { return .locked }
        if unknownChain { return .unknownChain }
        guard blocks.count == count else { return nil }
        var opened: [OpenedAuditBlock?] = []
        for block in blocks {
            guard block.opens else {
                opened.append(nil)
                continue
            }
            guard let content = OpenedAuditBlock(parsing: Array(block.content)) else { return nil }
            opened.append(content)
        }
        return .blocks(opened)
    }
}

extension EnclaveSession {
    static func answerAudit(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, _ number: UInt64, _ core: inout EnclaveCore,
        at moment: Duration, wallClock: Double
    ) throws(SessionError) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        switch request {
        case .sealAudit(let seal):
            do throws(KeychainError) {
                let block = try core.sealAudit(
                    Array(seal.records), fromFile: seal.lowestFile, at: moment, wallClock: wallClock)
                if let block { reply.auditBlock = Latchkey_SealedAuditBlock(block) }
            } catch { return .done(error, to: number) }
        case .confirmAudit(let message):
            guard let block = message.block else { throw .malformed }
            do throws(KeychainError) {
                if let confirmation = try core.beginConfirming(block) {
                    return EnclaveAnswer(reply, next: .awaitDisk(confirmation))
                }
                if let head = core.auditHead { reply.auditHead = Latchkey_AuditPlace(head) }
            } catch { return .done(error, to: number) }
        case .unwritten(let unwritten):
            do throws(KeychainError) {
                if let noting = try core.beginNoting(unwritten: unwritten.count, by: unwritten.teller) {
                    return EnclaveAnswer(reply, next: .awaitDisk(noting))
                }
            } catch { return .done(error, to: number) }
        case .openAudit(let open):
            guard let first = open.first.place, open.boxes.count <= EnclaveProtocol.batch,
                first.index + UInt32(open.boxes.count) <= AuditPlace.mostBlocks
            else { throw .malformed }
            reply.auditOpened = .init(core.openAudit(open.boxes.map { Array($0) }, from: first))
        case .auditHead(let settled):
            do throws(KeychainError) {
                if let head = settled ? try core.settledAuditHead() : core.auditHead { reply.auditHead = Latchkey_AuditPlace(head) }
            } catch { return .done(error, to: number) }
        default: throw .outOfTurn
        }
        return EnclaveAnswer(reply, next: .keepConnection)
    }

    /// What became of a confirmation, once it is finished.
    static func answer(_ outcome: Result<AuditPlace, KeychainError>, to number: UInt64) -> EnclaveAnswer {
        switch outcome {
        case .success(let head):
            var reply = Latchkey_EnclaveReply()
            reply.number = number
            reply.auditHead = Latchkey_AuditPlace(head)
            return EnclaveAnswer(reply, next: .keepConnection)
        case .failure(let error): return .done(error, to: number)
        }
    }
}

extension RemoteEnclaveConnection {
    func sealAudit(_ records: [UInt8], fromFile lowest: UInt64) throws(KeychainError) -> SealedAuditBlock? {
        var request = Latchkey_EnclaveRequest.SealAudit()
        request.records = Data(records)
        request.lowestFile = lowest
        let reply = try exchange.ask(.sealAudit(request), endsOnRefusal: false)
        guard reply.header.hasAuditBlock else { return nil }
        guard let block = reply.header.auditBlock.block else { throw malformed }
        return block
    }

    func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace? {
        let request = Latchkey_EnclaveRequest.OneOf_Request.confirmAudit(Latchkey_SealedAuditBlock(block))
        return try head(
            exchange.ask(request, endsOnRefusal: false, patience: EnclaveProtocol.diskLimit).header)
    }

    func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError) {
        var unwritten = Latchkey_EnclaveRequest.Unwritten()
        unwritten.count = count
        unwritten.teller = teller
        _ = try exchange.ask(.unwritten(unwritten), endsOnRefusal: false, patience: EnclaveProtocol.diskLimit)
    }

    func auditHead(settled: Bool) throws(KeychainError) -> AuditPlace? {
        try head(exchange.ask(.auditHead(settled), endsOnRefusal: false).header)
    }

    func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) throws(KeychainError) -> AuditOpening {
        var opened: [OpenedAuditBlock?] = []
        for start in stride(from: 0, to: boxes.count, by: EnclaveProtocol.batch) {
            let part = boxes[start..<min(start + EnclaveProtocol.batch, boxes.count)]
            var request = Latchkey_EnclaveRequest.OpenAudit()
            request.first = Latchkey_AuditPlace(first.at(first.index + UInt32(start)))
            request.boxes = part.map { Data($0) }
            let reply = try exchange.ask(.openAudit(request))
            guard let opening = reply.header.auditOpened.opening(of: part.count) else { throw malformed }
            guard case .blocks(let blocks) = opening else { return opening }
            opened += blocks
        }
        return .blocks(opened)
    }

    private func head(_ header: Latchkey_EnclaveReply) throws(KeychainError) -> AuditPlace? {
        guard header.hasAuditHead else { return nil }
        guard let place = header.auditHead.place else { throw malformed }
        return place
    }

    private var malformed: KeychainError { exchange.fault("an answer of the wrong form") }
}
