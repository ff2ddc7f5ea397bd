internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus
internal import PersonPrompt
internal import SecretServiceReach

/// What opens and locks: Unlock, Lock, prompts, and the signals that tell of it.
///
/// The keychain has one lock. Whoever unlocks or locks one collection does so with all
/// of them, but for `session`, which nothing closes.
extension SecretServiceDoor {
    /// What is open is; for the rest there is a prompt where a person could be asked on
    /// behalf of the caller, on its own terminal or display.
    ///
    /// Where nobody could be, a program hears it by the error and its text, which names the
    /// command that unlocks: a dismissed prompt most of them take for "there is no such item"
    /// (libsecret does). But who has asked this service whether a collection or an item is
    /// `Locked`, and so looks again, gets a prompt that is dismissed at once: Python's keyring
    /// makes its KeyringLocked of that, which its callers know, and no error but that one.
    ///
    /// - Throws: IsLocked where nobody could be asked.
    func unlock(_ call: BusCall) throws(BusError) -> [BusValue] {
        let (open, closed) = try present(try paths(call))
        guard !closed.isEmpty else { return [.paths(open), .path(.none)] }
        guard let process = call.caller.process, PromptReach.canAsk(for: process) else {
            guard lookers.contains(call.sender) else { throw .isLocked }
            return [.paths(open), .path(try prompts.makeForNobody(for: call.sender, wanting: closed))]
        }
        return [.paths(open), .path(try prompts.make(for: call.sender, call.caller, .unlock(closed)))]
    }

    /// Those that are collections, aliases of one, or items.
    private func present(_ paths: [ObjectPath]) throws(BusError) -> (open: [ObjectPath], closed: [ObjectPath]) {
        var collections: [(path: ObjectPath, collection: SecretCollection)] = []
        var known: Set<ObjectPath> = []
        for path in paths where known.insert(path).inserted {
            let collection: SecretCollection
            switch try translating({ () throws(KeychainError) in try target(of: path) }) {
            case .collection(let named): collection = named
            case .item(let place): collection = place.collection
            default: continue
            }
            collections.append((path, collection))
        }
        guard !collections.isEmpty, try isLocked() else { return (collections.map(\.path), []) }
        let isOpen = { (collection: SecretCollection) in collection.name == SecretCollection.session }
        return (
            collections.filter { isOpen($0.collection) }.map(\.path),
            collections.filter { !isOpen($0.collection) }.map(\.path)
        )
    }

    /// Those that are locked now. Where there is no passcode nothing can be: it could not
    /// be opened again.
    func lock(_ call: BusCall) throws(BusError) -> [BusValue] {
        let (open, closed) = try present(try paths(call))
        let asked = open.filter { path in
            guard let elements = path.elements(below: SecretServiceNames.root) else { return false }
            return !elements.prefix(2).contains(SecretCollection.session)
        }
        guard !asked.isEmpty, try lockKeychain() else { return [.paths(closed), .path(.none)] }
        return [.paths(closed + asked), .path(.none)]
    }

    /// Whether there is a passcode, and so a lock.
    func lockKeychain() throws(BusError) -> Bool {
        try translating { () throws(KeychainError) in
            guard try keychain.whateverSilence.perform(KeychainRequest(.device)).device?.hasPasscode ?? false else {
                return false
            }
            try person().lock()
            // Before the answer, as clients know it of gnome-keyring; the follower hears it too.
            lockChanged(toOpen: false)
            return true
        }
    }

    /// The enclave itself, past the daemon.
    func person() throws(KeychainError) -> RemotePersonDoor {
        try RemotePersonDoor.present(inData: try dataDirectory(of: keychain.whateverSilence), clock: clock)
    }

    // MARK: Prompts

    func answer(_ call: BusCall, ofPrompt path: ObjectPath) throws(BusError) -> [BusValue] {
        switch (call.member, call.arguments.count) {
        // The window's identifier is a toolkit's, of which latchkey-prompt's programs take none.
        case ("Prompt", 1): try prompts.show(path, for: call.sender)
        case ("Dismiss", 0): try prompts.dismiss(path, for: call.sender)
        default: throw BusError(.unknownMethod, "a prompt has no method \(call.member) like that")
        }
        return []
    }

