internal import FoundationEssentials
package import KeychainMessages
package import KeychainModel
package import KeychainPlatform
package import SwiftProtobuf

/// The protocol's version; a connection agrees on one in the hello.
package enum ProtocolVersion {
    package static let lowest: UInt32 = 1
    package static let highest: UInt32 = 4
    /// The first that knows calls in a person's name: an older daemon would answer
    /// them for the program's own groups.
    package static let deputies: UInt32 = 2
    /// The first that knows several searches in one request: an older daemon would end the
    /// connection.
    package static let severalSearches: UInt32 = 3
    /// The first that knows the searches of the Secret Service.
    package static let itemSearches: UInt32 = 4
}

/// A message that does not decode, or decodes to something impossible; it ends
/// the connection it came on.
package struct WireFault: Error, Hashable, Sendable {
    package init() {}
}

extension Latchkey_WireValue {
    /// Deeper lists than any door sends are refused.
    private static let deepestList = 4

    init(_ value: RawValue) {
        self.init()
        switch value {
        case .string(let text): self.text = text
        case .data(let bytes): data = Data(bytes)
        case .integer(let number): integer = number
        case .real(let number): real = number
        case .bool(let flag): boolean = flag
        case .date(let seconds): date = seconds
        case .uuid(let bytes): uuid = Data(bytes)
        case .null: null = true
        case .array(let values):
            var list = Latchkey_WireValue.List()
            list.values = values.map { Latchkey_WireValue($0) }
            self.list = list
        case .dictionary: dictionary = true
        case .accessControl(let access): accessControl = Data(access.encoded)
        case .secret: secret = true
        case .foreign(let type): foreign = type
        }
    }

    func rawValue(depth: Int = 0) throws(WireFault) -> RawValue {
        switch value {
        case .text(let text): return .string(text)
        case .data(let bytes): return .data(Array(bytes))
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .boolean(let flag): return .bool(flag)
        case .date(let seconds): return .date(seconds)
        case .uuid(let bytes) where bytes.count == 16: return .uuid(Array(bytes))
        case .null: return .null
        case .list(let list) where depth < Self.deepestList: return .array(try Self.plain(list.values, depth))
        case .dictionary: return .dictionary
        case .accessControl(let bytes):
            guard let access = AccessControl(encoded: Array(bytes)) else { throw WireFault() }
            return .accessControl(access)
        case .secret: return .secret
        case .foreign(let type): return .foreign(type: type)
        case .uuid, .list, nil: throw WireFault()
        }
    }

    private static func plain(_ values: [Latchkey_WireValue], _ depth: Int) throws(WireFault) -> [RawValue] {
        var out: [RawValue] = []
        for value in values { out.append(try value.rawValue(depth: depth + 1)) }
        return out
    }
}

extension QueryDictionary {
    init(wire entries: [Latchkey_WireEntry]) throws(WireFault) {
        self.init()
        self.entries.reserveCapacity(entries.count)
        for entry in entries { append(entry.foreignKey ? .foreign : .text(entry.key), try entry.value.rawValue()) }
    }

    /// Compared each with each while they are few, which they are: cheaper than a set.
    fileprivate var repeatsAKey: Bool {
        guard entries.count <= 16 else {
            let keys = entries.compactMap { if case .text(let key) = $0.key { key } else { nil } }
            return Set(keys).count < keys.count
        }
        for index in entries.indices {
            guard case .text(let key) = entries[index].key else { continue }
            for earlier in 0..<index {
                if case .text(let other) = entries[earlier].key, other == key { return true }
            }
        }
        return false
    }

    var wire: [Latchkey_WireEntry] {
        entries.map { entry in
            var out = Latchkey_WireEntry()
            switch entry.key {
            case .text(let text): out.key = text
            case .foreign: out.foreignKey = true
            }
            out.value = Latchkey_WireValue(entry.value)
            return out
        }
    }
}

extension Latchkey_Failure {
    package init(_ error: KeychainError) {
        self.init()
        status = error.status.rawValue
        let (code, arguments) = error.reason.wireForm
        reason = UInt32(code)
        self.arguments = arguments
        underlying = error.underlying ?? ""
    }

    package var keychainError: KeychainError {
        KeychainError(
            Status(rawValue: status), reason: Reason(code: Int(reason), arguments: arguments),
            underlying: underlying.isEmpty ? nil : underlying)
    }
}

