internal import KeychainCrypto
internal import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
package import MessageBus
package import SecretServiceReach

/// `org.freedesktop.secrets` over a keychain (freedesktop.org "Secret Service API Draft",
/// 0.2, and what gnome-keyring 42 answers where that is silent).
///
/// A collection is an access group, an item a generic or internet password with lookup
/// attributes; see FORMATS.md, "Items of the Secret Service". Every client of the bus sees
/// every collection, as with gnome-keyring, but for what a ``SecretServicePolicy`` keeps:
/// most callers are interpreters, or work for others, so that nothing more can be built on
/// who they are (``BusCallers``).
///
/// While the keychain is locked, searches find items without telling their names, what
/// there is of collections can be read, and everything else is IsLocked at once. A client
/// that asks to unlock gets a prompt where a person could be asked on its behalf. An item
/// that needs a person's agreement is not there.
package final class SecretServiceDoor: BusObjects {
    let keychain: ServedKeychain
    let clock: any KeychainClock
    let book: CollectionBook
    let items: SecretItems
    private(set) lazy var prompts = UnlockPrompts(in: loop, starter) { [weak self] in
        self?.promptEnded($0, $1)
    }
    private let starter: PromptStarter
    private lazy var rest = LoopRest(in: loop, clock)
    private let lockAndItems: any KeychainTransport
    private(set) var sessions = TransferSessions()
    /// Whether clients were last told that the keychain is open; nil: nothing yet.
    var toldOpen: Bool?
    private let loop: BusLoop
    private var buses: [SessionBus] = []
    private var follower: LockFollower?
    private(set) var itemFollower: ItemFollower?
    private var directConnections = 0
    /// What nobody is accepted from until somebody has gone.
    private var pausedListener: StreamListener?
    var told = ToldItems()
    private(set) lazy var longLists = LongLists(in: loop, clock) { [weak self] in self?.tellLongLists() }
    var followed = FollowedCollections()
    /// What others have changed and clients were not told yet.
    var untold: [AccessGroup: ItemFollower.Change] = [:]
    private(set) lazy var pace = Pace(in: loop, clock) { [weak self] in self?.tellWhatOthersChanged() }
    /// Which there were when clients were told last.
    var toldCollections: [SecretCollection] = []
    private var callers = BusCallers()
    /// Connections that have asked whether something is locked (``unlock(_:)``).
    private(set) var lookers: Set<String> = []
    private let policy: PolicyFile?
    /// Of the program whose call is answered now.
    private(set) var reach = BusReach.whole

    /// - Parameters:
    ///   - followed: the same keychain, by which lock and items are followed; it starts no daemon.
    ///   - programDirectories: where latchkey-prompt is looked for, in this order.
    ///   - policy: who may reach what; nil: everybody everything.
    package init(
        _ keychain: any KeychainTransport, followedBy followed: any KeychainTransport, in loop: BusLoop,
        programDirectories: [String], policy: PolicyFile?, clock: any KeychainClock = SystemClock()
    ) {
        self.policy = policy
        let served = ServedKeychain(keychain, clock: clock)
        (self.keychain, self.loop, self.clock) = (served, loop, clock)
        lockAndItems = followed
        book = CollectionBook(served)
        items = SecretItems(served, clock: clock)
        starter = PromptStarter(keychain, programDirectories)
    }

    /// Once it returns the keychain answers, and calls can be taken.
    package func open() throws {
        toldCollections = try book.all()
        let follower = try LockFollower(lockAndItems, clock: clock)
        loop.watch(follower.heard.descriptor) { [weak self] in
            if let isOpen = follower.latest() { self?.lockChanged(toOpen: isOpen) }
        }
        self.follower = follower
        let itemFollower = try ItemFollower(lockAndItems, of: [Self.groupOfCollections], clock: clock)
        loop.watch(itemFollower.heard) { [weak self] in self?.takeWhatOthersChanged() }
        self.itemFollower = itemFollower
    }

    /// Takes calls that come over a session's bus.
    package func serve(_ bus: SessionBus) throws(SessionBusFailure) {
        bus.serve(self)
        try bus.followEnds()
        buses.append(bus)
        loop.add(bus)
    }

    /// Takes the calls of programs that connect without a bus (``DirectBus``).
    package func serveDirectly(_ listener: StreamListener) {
        loop.watch(listener.descriptor) { [weak self] in self?.accept(from: listener) }
    }

    /// As many programs as are served at once; more wait until one of them has gone.
    private static let mostDirectConnections = 256

    private func accept(from listener: StreamListener) {
        do throws(SystemCallError) {
            while buses.count < Self.mostDirectConnections {
                guard let connection = try listener.accept() else { return }
                // Who has gone already is not served, nor is another user: sd-bus looks at who
                // somebody says they are alone.
                let socket = PacketSocket(owning: connection)
                guard try socket.peerCredentials().uid == ProcessEnvironment.effectiveUserID else { continue }
                let caller = BusCaller(of: socket)
                do throws(SessionBusFailure) { try serve(direct: connection, of: caller) } catch { continue }
            }
        } catch {
            // There are no more descriptors, say. With nobody to wait for there will be none.
            guard !buses.isEmpty else { return loop.end() }
        }
        loop.endWatch(of: listener.descriptor)
        pausedListener = listener
    }

    private func serve(direct connection: Descriptor, of caller: BusCaller) throws(SessionBusFailure) {
        directConnections += 1
        let direct = DirectBus(serving: SecretServiceNames.bus, number: directConnections, to: caller)
        let bus = try SessionBus.direct(connection, direct)
        bus.serve(self)
        buses.append(bus)
        loop.add(bus)
    }

    /// Tells everybody who is connected.
    func emit(_ member: String, of interface: String, at path: ObjectPath, _ values: [BusValue]) {
        for bus in buses { bus.emit(member, of: interface, at: path, values) }
    }

    // MARK: Calls

    package func answer(_ call: BusCall) {
        rest.noteCall()
        answer(call) { () throws(BusError) in try dispatch(call) }
    }

    /// Answers in the name of the program that called, also within the call of another.
    ///
    /// - Parameter body: nil: it is answered later.
    func answer(_ call: BusCall, with body: () throws(BusError) -> [BusValue]?) {
        do throws(BusError) {
            let program = callers.program(of: call)
            // What closes something is nobody's to be kept from.
            let isClosing = Self.closing.contains(call.member)
            if let values = try inTheName(of: program, isKept: !isClosing, body) { call.answer(values) }
        } catch {
            call.refuse(error)
        }
    }

    /// Runs what a program asked for, within its reach as the policy has it now.
    func inTheName<R>(
        of program: ServedProgram?, isKept: Bool = true, _ body: () throws(BusError) -> R
    ) throws(BusError) -> R {
        let (asked, served) = (reach, keychain.program)
        keychain.serve(program)
        reach = .whole
        defer {
            keychain.serve(served)
            reach = asked
        }
        if isKept { reach = try BusReach(currentPolicy(), of: program) }
        return try body()
    }

    /// Runs what is everybody's within the call of one program.
    func tellingEverybody(_ body: () -> Void) {
        let (asked, served) = (reach, keychain.program)
        reach = .whole
        keychain.serve(nil)
        body()
        keychain.serve(served)
        reach = asked
    }

    private static let closing: Set = ["Lock", "LockService", "Close", "Dismiss"]

    func currentPolicy() throws(BusError) -> SecretServicePolicy {
        do throws(PolicyFile.Fault) { return try policy?.policy() ?? .everybody } catch {
            throw BusError(.accessDenied, "\(error); until that is mended nobody is given anything")
        }
    }

    package func connectionEnded(_ name: String) {
        sessions.endAll(of: name)
        prompts.drop(of: name)
        lookers.remove(name)
        readerEnded(name)
        callers.forget(name)
        buses.removeAll { $0.client == name }
        if let listener = pausedListener.take() { serveDirectly(listener) }
    }

    /// As many connections as are remembered to look for themselves whether something is locked.
    private static let mostLookers = 4096

    func looked(_ sender: String) {
        if lookers.count >= Self.mostLookers { lookers = [] }
        lookers.insert(sender)
    }

    private func dispatch(_ call: BusCall) throws(BusError) -> [BusValue]? {
        guard let target = try translating({ () throws(KeychainError) in try target(of: call.path) }) else {
            throw .noObject(call.path)
        }
        switch call.interface {
        case SecretServiceNames.introspection where call.member == "Introspect":
            return [.string(try introspection(of: target))]
        case SecretServiceNames.properties: return try properties(call, of: target)
        default: break
        }
        switch target {
        case .service where call.interface == SecretServiceNames.masterPassword: return try answerMasterPassword(call)
        case .service where named(call, SecretServiceNames.service): return try answerService(call)
        case .portal where named(call, SecretServiceNames.portal): return try answerPortal(call)
        case .collection(let collection) where named(call, SecretServiceNames.collection):
            return try answer(call, of: collection)
        case .item(let place) where named(call, SecretServiceNames.item): return try answer(call, of: place)
        case .session(let session) where named(call, SecretServiceNames.session):
            guard call.member == "Close" else { break }
            // Nobody ends another's; to others it is not there.
            guard session.owner == call.sender else { throw .noObject(call.path) }
            sessions.end(session.path)
            return []
        case .prompt(let path) where named(call, SecretServiceNames.prompt): return try answer(call, ofPrompt: path)
        case .portalRequest(let path) where named(call, SecretServiceNames.portalRequest):
            return try answer(call, ofRequest: path)
        default: break
        }
        throw BusError(.unknownMethod, "\(call.path) has no method \(call.interface).\(call.member)")
    }

    /// A call may leave its interface out (D-Bus Specification 0.43, "Message Types").
    private func named(_ call: BusCall, _ interface: String) -> Bool {
        call.interface == interface || call.interface.isEmpty
    }

    // MARK: Objects

    enum Target {
        /// A folder of objects.
        case branch(ObjectPath)
        case service
        case collection(SecretCollection)
        case item(ItemObject)
        case session(TransferSession)
        case prompt(ObjectPath)
        case portal
        /// What a portal asked for and a person is asked about, as the portal calls it.
        case portalRequest(ObjectPath)
    }

    /// An item that is there, or was a moment ago.
    struct ItemObject {
        let collection: SecretCollection
        let reference: PersistentReference
        var path: ObjectPath { SecretItem.path(of: reference.bytes, in: collection.name) }
    }

    /// What a path leads to. An alias, and what is below it, is the collection itself.
    func target(of path: ObjectPath) throws(KeychainError) -> Target? {
        if path == SecretServiceNames.root { return .service }
        if path == SecretServiceNames.portalRoot { return .portal }
        if let session = sessions[path] { return .session(session) }
        if prompts.isThere(path) { return .prompt(path) }
        if SecretServiceNames.branches.contains(path) { return .branch(path) }
        guard let (collection, rest) = try collection(at: path) else {
            // Last: a portal calls its requests as it likes.
            return prompts.hasRequest(path) ? .portalRequest(path) : nil
        }
        switch rest.count {
        case 0: return .collection(collection)
        case 1:
            guard let reference = SecretItem.reference(ofElement: rest[0]) else { return nil }
            return .item(ItemObject(collection: collection, reference: reference))
        default: return nil
        }
    }

    /// The collection at or above a path, and what is behind it.
    private func collection(
        at path: ObjectPath
    ) throws(KeychainError) -> (collection: SecretCollection, rest: [String])? {
        if let elements = path.elements(below: SecretServiceNames.collections), let name = elements.first {
            return try named(name).map { ($0, Array(elements.dropFirst())) }
        }
        guard let elements = path.elements(below: SecretServiceNames.aliases), let alias = elements.first,
            let name = try book.collection(of: alias)
        else { return nil }
        return try named(name).map { ($0, Array(elements.dropFirst())) }
    }

    private func named(_ name: String) throws(KeychainError) -> SecretCollection? {
        reach.has(collection: name) ? try book.collection(named: name) : nil
    }

    // MARK: State

    /// Whether items of a collection are out of reach until somebody unlocks.
    func isLocked(_ collection: SecretCollection) throws(BusError) -> Bool {
        // What is in memory alone no lock closes.
        collection.name == SecretCollection.session ? false : try isLocked()
    }

    /// Whether the keychain's are.
    func isLocked() throws(BusError) -> Bool { try isLocked(keychain) }

    func isLocked(_ keychain: any KeychainTransport) throws(BusError) -> Bool {
        let state = try translating { () throws(KeychainError) in
            try keychain.perform(KeychainRequest(.device)).device
        }
        return !(state?.isOpenForPrograms ?? true)
    }

    /// What changes collections waits for a person as what changes items does.
    func refuseWhileLocked() throws(BusError) {
        if try isLocked() { throw .isLocked }
    }

    /// Of everything in it, open or not.
    func paths(in collection: SecretCollection) throws(BusError) -> [ObjectPath] {
        if reach.isOfSchemas {
            let (open, closed) = try search(.none, in: [collection])
            return open + closed
        }
        return try translating { () throws(KeychainError) in try items.references(in: collection.name) }
            .map { SecretItem.path(of: $0, in: collection.name) }
    }

    /// The same for somebody who is told of what comes and goes from now on.
    func list(of collection: SecretCollection, for reader: String) throws(BusError) -> [ObjectPath] {
        willRead(reader, of: collection)
        let all = try translating { () throws(KeychainError) in try items.references(in: collection.name) }
        toldList(all, of: collection)
        return reach.isOfSchemas ? try paths(in: collection) : all.map { SecretItem.path(of: $0, in: collection.name) }
    }

    /// What the caller may reach of it.
    ///
    /// - Parameter absent: what is thrown where there is nothing.
    func item(
        at place: ItemObject, _ extent: ItemSearch.Extent = .description, or absent: BusError
    ) throws(BusError) -> SecretItem {
        let item = try translating { () throws(KeychainError) in
            try items.item(place.reference, in: place.collection.name, extent)
        }
        guard let item, reach.has(item) else { throw absent }
        return item
    }

    /// Before it is changed: by its attributes alone nobody would have looked what it is.
    ///
    /// - Throws: NoSuchObject for what the caller may not reach, IsLocked for what is closed.
    func refuseBeyondReach(_ place: ItemObject) throws(BusError) {
        guard reach.isOfSchemas else { return }
        if try item(at: place, or: .noSuchObject(place.path)).isClosed { throw .isLocked }
    }

    func refuseBeyondReach(_ attributes: LookupAttributes) throws(BusError) {
        guard reach.has(attributes) else { throw kept("this schema") }
    }

    /// Before it is deleted with all that is in it.
    func refuseBeyondReach(_ collection: SecretCollection) throws(BusError) {
        guard reach.isOfSchemas else { return }
        let all = try translating { () throws(KeychainError) in try items.references(in: collection.name) }
        guard try paths(in: collection).count == all.count else { throw kept("some of its items") }
    }

    /// Before an alias is made to stand for something else.
    func refuseBeyondReach(alias: String) throws(BusError) {
        let present = try translating { () throws(KeychainError) in try book.collection(of: alias) }
        guard present.map({ reach.has(collection: $0) }) ?? true else { throw kept("what \(alias) stands for") }
    }

    private func kept(_ what: String) -> BusError {
        BusError(.accessDenied, "\(policy?.path ?? PolicyFile.name) keeps \(what) from this program")
    }

    /// An error of the keychain in the words of the Secret Service.
    func translating<R>(_ body: () throws(KeychainError) -> R) throws(BusError) -> R {
        do throws(KeychainError) { return try body() } catch { throw Self.busError(error) }
    }

    static func busError(_ error: KeychainError) -> BusError {
        switch (error.status, error.reason) {
        case (.interactionNotAllowed, .locked), (.interactionNotAllowed, .nobodyToAsk): .isLocked
        case (.interactionNotAllowed, _), (.authFailed, _), (.userCanceled, _):
            BusError(.accessDenied, error.reason.explanation)
        case (.itemNotFound, _):
            BusError(name: "org.freedesktop.Secret.Error.NoSuchObject", text: error.reason.explanation)
        case (.dataTooLarge, .tooLarge(let what, let limit, let size))
        where what == SessionMemory.items || what == SessionMemory.bytes:
            BusError(
                .limitsExceeded,
                "the collection session holds at most \(limit) \(what), and would hold \(size) with this; "
                    + "nothing was stored")
        case (.dataTooLarge, _): BusError(.limitsExceeded, error.reason.plainExplanation)
        case (.param, _): BusError(.invalidArguments, error.reason.plainExplanation)
        default: BusError(.failed, "\(error)")
        }
    }

    // MARK: Sessions

    func openSession(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard call.arguments.count == 2, let algorithm = call.arguments[0].text, let input = call.arguments[1].content
        else { throw .arguments(of: "OpenSession", "sv") }
        switch algorithm {
        case "plain":
            guard case .string = input else { throw .arguments(of: "OpenSession", "an empty string for plain") }
            return [.variant(.string("")), .path(sessions.add(.plain, of: call.sender))]
        case "dh-ietf1024-sha256-aes128-cbc-pkcs7":
            guard let theirs = input.secret else { throw .arguments(of: "OpenSession", "ay for \(algorithm)") }
            do throws(CryptoError) {
                let exchange = try OakleyExchange()
                let cipher = SessionCipher(key: try exchange.key(with: theirs.bytes))
                let output = BusValue.bytes(SharedSecret(SecretBytes(copying: exchange.publicValue)))
                return [.variant(output), .path(sessions.add(.encrypted(cipher), of: call.sender))]
            } catch { throw BusError(.invalidArguments, "the public value is none of the group's") }
        // libsecret then tries plain.
        default: throw BusError(.notSupported, "sessions are plain or dh-ietf1024-sha256-aes128-cbc-pkcs7")
        }
    }

    /// Only the connection that opened it may use it.
    func session(at path: ObjectPath, for call: BusCall) throws(BusError) -> TransferSession {
        guard let session = sessions.use(path, by: call.sender) else { throw .noSession }
        return session
    }
}

extension BusError {
    static func arguments(of method: String, _ wanted: String) -> BusError {
        BusError(.invalidArguments, "\(method) takes \(wanted)")
    }
}
