package import KeychainModel
package import KeychainPlatform

/// One call as a door hands it on: not parsed, not authorized, but with its
/// values made plain and the secret bytes apart.
package struct KeychainRequest: Sendable {
    package enum Operation: Sendable, Hashable {
        case add
        case copy
        case update
        case delete
        /// SecItemDeleteAllWithAccessGroups.
        case deleteGroups([String])
        /// What `latchkey status` shows.
        case status
        /// Whether the keychain is open.
        case device
        /// The same, once it is another state than the one of that number (0: at
        /// once), of which nothing is kept any more (``DeviceStates``).
        case awaitDevice(after: UInt64)
        /// By what a person could agree.
        case means
        /// Has a person agree (LAContext.evaluatePolicy).
        case evaluate(AuthenticationDemand)
        /// The application password of the context: ``value``, nil takes it back.
        case setApplicationPassword
        /// What `latchkey doctor` shows and mends.
        case doctor(DoctorTask)
        /// How many items match the query in each group, whoever's it is
        /// (`latchkey explain`). The query's own group is not looked at.
        case census
        /// Where the history of items stands now.
        case changePosition(ChangeScope)
        /// What happened to items after a position. A daemon answers when there is
        /// something to tell (``KeychainTransport/changes(after:in:orUntil:)``).
        case changes(after: ChangePosition, in: ChangeScope)
        /// Reads the audit record; in a person's name alone (`latchkey log`).
        case audit(AuditQuery)
        /// Several adds that become durable together; each succeeds or fails by
        /// itself (`latchkey import`).
        case addItems
        /// Several searches, one after the other, none of which asks a person. What finds
        /// nothing is no failure; any other ends the call. At most
        /// ``KeychainRequest/mostSearches``.
        case copyEach([QueryDictionary])
        /// The same, of the Secret Service. At most ``KeychainRequest/mostSearches``.
        case searchEach([ItemSearch])
    }

    /// Searches in one request at the most.
    package static let mostSearches = 128
    /// Bytes of attributes after which a client begins another request, half of what a header
    /// holds; one search may have more.
    package static let mostSearchBytes = WireLimit.header / 2

    /// In whose name a call is made.
    package enum Behalf: Sendable, Hashable {
        /// The program's own: its groups and no others.
        case program
        /// A person's, whose deputy the program is: the items of every program. The
        /// daemon grants it or refuses it at each call.
        case person
    }

    package let operation: Operation
    package let query: QueryDictionary
    /// SecItemUpdate's second dictionary.
    package let changes: QueryDictionary
    /// The bytes of kSecValueData, on add and update.
    package let value: SharedSecret?
    /// What is to be added together.
    package let items: [NewItem]
    /// Made through an LAContext, which a connection of its own stands for.
    package var isInContext = false
    package var behalf = Behalf.program
    /// Whom the caller makes it for, by its own word: for the record alone.
    package var served: ServedProgram?

    package init(
        _ operation: Operation, query: QueryDictionary = QueryDictionary(),
        changes: QueryDictionary = QueryDictionary(), value: SharedSecret? = nil, items: [NewItem] = []
    ) {
        self.operation = operation
        self.query = query
        self.changes = changes
        self.value = value
        self.items = items
    }

    /// Whether it can change the store (an answer that did not come leaves that open).
    package var isWrite: Bool {
        switch operation {
        case .add, .addItems, .update, .delete, .deleteGroups: true
        case .copy, .copyEach, .searchEach, .status, .device, .awaitDevice, .means, .evaluate,
            .setApplicationPassword:
            false
        // Whatever it does, doing it again does no more.
        case .doctor, .census, .changePosition, .changes, .audit: false
        }
    }
}

/// One of several items to be added.
package struct NewItem: Sendable {
    package let query: QueryDictionary
    package let value: SharedSecret?
    /// When the item came into being elsewhere, in seconds since
    /// 2001-01-01T00:00:00Z; nil: now.
    package let created: Double?
    /// When it was changed last; nil: now.
    package let modified: Double?

    package init(_ query: QueryDictionary, value: SharedSecret?, created: Double? = nil, modified: Double? = nil) {
        self.query = query
        self.value = value
        self.created = created
        self.modified = modified
    }

    /// Items in one request at the most.
    package static let mostTogether = 128
    /// Bytes of values after which a client begins another request; one item may have more.
    package static let mostBytesTogether = 1 << 20
}