extension KeychainRequest {
    /// The header of the message; the value's bytes are its tail.
    package func encoded(number: UInt64) -> [UInt8] {
        FieldWriter(self, number: number)?.bytes ?? message(number: number).wireBytes
    }

    func message(number: UInt64) -> Latchkey_WireRequest {
        var message = Latchkey_WireRequest()
        message.number = number
        message.inContext = isInContext
        switch behalf {
        case .program: message.behalf = .program
        case .person: message.behalf = .person
        }
        if let served { message.served = Latchkey_ServedProgram(served) }
        message.query = query.wire
        message.changes = changes.wire
        switch operation {
        case .add: message.operation = .add
        case .copy: message.operation = .copy
        case .update: message.operation = .update
        case .delete: message.operation = .delete
        case .status: message.operation = .status
        case .device: message.operation = .device
        case .awaitDevice(let known):
            message.operation = .awaitDevice
            message.device = known
        case .means: message.operation = .means
        case .evaluate(let demand):
            message.operation = .evaluate
            message.demand = demand.message
        case .setApplicationPassword: message.operation = .applicationPassword
        case .census: message.operation = .census
        case .copyEach(let searches):
            message.operation = .copyEach
            message.items = searches.map { search in
                var out = Latchkey_NewItem()
                out.query = search.wire
                return out
            }
        case .searchEach(let searches):
            message.operation = .searchEach
            message.searches = searches.map { Latchkey_ItemSearch($0) }
        case .audit(let query):
            message.operation = .audit
            message.audit = Latchkey_AuditQuery(query)
        case .doctor(let task):
            message.operation = .doctor
            message.doctorTask = Latchkey_DoctorTask(task)
        case .deleteGroups(let groups):
            message.operation = .deleteGroups
            message.groups = groups
        case .addItems:
            message.operation = .addItems
            message.items = items.map { item in
                var out = Latchkey_NewItem()
                out.query = item.query.wire
                out.valueLength = UInt64(item.value?.bytes.count ?? 0)
                if let created = item.created { out.created = created }
                if let modified = item.modified { out.modified = modified }
                return out
            }
        case .changePosition(let scope):
            message.operation = .changes
            message.changeQuery = Latchkey_ChangeQuery(after: nil, in: scope)
        case .changes(let position, let scope):
            message.operation = .changes
            message.changeQuery = Latchkey_ChangeQuery(after: position, in: scope)
        }
        return message
    }

    /// The number of a request that is not to be served yet; nil where it is none.
    package static func number(header: [UInt8]) -> UInt64? {
        do throws(WireFault) {
            let message: Latchkey_WireRequest = try decodeMessage(header)
            return message.number
        } catch {
            return nil
        }
    }

    /// Decodes a request; the tail becomes the value where the message says that
    /// it carries one.
    package static func decode(
        header: [UInt8], tail: consuming SecretBytes
    ) throws(WireFault) -> (number: UInt64, request: KeychainRequest) {
        let fields: RequestFields
        if let plain = RequestFields(plain: header) {
            fields = plain
        } else {
            fields = try RequestFields(decodeMessage(header))
        }
        if fields.operation == .addItems { return (fields.number, try items(fields, tail: tail)) }
        if case .copyEach = fields.operation {
            guard tail.count == 0 else { throw WireFault() }
            return (fields.number, try searches(fields))
        }
        if case .searchEach = fields.operation {
            guard tail.count == 0 else { throw WireFault() }
            return (fields.number, try itemSearches(fields))
        }
        guard fields.items.isEmpty, fields.searches.isEmpty else { throw WireFault() }
        if fields.operation == .setApplicationPassword {
            let password = tail.count == 0 ? nil : SharedSecret(tail)
            return (fields.number, KeychainRequest(.setApplicationPassword, value: password).inContext(fields))
        }
        let (operation, query, changes) = (fields.operation, fields.query, fields.changes)
        // A dictionary has each key once: a second one could say another thing to
        // one check than to the next.
        guard !query.repeatsAKey, !changes.repeatsAKey else { throw WireFault() }
        let carrier = operation == .update ? changes : query
        let carriesValue = (operation == .add || operation == .update) && carrier["v_Data"] == .secret
        guard carriesValue || tail.count == 0 else { throw WireFault() }
        let value = carriesValue ? SharedSecret(tail) : nil
        let request = KeychainRequest(operation, query: query, changes: changes, value: value)
        return (fields.number, request.inContext(fields))
    }

