internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus

/// What a client was given in place of an unlocked keychain: once it says so, a person is
/// asked for the passcode (0.2, "Prompts and Prompting").
struct UnlockPrompt {
    let path: ObjectPath
    let number: UInt64
    /// The connection that it was made for; nobody else may have it shown.
    let owner: String
    /// On whose terminal or display it is shown; nil: nobody can be asked, and it is over as
    /// soon as it is to be shown.
    let place: Place?
    let purpose: Purpose

    struct Place: Sendable {
        let process: Int32
        /// The process, held: another that gets its number is not asked in its name.
        let holder: ProcessHandle
    }

    /// What its end decides.
    enum Purpose {
        /// Whether these are open, each once (0.2, "Unlock").
        case unlock([ObjectPath])
        /// Whether it is done, in the name of a program (0.2, "CreateCollection", "Delete").
        case step(Step, by: ServedProgram?)
        /// How a portal's call is answered.
        case portal(PortalCall)
    }

    enum Step {
        case create(label: String, alias: String)
        case delete(ObjectPath)
    }

    enum Ending {
        /// A person opened the keychain at it.
        case opened
        /// The person or the client did not want it, nobody could be asked, or the keychain was
        /// opened elsewhere.
        case unopened
    }
}

/// The prompts of all clients. A connection has one shown at a time; what it asks for
/// meanwhile ends with that. Nobody waits for another's, but on one terminal (``Pinentry``).
///
/// What is typed goes from latchkey-prompt to the enclave and never comes here.
final class UnlockPrompts {
    fileprivate enum Fate {
        case made
        /// Ends with the one that its connection has shown.
        case joined
        case shown(ChildProcess, gone: Descriptor)
        /// Leaves the screen; nobody waits for how it ends.
        case left(ChildProcess, gone: Descriptor)
    }

    private var prompts: [ObjectPath: (prompt: UnlockPrompt, fate: Fate)] = [:]
    private var number: UInt64 = 0
    private let loop: BusLoop
    private let program: PromptStarter
    /// Whether the keychain is open says the keychain.
    private let over: (UnlockPrompt, UnlockPrompt.Ending) -> Void

    /// As many as one connection may have; the oldest that nobody has asked for makes room.
    private static let most = 8
    /// As many as are shown at once.
    private static let mostShown = 64

    init(in loop: BusLoop, _ program: PromptStarter, over: @escaping (UnlockPrompt, UnlockPrompt.Ending) -> Void) {
        (self.loop, self.program, self.over) = (loop, program, over)
    }

    func isThere(_ path: ObjectPath) -> Bool { prompts[path] != nil }

    func hasRequest(_ handle: ObjectPath) -> Bool { !requests(handle).isEmpty }

    /// The prompt that a portal's request waits for.
    func prompt(ofRequest handle: ObjectPath, of owner: String) -> ObjectPath? {
        requests(handle).first { $0.owner == owner }?.path
    }

    private func requests(_ handle: ObjectPath) -> [UnlockPrompt] {
        prompts.values.compactMap { entry in
            guard case .portal(let call) = entry.prompt.purpose, call.handle == handle, !entry.fate.isLeft else {
                return nil
            }
            return entry.prompt
        }
    }

    private var shownCount: Int { prompts.values.count { $0.fate.isShown } }

    /// - Throws: IsLocked where there are too many, or the process has gone.
    func make(
        for owner: String, _ caller: BusCaller, _ purpose: UnlockPrompt.Purpose
    ) throws(BusError) -> ObjectPath {
        guard let process = caller.process, let holder = Self.holder(of: caller), shownCount < Self.mostShown else {
            throw .isLocked
        }
        return try make(for: owner, at: UnlockPrompt.Place(process: process, holder: holder), purpose)
    }

    private static func holder(of caller: BusCaller) -> ProcessHandle? {
        do throws(SystemCallError) { return try caller.hold() } catch { return nil }
    }

    /// One that nobody can be shown: its client hears at once that it was dismissed.
    ///
    /// - Throws: IsLocked where there are too many.
    func makeForNobody(for owner: String, wanting wanted: [ObjectPath]) throws(BusError) -> ObjectPath {
        try make(for: owner, at: nil, .unlock(wanted))
    }

    private func make(
        for owner: String, at place: UnlockPrompt.Place?, _ purpose: UnlockPrompt.Purpose
    ) throws(BusError) -> ObjectPath {
        let theirs = prompts.values.filter { $0.prompt.owner == owner }
        if theirs.count >= Self.most {
            let unasked = theirs.filter { if case .made = $0.fate { true } else { false } }
            guard let oldest = unasked.min(by: { $0.prompt.number < $1.prompt.number }) else { throw .isLocked }
            prompts[oldest.prompt.path] = nil
        }
        number += 1
        let path = SecretServiceNames.prompts.appending("u\(number)")
        let prompt = UnlockPrompt(path: path, number: number, owner: owner, place: place, purpose: purpose)
        prompts[path] = (prompt, .made)
        return path
    }

