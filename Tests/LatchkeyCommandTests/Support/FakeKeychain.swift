import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization

/// A keychain in memory, as far as the command line needs one: exact matches,
/// uniqueness by the schema's tuple, one group a call or all, of every program in a
/// person's name.
final class FakeKeychain: KeychainTransport {
    struct Item {
        var itemClass: ItemClass
        var attributes: [String: RawValue]
        var value: SharedSecret?
    }

    struct State {
        var items: [Item] = []
        var requests: [KeychainRequest] = []
        var failure: KeychainError?
        /// What a call in a person's name is refused with.
        var deputyFailure: KeychainError?
        var protocolVersion = ProtocolVersion.highest
        var refusedService: String?
        var doctor = DoctorReport()
        var clock = 800_000_000.0
        /// Whose passcode it is; nil: there is none.
        var person: ScriptedPerson?
    }

    let state = Mutex(State())
    private let groups: [String]
    private let nameable: [String]
    private let isTemporary: Bool

    init(groups: [String] = ["adhoc.test"], nameable: [String] = ["latchkey"], isTemporary: Bool = false) {
        self.groups = groups
        self.nameable = nameable
        self.isTemporary = isTemporary
    }

    func fail(_ status: Status, _ reason: Reason, _ underlying: String? = nil) {
        state.withLock { $0.failure = KeychainError(status, reason: reason, underlying: underlying) }
    }

    /// Refuses to add items of this service.
    func refuse(service: String) { state.withLock { $0.refusedService = service } }

    /// Puts an item in as another program would.
    func plant(_ itemClass: ItemClass, _ attributes: [String: RawValue], _ value: String) {
        let item = Item(
            itemClass: itemClass, attributes: Self.complete(itemClass, attributes),
            value: SharedSecret(SecretBytes(copying: Array(value.utf8))))
        state.withLock { $0.items.append(item) }
    }

    var requests: [KeychainRequest] { state.withLock(\.requests) }
    var items: [Item] { state.withLock(\.items) }

    func session() throws(KeychainError) -> SessionInformation {
        if let failure = state.withLock(\.failure) { throw failure }
        var session = SessionInformation(
            groups: groups, nameableGroups: nameable, strength: .user, isTemporary: isTemporary,
            identity: "exe./usr/bin/latchkey", missingFeatures: ["pidfs"], serverVersion: "0.1.0")
        session.protocolVersion = state.withLock(\.protocolVersion)
        return session
    }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession { throw Self.unused }
    func deviceStates() throws(KeychainError) -> any DeviceStates { throw Self.unused }