    /// - Throws: IsLocked where nobody can be asked.
    func askPerson(before step: UnlockPrompt.Step, for call: BusCall) throws(BusError) -> ObjectPath {
        guard let process = call.caller.process, PromptReach.canAsk(for: process) else { throw .isLocked }
        return try prompts.make(for: call.sender, call.caller, .step(step, by: keychain.program))
    }

    func promptEnded(_ prompt: UnlockPrompt, _ ending: UnlockPrompt.Ending) {
        switch prompt.purpose {
        case .portal(let call): answerAfterPrompt(call)
        case .unlock(let wanted):
            // A keychain that does not answer was not opened.
            var isOpen = false
            do throws(BusError) { isOpen = try !isLocked(keychain.whateverSilence) } catch {}
            tellCompleted(prompt, isOpen ? .paths(wanted) : nil, orElse: .paths([]))
        case .step(let step, let program):
            var result: BusValue?
            // Of a failure the client hears by nothing but this.
            do throws(BusError) {
                if case .opened = ending {
                    result = try inTheName(of: program) { () throws(BusError) in try take(step) }
                }
            } catch {}
            tellCompleted(prompt, result, orElse: .string(""))
        }
    }

    /// - Parameter result: nil: it was dismissed.
    private func tellCompleted(_ prompt: UnlockPrompt, _ result: BusValue?, orElse nothing: BusValue) {
        emit(
            "Completed", of: SecretServiceNames.prompt, at: prompt.path,
            [.boolean(result == nil), .variant(result ?? nothing)])
    }

    private func take(_ step: UnlockPrompt.Step) throws(BusError) -> BusValue {
        switch step {
        case .create(let label, let alias): return .path(try createCollection(labelled: label, alias: alias))
        case .delete(let path):
            // What the program may reach by now.
            guard
                case .collection(let collection)? = try translating({ () throws(KeychainError) in
                    try target(of: path)
                })
            else { throw .noObject(path) }
            try delete(collection)
            return .string("")
        }
    }

    // MARK: What was heard

    /// Tells whoever listens, once it is another state than was told before.
    func lockChanged(toOpen isOpen: Bool) {
        guard let before = toldOpen.take() else { return toldOpen = isOpen }
        toldOpen = isOpen
        guard before != isOpen else { return }
        if isOpen { prompts.keychainOpened() }
        // What everybody is told is not measured by who calls now.
        tellingEverybody {
            // A keychain that does not answer has no collections to tell of.
            do throws(KeychainError) { tell(try book.all(), toOpen: isOpen) } catch { toldOpen = before }
        }
    }

    private func tell(_ all: [SecretCollection], toOpen isOpen: Bool) {
        for collection in all where collection.name != SecretCollection.session {
            tellChange(of: SecretServiceNames.collection, at: collection.path, [("Locked", .boolean(!isOpen))])
            emit(
                "CollectionChanged", of: SecretServiceNames.service, at: SecretServiceNames.root,
                [.path(collection.path)])
        }
        tellItems(toOpen: isOpen)
    }

    /// As gnome-keyring does it for each item: clients that have read some hear that those are
    /// locked, or what they are now that they are open.
    private func tellItems(toOpen isOpen: Bool) {
        let paths = told.turn(toClosed: !isOpen)
        var places: [ItemObject] = []
        do throws(KeychainError) {
            for path in paths {
                if case .item(let place)? = try target(of: path), place.collection.name != SecretCollection.session {
                    places.append(place)
                }
            }
            var content: [PersistentReference: SecretItem] = [:]
            if isOpen {
                let found = try items.items(places.map { ($0.reference, $0.collection.name) }, .description)
                for item in found { told.renew(item) }
                // A policy keeps what items are called from somebody: a signal is everybody's.
                if try isEverybodys() {
                    content = Dictionary(found.map { ($0.reference, $0) }) { first, _ in first }
                }
            }
            for place in places {
                let properties = content[place.reference].map { Self.properties(of: $0) }
                tellChange(
                    of: SecretServiceNames.item, at: place.path, properties ?? [("Locked", .boolean(!isOpen))])
                emit("ItemChanged", of: SecretServiceNames.collection, at: place.collection.path, [.path(place.path)])
            }
        } catch {
            // They are told with the next change, and whoever reads them anew hears it.
            for path in paths { told.turnBack(path, toClosed: isOpen) }
        }
    }

    func isEverybodys() throws(KeychainError) -> Bool {
        do throws(BusError) { return try currentPolicy() == .everybody } catch { return false }
    }
}