    /// Has it shown. Asked for once more, nothing happens.
    func show(_ path: ObjectPath, for owner: String) throws(BusError) {
        guard let entry = prompts[path], entry.prompt.owner == owner else { throw .noObject(path) }
        guard case .made = entry.fate else { return }
        if prompts.values.contains(where: { $0.prompt.owner == owner && $0.fate.isShown }) {
            prompts[path]?.fate = .joined
        } else {
            start(entry.prompt)
        }
    }

    func dismiss(_ path: ObjectPath, for owner: String) throws(BusError) {
        guard let entry = prompts[path], entry.prompt.owner == owner else { throw .noObject(path) }
        // What is shown is over once it has gone from the screen.
        if case .shown(let child, _) = entry.fate { child.askToEnd() } else { end(path) }
    }

    /// Nobody waits for its answers any more.
    func drop(of owner: String) {
        for (path, entry) in prompts where entry.prompt.owner == owner {
            switch entry.fate {
            case .shown(let child, let gone):
                prompts[path]?.fate = .left(child, gone: gone)
                child.askToEnd()
            case .left: break
            case .made, .joined: prompts[path] = nil
            }
        }
    }

    /// Somebody has opened the keychain, at one of them or elsewhere: nobody needs be asked.
    func keychainOpened() {
        for entry in prompts.values {
            if case .shown(let child, _) = entry.fate { child.askToEnd() }
        }
    }

    // MARK: On the screen

    private func start(_ prompt: UnlockPrompt) {
        do throws(KeychainError) {
            guard let place = prompt.place, place.holder.isAlive, shownCount < Self.mostShown else {
                return end(prompt.path)
            }
            let (child, gone) = try program.start(for: place.process)
            prompts[prompt.path]?.fate = .shown(child, gone: gone)
            loop.watch(gone) { [weak self] in self?.hasGone(prompt.path) }
        } catch {
            // The client hears that nothing was opened; why says the next call that finds it locked.
            end(prompt.path)
        }
    }

    private func hasGone(_ path: ObjectPath) {
        guard let entry = prompts[path] else { return }
        switch entry.fate {
        case .made, .joined: return
        case .left(let child, let gone):
            loop.endWatch(of: gone)
            child.bury()
            prompts[path] = nil
        case .shown(let child, let gone):
            loop.endWatch(of: gone)
            let ending: UnlockPrompt.Ending = child.bury() == 0 ? .opened : .unopened
            end(path, ending)
            for (joined, other) in prompts where other.prompt.owner == entry.prompt.owner {
                if case .joined = other.fate { end(joined, ending) }
            }
        }
    }

    private func end(_ path: ObjectPath, _ ending: UnlockPrompt.Ending = .unopened) {
        if let prompt = prompts.removeValue(forKey: path)?.prompt { over(prompt, ending) }
    }
}

extension UnlockPrompts.Fate {
    /// Whether it is on the screen.
    fileprivate var isShown: Bool {
        switch self {
        case .shown, .left: true
        case .made, .joined: false
        }
    }

    fileprivate var isLeft: Bool { if case .left = self { true } else { false } }
}

/// Starts latchkey-prompt, which asks in the session of the process that calls.
struct PromptStarter {
    private static let name = "latchkey-prompt"
    private let keychain: any KeychainTransport
    private let programDirectories: [String]

    init(_ keychain: any KeychainTransport, _ programDirectories: [String]) {
        (self.keychain, self.programDirectories) = (keychain, programDirectories)
    }

    /// - Returns: the program, and what is readable once it has ended.
    func start(for process: Int32) throws(KeychainError) -> (ChildProcess, gone: Descriptor) {
        let prompt = programDirectories.map { "\($0)/\(Self.name)" }.first { TrustedPath.isExecutableOfOurs($0) }
        guard let prompt else { throw Self.nobody("\(Self.name) is not installed") }
        guard let enclave = EnclaveRendezvous.last(inData: try dataDirectory(of: keychain)) else {
            throw Self.nobody("there is no enclave")
        }
        do throws(SystemCallError) {
            let unused = try EventSignal().descriptor
            let child = try ChildProcess.start(
                prompt, arguments: ["--run", enclave.runDirectory, "--unlock", "--for", "\(process)"],
                environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], third: unused, fourth: unused)
            do throws(SystemCallError) { return (child, try child.gone()) } catch {
                child.bury()
                throw error
            }
        } catch { throw Self.nobody("\(error)") }
    }

    private static func nobody(_ why: String) -> KeychainError {
        KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: why))
    }
}

/// The folder of a keychain, as its daemon tells it.
func dataDirectory(of keychain: any KeychainTransport) throws(KeychainError) -> String {
    guard let status = try keychain.perform(KeychainRequest(.status)).status else {
        throw KeychainError(.internalComponent, reason: .internalFault(what: "no status came"))
    }
    return status.dataDirectory
}