    private func inContext(_ fields: RequestFields) -> KeychainRequest {
        var other = self
        other.isInContext = fields.isInContext
        other.behalf = fields.behalf
        other.served = fields.served
        return other
    }

    private static func itemSearches(_ fields: RequestFields) throws(WireFault) -> KeychainRequest {
        guard fields.query.entries.isEmpty, fields.changes.entries.isEmpty, fields.items.isEmpty,
            !fields.searches.isEmpty, fields.searches.count <= mostSearches, fields.behalf == .program
        else { throw WireFault() }
        return KeychainRequest(.searchEach(fields.searches)).inContext(fields)
    }

    /// Several searches, which bring no values.
    private static func searches(_ fields: RequestFields) throws(WireFault) -> KeychainRequest {
        guard fields.query.entries.isEmpty, fields.changes.entries.isEmpty, !fields.items.isEmpty,
            fields.items.count <= mostSearches, fields.searches.isEmpty
        else { throw WireFault() }
        for item in fields.items {
            guard !item.query.repeatsAKey, item.valueLength == 0, item.created == nil, item.modified == nil else {
                throw WireFault()
            }
        }
        return KeychainRequest(.copyEach(fields.items.map(\.query))).inContext(fields)
    }

    /// Several adds; the tail is their values and nothing else.
    private static func items(
        _ fields: RequestFields, tail: consuming SecretBytes
    ) throws(WireFault) -> KeychainRequest {
        guard fields.query.entries.isEmpty, fields.changes.entries.isEmpty, !fields.items.isEmpty,
            fields.items.count <= NewItem.mostTogether, fields.searches.isEmpty
        else { throw WireFault() }
        var items: [NewItem] = []
        var at = 0
        for item in fields.items {
            let carriesValue = item.query["v_Data"] == .secret
            guard !item.query.repeatsAKey, carriesValue || item.valueLength == 0,
                item.valueLength <= UInt64(tail.count - at)
            else { throw WireFault() }
            let end = at + Int(item.valueLength)
            do throws(SystemCallError) {
                let value = carriesValue ? SharedSecret(try tail.copy(allocating: at..<end)) : nil
                items.append(NewItem(item.query, value: value, created: item.created, modified: item.modified))
            } catch {
                throw WireFault()
            }
            at = end
        }
        guard at == tail.count else { throw WireFault() }
        return KeychainRequest(.addItems, items: items).inContext(fields)
    }

}

extension Latchkey_ItemSearch {
    init(_ search: ItemSearch) {
        self.init()
        itemClass = search.itemClass.rawValue
        group = search.group.name
        attributes = search.attributes.entries.map { Latchkey_WireAttribute($0.code, $0.value) }
        persistentReference = Data(search.persistentReference)
        extent = Extent(rawValue: Int(search.extent.rawValue)) ?? .unspecified
        excludesLookups = search.excludesLookups
    }

    /// - Throws: for an attribute that is there twice, also.
    func search() throws(WireFault) -> ItemSearch {
        guard attributes.count <= ItemSearch.findable.count else { throw WireFault() }
        var read = AttributeMap()
        for attribute in attributes {
            let code = AttributeCode(rawValue: attribute.code)
            guard let value = attribute.attributeValue, read[code] == nil else { throw WireFault() }
            read.append(code, value)
        }
        guard
            let search = ItemSearch(
                itemClass: itemClass, group: group, attributes: read, persistentReference: Array(persistentReference),
                extent: UInt64(truncatingIfNeeded: extent.rawValue), excludesLookups: excludesLookups)
        else { throw WireFault() }
        return search
    }
}

extension Latchkey_ServedProgram {
    init(_ served: ServedProgram) {
        self.init()
        path = served.path
        process = served.process
        evidence = served.evidence.rawValue
    }

    var served: ServedProgram {
        ServedProgram(path: path, process: process, evidence: ServedProgram.Evidence(number: evidence))
    }
}

extension SwiftProtobuf.Message {
    /// Our own messages always encode.
    package var wireBytes: [UInt8] {
        do { return try serializedBytes() } catch { preconditionFailure("a message of ours does not encode") }
    }
}

/// Decodes a message from the other side; fails closed.
package func decodeMessage<M: SwiftProtobuf.Message>(_ bytes: [UInt8]) throws(WireFault) -> M {
    do { return try M(serializedBytes: bytes) } catch { throw WireFault() }
}
