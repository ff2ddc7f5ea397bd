internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform

/// What a request's header says (Protos/latchkey_wire.proto, WireRequest).
struct RequestFields {
    var number: UInt64 = 0
    var operation: KeychainRequest.Operation
    var query = QueryDictionary()
    var changes = QueryDictionary()
    var items: [ItemFields] = []
    var searches: [ItemSearch] = []
    var isInContext = false
    var behalf = KeychainRequest.Behalf.program
    var served: ServedProgram?

    /// By the general decoder, which reads every request.
    init(_ message: Latchkey_WireRequest) throws(WireFault) {
        switch message.operation {
        case .add: operation = .add
        case .copy: operation = .copy
        case .update: operation = .update
        case .delete: operation = .delete
        case .status: operation = .status
        case .census: operation = .census
        case .doctor: operation = .doctor(try message.doctorTask.task())
        case .deleteGroups: operation = .deleteGroups(message.groups)
        case .changes: operation = try message.changeQuery.operation()
        case .addItems: operation = .addItems
        case .device: operation = .device
        case .awaitDevice: operation = .awaitDevice(after: message.device)
        case .means: operation = .means
        case .evaluate: operation = .evaluate(try AuthenticationDemand(message.demand))
        case .applicationPassword: operation = .setApplicationPassword
        case .audit: operation = .audit(message.audit.query)
        case .copyEach: operation = .copyEach([])
        case .searchEach: operation = .searchEach([])
        case .unspecified, .UNRECOGNIZED: throw WireFault()
        }
        number = message.number
        isInContext = message.inContext
        behalf = try Self.behalf(message.behalf, of: operation)
        if message.hasServed { served = message.served.served }
        for search in message.searches { searches.append(try search.search()) }
        query = try QueryDictionary(wire: message.query)
        changes = try QueryDictionary(wire: message.changes)
        for item in message.items {
            items.append(
                ItemFields(
                    query: try QueryDictionary(wire: item.query), valueLength: item.valueLength,
                    created: item.hasCreated ? item.created : nil, modified: item.hasModified ? item.modified : nil))
        }
    }

    /// - Throws: for a name that this program does not know, and for a call that
    ///   nobody makes in another's.
    private static func behalf(
        _ message: Latchkey_Behalf, of operation: KeychainRequest.Operation
    ) throws(WireFault) -> KeychainRequest.Behalf {
        switch (message, operation) {
        case (.program, _): .program
        case (.person, .add), (.person, .copy), (.person, .update), (.person, .delete),
            (.person, .audit):
            .person
        default: throw WireFault()
        }
    }