    private static let unused = KeychainError(
        .unimplemented, reason: .notImplemented(what: "what no command asks for"))

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        try state.withLock { state throws(KeychainError) in
            state.requests.append(request)
            if let failure = state.failure { throw failure }
            if request.behalf == .person, let failure = state.deputyFailure { throw failure }
            switch request.operation {
            case .add: return try add(request, &state)
            case .copy: return try copy(request, state)
            case .update: return try update(request, &state)
            case .delete: return try delete(request, &state)
            case .status: return KeychainAnswer(status: Self.status(state.person))
            case .device:
                var answer = KeychainAnswer()
                answer.device = (state.person ?? ScriptedPerson()).device
                return answer
            case .doctor: return KeychainAnswer(doctor: state.doctor)
            case .addItems:
                var answer = KeychainAnswer()
                answer.outcomes = request.items.map { outcome(of: $0, &state) }
                return answer
            case .awaitDevice, .means, .evaluate, .setApplicationPassword, .deleteGroups, .census, .changePosition,
                .changes, .audit, .copyEach, .searchEach:
                throw KeychainError(.unimplemented, reason: .notImplemented(what: "this"))
            }
        }
    }

    private static func status(_ person: ScriptedPerson?) -> KeychainStatus {
        var status = KeychainStatus()
        status.dataDirectory = "/home/a/.local/share/latchkey"
        status.storeID = [0x0a, 0xff]
        status.storeFormat = 1
        status.protectors = ["software-file"]
        status.hasPasscode = person?.device.hasPasscode ?? false
        status.slots = status.hasPasscode ? ["passcode"] : ["open"]
        status.openClasses = person?.device.openClasses ?? [.whenUnlocked, .always]
        status.memoryLocked = true
        status.items = [.genericPassword: 1]
        status.daemonProcess = 11
        status.enclaveProcess = 12
        return status
    }

    // MARK: Calls

    private func add(_ request: KeychainRequest, _ state: inout State) throws(KeychainError) -> KeychainAnswer {
        let itemClass = try Self.itemClass(request)
        var attributes = Self.attributes(request.query)
        if attributes["agrp"] == nil { attributes["agrp"] = .string(groups.first ?? "") }
        state.clock += 1
        attributes["cdat"] = .date(state.clock)
        attributes["mdat"] = .date(state.clock)
        attributes = Self.complete(itemClass, attributes)
        let keys = Self.keys(itemClass)
        if let refused = state.refusedService, attributes["svce"] == .string(refused) {
            throw KeychainError(.dataTooLarge, reason: .tooLarge(what: "the value", limit: 1, size: 2))
        }
        guard
            !state.items.contains(where: { item in
                item.itemClass == itemClass && keys.allSatisfy { item.attributes[$0] == attributes[$0] }
            })
        else { throw KeychainError(.duplicateItem, reason: .duplicate) }
        state.items.append(Item(itemClass: itemClass, attributes: attributes, value: request.value))
        return KeychainAnswer()
    }

    private func outcome(of item: NewItem, _ state: inout State) -> KeychainError? {
        do throws(KeychainError) {
            _ = try add(KeychainRequest(.add, query: item.query, value: item.value), &state)
        } catch {
            return error
        }
        let last = state.items.count - 1
        if let created = item.created { state.items[last].attributes["cdat"] = .date(created) }
        if let modified = item.modified { state.items[last].attributes["mdat"] = .date(modified) }
        return nil
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        throw KeychainError(.unimplemented, reason: .notImplemented(what: "this"))
    }

    private func copy(_ request: KeychainRequest, _ state: State) throws(KeychainError) -> KeychainAnswer {
        let found = try matches(request, state).map { state.items[$0] }
        let wantsData = request.query["r_Data"] == .bool(true)
        return KeychainAnswer(
            returns: wantsData ? .data : .attributes, many: request.query["m_Limit"] != nil,
            rows: found.map { item in
                var map = AttributeMap()
                for (key, value) in item.attributes {
                    if let code = AttributeCode(key) { map[code] = Self.plain(value) }
                }
                return AnswerRow(
                    itemClass: item.itemClass, attributes: map, accessControl: nil, persistentReference: [],
                    value: wantsData ? item.value : nil)
            })
    }

    private func update(_ request: KeychainRequest, _ state: inout State) throws(KeychainError) -> KeychainAnswer {
        for index in try matches(request, state) {
            for (key, value) in Self.attributes(request.changes) { state.items[index].attributes[key] = value }
            if let value = request.value { state.items[index].value = value }
        }
        return KeychainAnswer()
    }

    private func delete(_ request: KeychainRequest, _ state: inout State) throws(KeychainError) -> KeychainAnswer {
        for index in try matches(request, state).reversed() { state.items.remove(at: index) }
        return KeychainAnswer()
    }

    // MARK: Matching

    private func matches(_ request: KeychainRequest, _ state: State) throws(KeychainError) -> [Int] {
        let itemClass = try Self.itemClass(request)
        var wanted = Self.attributes(request.query)
        if wanted["sync"] == .string("syna") { wanted["sync"] = nil }
        let scope: Set<String>
        if request.behalf == .person {
            scope = Set(
                state.items.compactMap { item in
                    if case .string(let group)? = item.attributes["agrp"] { group } else { nil }
                })
        } else if case .string(let group) = wanted["agrp"] {
            guard groups.contains(group) || nameable.contains(group) else {
                throw KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: group))
            }
            scope = [group]
        } else {
            scope = Set(groups)
        }
        let found = state.items.indices.filter { index in
            let item = state.items[index]
            guard item.itemClass == itemClass, case .string(let group) = item.attributes["agrp"], scope.contains(group)
            else { return false }
            return wanted.allSatisfy { item.attributes[$0.key] == $0.value }
        }
        guard !found.isEmpty else { throw KeychainError(.itemNotFound, reason: .nothingMatches) }
        return found
    }

    private static func itemClass(_ request: KeychainRequest) throws(KeychainError) -> ItemClass {
        guard case .string(let name) = request.query["class"], let itemClass = ItemClass(rawValue: name) else {
            throw .parameter(.classMissing)
        }
        return itemClass
    }

    private static func attributes(_ dictionary: QueryDictionary) -> [String: RawValue] {
        var found: [String: RawValue] = [:]
        for entry in dictionary.entries {
            if case .text(let key) = entry.key, key.count == 4 { found[key] = entry.value }
        }
        return found
    }

    private static func keys(_ itemClass: ItemClass) -> [String] {
        Schema.of(itemClass).primaryKey.map { "\($0.code)" }
    }

    /// With the defaults of the schema.
    private static func complete(_ itemClass: ItemClass, _ attributes: [String: RawValue]) -> [String: RawValue] {
        var whole = attributes
        for attribute in Schema.of(itemClass).attributes where whole["\(attribute.code)"] == nil {
            switch attribute.defaultValue {
            case .string(let text): whole["\(attribute.code)"] = .string(text)
            case .integer(let number): whole["\(attribute.code)"] = .integer(number)
            default: continue
            }
        }
        return whole
    }

    private static func plain(_ value: RawValue) -> AttributeValue? {
        switch value {
        case .string(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer(let number): .integer(number)
        case .date(let seconds): .date(seconds)
        default: nil
        }
    }
}
