internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus

/// What a client was given in place of an unlocked keychain: once it says so, a person is
/// asked for the passcode (0.2, "Prompts and Prompting").
struct UnlockPrompt: Sendable {
    let path: ObjectPath
    let number: UInt64
    /// The connection that it was made for; nobody else may have it shown.
    let owner: String
    /// On whose terminal or display it is shown.
    let process: Int32
    /// What its client wants to have open.
    let wanted: [ObjectPath]
}

/// The prompts of all clients. One is shown at a time; who asks meanwhile waits.
///
/// What is typed goes from latchkey-prompt to the enclave and never comes here.
final class UnlockPrompts {
    private enum Fate {
        case made
        case waiting
        case shown(ChildProcess, gone: Descriptor)
    }

    private var prompts: [ObjectPath: (prompt: UnlockPrompt, fate: Fate)] = [:]
    /// Asked for, in that order, with the one that is shown.
    private var queue: [ObjectPath] = []
    private var number: UInt64 = 0
    private let loop: BusLoop
    private let program: PromptStarter
    /// Tells that a prompt is over; whether it opened the keychain says the keychain.
    private let over: (UnlockPrompt) -> Void

    /// As many as one connection may have; the oldest that nobody has asked for makes room.
    private static let most = 64

    init(in loop: BusLoop, _ program: PromptStarter, over: @escaping (UnlockPrompt) -> Void) {
        (self.loop, self.program, self.over) = (loop, program, over)
    }

    func isThere(_ path: ObjectPath) -> Bool { prompts[path] != nil }

    /// - Throws: IsLocked where the connection has too many that wait.
    func make(for owner: String, _ process: Int32, wanting wanted: [ObjectPath]) throws(BusError) -> ObjectPath {
        let theirs = prompts.values.filter { $0.prompt.owner == owner }
        if theirs.count >= Self.most {
            let unasked = theirs.filter { if case .made = $0.fate { true } else { false } }
            guard let oldest = unasked.min(by: { $0.prompt.number < $1.prompt.number }) else { throw .isLocked }
            prompts[oldest.prompt.path] = nil
        }
        number += 1
        let path = SecretServiceNames.prompts.appending("u\(number)")
        let prompt = UnlockPrompt(path: path, number: number, owner: owner, process: process, wanted: wanted)
        prompts[path] = (prompt, .made)
        return path
    }

    /// Has it shown, or wait for its turn. Asked for once more, nothing happens.
    func show(_ path: ObjectPath, for owner: String) throws(BusError) {
        guard let entry = prompts[path], entry.prompt.owner == owner else { throw .noObject(path) }
        guard case .made = entry.fate else { return }
        prompts[path]?.fate = .waiting
        queue.append(path)
        showNext()
    }

    func dismiss(_ path: ObjectPath, for owner: String) throws(BusError) {
        guard let entry = prompts[path], entry.prompt.owner == owner else { throw .noObject(path) }
        // What is shown is over once it has gone from the screen.
        if case .shown(let child, _) = entry.fate { child.askToEnd() } else { end(path) }
    }

    /// Nobody waits for its answers any more.
    func drop(of owner: String) {
        for (path, entry) in prompts where entry.prompt.owner == owner {
            if case .shown(let child, _) = entry.fate {
                child.askToEnd()
            } else {
                prompts[path] = nil
                queue.removeAll { $0 == path }
            }
        }
    }

    /// Somebody has opened the keychain, at one of them or elsewhere: nobody needs be asked.
    func keychainOpened() {
        for path in queue {
            if case .shown(let child, _)? = prompts[path]?.fate { child.askToEnd() } else { end(path) }
        }
    }

    // MARK: On the screen

    private func showNext() {
        guard let path = queue.first, let entry = prompts[path], case .waiting = entry.fate else { return }
        do throws(KeychainError) {
            let (child, gone) = try program.start(for: entry.prompt.process)
            prompts[path]?.fate = .shown(child, gone: gone)
            loop.watch(gone) { [weak self] in self?.hasGone(path) }
        } catch {
            // The client hears that nothing was opened; why says the next call that finds it locked.
            end(path)
        }
    }

    private func hasGone(_ path: ObjectPath) {
        guard case .shown(let child, let gone)? = prompts[path]?.fate else { return }
        loop.endWatch(of: gone)
        program.bury(child)
        end(path)
    }

    private func end(_ path: ObjectPath) {
        queue.removeAll { $0 == path }
        if let prompt = prompts.removeValue(forKey: path)?.prompt { over(prompt) }
        showNext()
    }
}

/// Starts latchkey-prompt, which asks in the session of the process that calls.
struct PromptStarter {
    private static let name = "latchkey-prompt"
    private let keychain: any KeychainTransport
    private let programDirectories: [String]
    private let clock: any KeychainClock

    init(_ keychain: any KeychainTransport, _ programDirectories: [String], clock: any KeychainClock) {
        (self.keychain, self.programDirectories, self.clock) = (keychain, programDirectories, clock)
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
            return (child, try child.gone())
        } catch { throw Self.nobody("\(error)") }
    }

    /// Of one that has ended, so that the kernel forgets it.
    func bury(_ child: ChildProcess) {
        // It has ended: nothing is waited for, and its status says nothing that the keychain does not.
        do throws(SystemCallError) { try child.status(until: Deadline(after: .seconds(1), on: clock)) } catch {}
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