    /// The calls of programs with plain values, without the general decoder;
    /// nil for whatever else there is, which is the general decoder's to judge.
    init?(plain header: [UInt8]) {
        operation = .status
        var calls = false
        var reader = FieldReader(header[...])
        query.entries.reserveCapacity(8)
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let value = reader.varint() else { return nil }
                number = value
            case FieldType.varint.tag(2):
                guard let call = reader.varint().flatMap(Self.call) else { return nil }
                operation = call
                calls = true
            case FieldType.bytes.tag(3):
                guard Self.take(reader.bytes(), into: &query) else { return nil }
            case FieldType.bytes.tag(4):
                guard Self.take(reader.bytes(), into: &changes) else { return nil }
            case FieldType.bytes.tag(8):
                guard let message = reader.bytes(), let item = Self.item(message) else { return nil }
                items.append(item)
            case FieldType.bytes.tag(14):
                guard served == nil, let message = reader.bytes(), let program = Self.served(message) else {
                    return nil
                }
                served = program
            case FieldType.bytes.tag(15):
                guard let message = reader.bytes(), let search = ItemSearch(plain: message) else { return nil }
                searches.append(search)
            default: return nil
            }
        }
        guard calls else { return nil }
    }

    private static func call(_ number: UInt64) -> KeychainRequest.Operation? {
        switch number {
        case 1: .add
        case 2: .copy
        case 3: .update
        case 4: .delete
        case 10: .addItems
        case 17: .copyEach([])
        case 18: .searchEach([])
        default: nil
        }
    }

    private static func served(_ message: ArraySlice<UInt8>) -> ServedProgram? {
        var reader = FieldReader(message)
        var (path, process, evidence) = ("", Int64(0), UInt64(0))
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let text = reader.text() else { return nil }
                path = text
            case FieldType.varint.tag(2):
                guard let number = reader.signed() else { return nil }
                process = number
            case FieldType.varint.tag(3):
                guard let number = reader.varint() else { return nil }
                evidence = number
            default: return nil
            }
        }
        let known = ServedProgram.Evidence(number: UInt32(truncatingIfNeeded: evidence))
        return Int32(exactly: process).map { ServedProgram(path: path, process: $0, evidence: known) }
    }

    private static func item(_ message: ArraySlice<UInt8>) -> ItemFields? {
        var reader = FieldReader(message)
        var item = ItemFields()
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard take(reader.bytes(), into: &item.query) else { return nil }
            case FieldType.varint.tag(2):
                guard let length = reader.varint() else { return nil }
                item.valueLength = length
            case FieldType.fixed64.tag(3):
                guard let seconds = reader.double() else { return nil }
                item.created = seconds
            case FieldType.fixed64.tag(4):
                guard let seconds = reader.double() else { return nil }
                item.modified = seconds
            default: return nil
            }
        }
        return item
    }

    private static func take(_ entry: ArraySlice<UInt8>?, into dictionary: inout QueryDictionary) -> Bool {
        guard let entry else { return false }
        var reader = FieldReader(entry)
        var key = ""
        var value: RawValue?
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let text = reader.text() else { return false }
                key = text
            case FieldType.bytes.tag(3):
                // A second message under one number is merged with the first.
                guard value == nil, let message = reader.bytes(), let plain = Self.value(message) else { return false }
                value = plain
            default: return false
            }
        }
        guard let value else { return false }
        dictionary.append(.text(key), value)
        return true
    }

    /// A value of one field; more in one, lists and access control are left to the
    /// general decoder.
    private static func value(_ message: ArraySlice<UInt8>) -> RawValue? {
        var reader = FieldReader(message)
        let value: RawValue?
        switch reader.varint() {
        case FieldType.bytes.tag(1): value = reader.text().map { .string($0) }
        case FieldType.bytes.tag(2): value = reader.bytes().map { .data(Array($0)) }
        case FieldType.varint.tag(3): value = reader.signed().map { .integer($0) }
        case FieldType.fixed64.tag(4): value = reader.double().map { .real($0) }
        case FieldType.varint.tag(5): value = reader.varint().map { .bool($0 != 0) }
        case FieldType.fixed64.tag(6): value = reader.double().map { .date($0) }
        case FieldType.varint.tag(8): value = reader.varint().map { _ in .null }
        case FieldType.varint.tag(12): value = reader.varint().map { _ in .secret }
        default: value = nil
        }
        return reader.isAtEnd ? value : nil
    }
}

extension ItemSearch {
    /// Without the general decoder; nil for what no version of ours writes.
    init?(plain message: ArraySlice<UInt8>) {
        var reader = FieldReader(message)
        var (itemClass, group, reference, extent, excludesLookups) = ("", "", [UInt8](), UInt64(0), false)
        var attributes = AttributeMap()
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let text = reader.text() else { return nil }
                itemClass = text
            case FieldType.bytes.tag(2):
                guard let text = reader.text() else { return nil }
                group = text
            case FieldType.bytes.tag(3):
                // Whoever sends many is refused before they are compared with each other.
                guard let (code, value) = reader.attribute(), Self.findable.contains(code), attributes[code] == nil
                else { return nil }
                attributes.append(code, value)
            case FieldType.bytes.tag(4):
                guard let bytes = reader.bytes() else { return nil }
                reference = Array(bytes)
            case FieldType.varint.tag(5):
                guard let number = reader.varint() else { return nil }
                extent = number
            case FieldType.varint.tag(6):
                guard let flag = reader.varint() else { return nil }
                excludesLookups = flag != 0
            default: return nil
            }
        }
        self.init(
            itemClass: itemClass, group: group, attributes: attributes, persistentReference: reference,
            extent: extent, excludesLookups: excludesLookups)
    }
}