/// What a call found: rows, and the shape in which the caller asked for them.
package struct KeychainAnswer: Sendable {
    package var returns: ReturnTypes
    /// An array even where one row matched.
    package var many: Bool
    package var rows: [AnswerRow]
    package var status: KeychainStatus?
    package var doctor: DoctorReport?
    package var census: [GroupCount] = []
    package var changes: ChangeBatch?
    package var device: DeviceState?
    package var means: AuthenticationMeans?
    package var audit: AuditPage?
    /// Of each item to be added why it was not; nil: it was.
    package var outcomes: [KeychainError?] = []

    package init(
        returns: ReturnTypes = [], many: Bool = false, rows: [AnswerRow] = [], status: KeychainStatus? = nil,
        doctor: DoctorReport? = nil
    ) {
        self.returns = returns
        self.many = many
        self.rows = rows
        self.status = status
        self.doctor = doctor
    }
}

/// How many items matched in a group.
package struct GroupCount: Sendable, Hashable {
    package let group: AccessGroup
    package let items: Int

    package init(group: AccessGroup, items: Int) {
        self.group = group
        self.items = items
    }
}

/// One item of an answer.
package struct AnswerRow: Sendable {
    package let itemClass: ItemClass
    package let attributes: AttributeMap
    package let accessControl: AccessControl?
    package let persistentReference: [UInt8]
    /// nil: the item has no data, or none was asked for.
    package let value: SharedSecret?
    /// Of several searches (``KeychainRequest/Operation/copyEach(_:)``) the one that found
    /// it, from 0.
    package var search = 0
    /// It is locked, and told by its reference alone (``Query/tellsClosed``).
    package var isClosed = false

    package init(
        itemClass: ItemClass, attributes: AttributeMap, accessControl: AccessControl?, persistentReference: [UInt8],
        value: SharedSecret?
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessControl = accessControl
        self.persistentReference = persistentReference
        self.value = value
    }
}

/// What the keychain says about itself.
package struct KeychainStatus: Sendable, Hashable {
    package var dataDirectory = ""
    package var storeID: [UInt8] = []
    package var storeFormat = 0
    package var hasPasscode = false
    package var protectors: [String] = []
    package var slots: [String] = []
    /// Why a slot that opens at the start did not; nil: it did, or there is none.
    package var startRefusal: String?
    /// Why nobody tells of sleep and locked screens, which it was told to lock on.
    package var loginsFault: String?
    /// Files of the keys that are gone or damaged, and could not be written again.
    package var unrepairedFiles: [String] = []
    package var openClasses: Set<ProtectionClass> = []
    package var memoryLocked = false
    /// Items of the caller's groups, by class.
    package var items: [ItemClass: Int] = [:]
    package var damaged = 0
    package var daemonProcess: Int32 = 0
    package var enclaveProcess: Int32 = 0
    /// What either process does to itself; empty where it is a program's own.
    package var daemonMeasures: [MeasureState] = []
    package var enclaveMeasures: [MeasureState] = []

    package init() {}
}

/// Where calls go: the daemon over its socket, or the same engine in this process.
package protocol KeychainTransport: Sendable {
    /// - Throws: what the keychain answered, or `errSecNotAvailable` with a
    ///   reason that says why nothing answered. Never blocks beyond its deadline.
    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer
    /// What happened to items after a position, as soon as there is anything to tell;
    /// nil where `cancelled` was signalled first.
    ///
    /// No change is left out, also where the daemon ended meanwhile.
    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch?
    /// What the keychain knows of this program: its groups and what they are worth.
    func session() throws(KeychainError) -> SessionInformation
    /// A new context in which a person can agree to calls (LAContext).
    func authenticationSession() throws(KeychainError) -> any AuthenticationSession
    /// A new observer of whether the keychain is open.
    func deviceStates() throws(KeychainError) -> any DeviceStates
}

/// The outcome of the hello.
package struct SessionInformation: Sendable, Hashable {
    package var groups: [String]
    package var nameableGroups: [String]
    package var strength: IdentityStrength
    package var isTemporary: Bool
    package var identity: String
    package var missingFeatures: [String]
    package var serverVersion: String
    /// What both ends speak on this connection.
    package var protocolVersion = ProtocolVersion.highest

    package init(
        groups: [String], nameableGroups: [String], strength: IdentityStrength, isTemporary: Bool, identity: String,
        missingFeatures: [String], serverVersion: String
    ) {
        self.groups = groups
        self.nameableGroups = nameableGroups
        self.strength = strength
        self.isTemporary = isTemporary
        self.identity = identity
        self.missingFeatures = missingFeatures
        self.serverVersion = serverVersion
    }
}