/// One of several items, its value still a place in the tail.
struct ItemFields {
    var query = QueryDictionary()
    var valueLength: UInt64 = 0
    var created: Double?
    var modified: Double?
}

extension FieldWriter {
    /// The calls of programs; the others' headers are the general encoder's.
    init?(_ request: KeychainRequest, number: UInt64) {
        let call: UInt64
        guard !request.isInContext, request.behalf == .program else { return nil }
        switch request.operation {
        case .add: call = 1
        case .copy: call = 2
        case .update: call = 3
        case .delete: call = 4
        case .addItems: call = 10
        case .copyEach(let searches):
            self.init()
            self.number(1, number)
            presentNumber(2, 17)
            for search in searches { item(8, NewItem(search, value: nil)) }
            served(request.served)
            return
        case .searchEach(let searches):
            self.init()
            self.number(1, number)
            presentNumber(2, 18)
            served(request.served)
            for search in searches { self.search(15, search) }
            return
        case .status, .device, .awaitDevice, .means, .evaluate, .setApplicationPassword, .deleteGroups, .doctor,
            .census, .changePosition, .changes, .audit:
            return nil
        }
        self.init()
        self.number(1, number)
        presentNumber(2, call)
        for entry in request.query.entries { self.entry(3, entry) }
        for entry in request.changes.entries { self.entry(4, entry) }
        for item in request.items { self.item(8, item) }
        served(request.served)
    }

    private mutating func served(_ program: ServedProgram?) {
        guard let program else { return }
        message(14) { writer in
            writer.text(1, program.path)
            if program.process != 0 { writer.presentSigned(2, Int64(program.process)) }
            writer.number(3, UInt64(program.evidence.rawValue))
        }
    }

    private mutating func search(_ field: UInt64, _ search: ItemSearch) {
        message(field) { writer in
            writer.text(1, search.itemClass.rawValue)
            writer.text(2, search.group.name)
            for (code, value) in search.attributes.entries { writer.attribute(3, code, value) }
            writer.bytes(4, search.persistentReference)
            writer.number(5, search.extent.rawValue)
            writer.number(6, search.excludesLookups ? 1 : 0)
        }
    }

    private mutating func item(_ field: UInt64, _ item: NewItem) {
        message(field) { writer in
            for entry in item.query.entries { writer.entry(1, entry) }
            writer.number(2, UInt64(item.value?.bytes.count ?? 0))
            if let created = item.created { writer.presentDouble(3, created) }
            if let modified = item.modified { writer.presentDouble(4, modified) }
        }
    }

    private mutating func entry(_ field: UInt64, _ entry: QueryDictionary.Entry) {
        message(field) { writer in
            switch entry.key {
            case .text(let key): writer.text(1, key)
            case .foreign: writer.presentNumber(2, 1)
            }
            writer.value(3, entry.value)
        }
    }

    private mutating func value(_ field: UInt64, _ value: RawValue) {
        message(field) { writer in
            switch value {
            case .string(let text): writer.presentText(1, text)
            case .data(let bytes): writer.presentBytes(2, bytes)
            case .integer(let number): writer.presentSigned(3, number)
            case .real(let number): writer.presentDouble(4, number)
            case .bool(let flag): writer.presentNumber(5, flag ? 1 : 0)
            case .date(let seconds): writer.presentDouble(6, seconds)
            case .uuid(let bytes): writer.presentBytes(7, bytes)
            case .null: writer.presentNumber(8, 1)
            case .array(let values):
                writer.message(9) { list in for value in values { list.value(1, value) } }
            case .dictionary: writer.presentNumber(10, 1)
            case .accessControl(let access): writer.presentBytes(11, access.encoded)
            case .secret: writer.presentNumber(12, 1)
            case .foreign(let type): writer.presentText(13, type)
            }
        }
    }
}
