internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct LockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock the keychain until the passcode is given.",
        discussion: """
            Its keys are wiped from memory; with a fingerprint slot (`latchkey slot`) what a finger opens it again \
            with stays there, as long as a finger counts, and --stop wipes that too. Items that \
            programs may use in the background after the first unlock (kSecAttrAccessibleAfterFirstUnlock) stay open, as with Apple; what `latchkey set` stores closes. \
            Takes no passcode; without one set there is nothing to lock, and the status is 2 (--stop ends its programs \
            all the same, and the next that uses it finds it open). Where a slot opens \
            the keychain without a person (`latchkey slot`), the lock holds until its programs start anew, or until \
            somebody brings the credential.

            --stop closes those as well, as a boot does: it ends the daemon and the enclave after locking, and \
            returns once neither runs; what does not answer, or does not leave, is killed, which loses nothing that was \
            stored. The next program that uses the keychain starts them anew, before the \
            first unlock. Only what is always accessible (kSecAttrAccessibleAlways) opens then; with a TPM's slot \
            they open as ever.

            --login does nothing, with status 1, where no login password opens the keychain again, or where its \
            programs do not run: for pam_latchkey, when the last session ends.

            EXAMPLES
              latchkey lock
              latchkey lock --stop

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Then end the keychain's programs: what stays open after the first unlock closes too.")
    var stop = false

    @Flag(help: "Only where a login password opens it again; start nothing for it.")
    var login = false

    @Flag(help: "Write how the keychain is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        if login, stop || json { throw ValidationError("--login goes with neither --stop nor --json") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        if login { return try lockAfterLogin(surroundings) }
        closeFolder(surroundings)
        let programs = UpkeepProgram(surroundings, store)
        if stop, !programs.hasOwnStore {
            throw CommandFailure(
                .usage, "only a keychain of your own can be stopped; nothing was locked",
                "Leave out --stop: a temporary keychain ends with its command.")
        }
        if let path = surroundings.missingKeychain(store.dataDirectory) {
            guard stop else { throw .noKeychain(at: path) }
            // What runs all the same is ended; nothing is made for that.
            return FileStatus.isThere(path) ? try programs.run(["--stop"], replacing: false, json: false) : .done
        }
        if stop {
            let before: DeviceState
            do throws(CommandFailure) { before = try locked(surroundings).state } catch {
                // Whatever is the matter with the keychain, its programs are to end; not where
                // they are the last to have what its files lack.
                guard let reason = error.reason, reason != .keysAway, reason != .databaseAway else { throw error }
                return try ended(programs, error, didNotAnswer: Self.isSilence(reason), surroundings.console)
            }
            return try stopped(programs, before, surroundings.console)
        }
        var arguments = PersonArguments()
        arguments.json = json
        try arguments.report("Locked.", of: locked(surroundings), on: surroundings.console)
        return .done
    }

    /// A folder that was opened to others while its keychain is open would keep us from the
    /// daemon that has the keys. Locking is never what has to wait for that.
    private func closeFolder(_ surroundings: Surroundings) {
        guard let path = PersonReach.ownDirectory(store, surroundings) else { return }
        do throws(SystemCallError) {
            let status = try FileStatus(at: FilePath(path), followingLink: false)
            let database = try FileStatus(at: FilePath("\(path)/\(KeychainLocations.databaseName)"), followingLink: false)
            // A folder without a keychain of ours is no folder of ours to close.
            guard status.isDirectory, status.mode & 0o077 != 0, database.isRegularFile,
                [status.userID, database.userID].allSatisfy({ $0 == ProcessEnvironment.effectiveUserID })
            else { return }
            try FileMode.close(FilePath(path), isFolder: true)
            let mode = String(status.mode & 0o777, radix: 8)
            surroundings.console.note("\(PrintableText.escaped(path)) had mode \(mode), and has 700 now.")
        } catch { return }
    }

    private func locked(_ surroundings: Surroundings) throws(CommandFailure) -> PersonReach {
        let reach = try PersonReach(store, in: surroundings)
        guard reach.state.hasPasscode || !stop else { return reach }
        try reach.requirePasscode()
        try reach.ask { door throws(KeychainError) in try door.lock() }
        return reach
    }

    /// Whether its programs run and cannot be talked to.
    private static func isSilence(_ reason: Reason) -> Bool {
        switch reason {
        case .busy, .noAnswer, .versionMismatch, .daemonUnreachable, .enclaveUnreachable, .enclaveSilent: true
        default: false
        }
    }

    /// Programs that do not answer, or cannot open the keychain: what they held is gone with
    /// them all the same, and how it is nobody has told.
    private func ended(
        _ programs: UpkeepProgram, _ failure: CommandFailure, didNotAnswer: Bool, _ console: any Console
    ) throws(CommandFailure) -> ExitStatus {
        let status = try programs.run(["--stop"], replacing: false, json: false)
        guard status == .done else { return status }
        let matter = didNotAnswer ? "did not answer" : "cannot open it"
        guard !json else {
            throw CommandFailure(
                .unavailable, "the keychain's programs \(matter) and were ended; how it is they did not say",
                "`latchkey status` starts them anew and tells.")
        }
        console.note(
            "The keychain's programs \(matter) (\(failure.lines[0])). They have ended, and what they had open is "
                + "closed. Without a passcode the next program opens it again.")
        return .done
    }

    private func lockAfterLogin(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try PersonReach.requireLoginSlot(store, surroundings)
        guard let path = PersonReach.ownDirectory(store, surroundings) else {
            throw CommandFailure(.usage, "only a keychain of your own opens at a login", "Leave out --login.")
        }
        let door: any PersonDoor
        do throws(KeychainError) { door = try surroundings.personDoor(path).get() } catch {
            throw CommandFailure(.noMatch, "the keychain's programs do not run", "What is not started is locked.")
        }
        try PersonReach.asking(door) { door throws(KeychainError) in try door.lock() }
        return .done
    }

    /// - Parameter before: as it was when it was locked; asking again would start it anew.
    private func stopped(
        _ programs: UpkeepProgram, _ before: DeviceState, _ console: any Console
    ) throws(CommandFailure) -> ExitStatus {
        let status = try programs.run(["--stop"], replacing: false, json: false)
        guard status == .done else { return status }
        if json {
            var after = before
            if before.hasPasscode {
                after.lock = .beforeFirstUnlock
                after.fingerOpens = false
                after.openClasses = [.always, .alwaysThisDeviceOnly]
            }
            let line = DeviceText(after).json.text
            try printing { () throws(SystemCallError) in try console.write("\(line)\n") }
        }
        if console.errorIsTerminal {
            console.note(
                before.hasPasscode
                    ? "Locked, and its programs have ended."
                    : "Its programs have ended. There is no passcode: the next that uses the keychain finds it open.")
        }
        return .done
    }
}

struct UnlockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Open the keychain with the passcode.",
        discussion: """
            It stays open until `latchkey lock`, or until its programs end, as when the machine is shut down. \
            After failed attempts the next has to wait, longer each time; an attempt that comes too early is not \
            looked at. On a terminal it asks three times. The status is 3 where the keychain stays locked.

            The passcode is typed at a prompt that does not show it or, where standard input is not a terminal, \
            its first line; --passcode-fd reads it from a descriptor, and --passcode-credential from a \
            credential of the systemd unit that runs it. It is never an argument.

            With --slot it takes what `latchkey slot add credential` handed out in place of the passcode, for a \
            service that opens the keychain without a person; what takes a person then stays closed.

            With --login it takes the login password (`latchkey slot add login`), as pam_latchkey does at a login: \
            it opens everything. Where no login password opens the keychain nothing is started, and the status is 1; \
            where everything is open already, or where three attempts in a row failed, the password is not looked at: \
            then the passcode opens it, and begins the count anew. The right password forgets what was mistyped in \
            its place before.

            With --finger it waits for a finger on the reader, for a minute, where a finger may open the keychain \
            after a lock (`latchkey slot add fingerprint`); it needs no terminal. A finger opens everything that the \
            passcode opens, but for what a TPM keeps (`latchkey passcode effacement`). Five that are not recognized, in a row, and the passcode is needed; so it is two days \
            after it was typed, and once the keychain's programs have ended.

            EXAMPLES
              latchkey unlock
              latchkey unlock --finger
              ssh -t server latchkey unlock
              systemd-ask-password -n | latchkey unlock

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Take the recovery code instead of the passcode, or of hardware that is gone.")
    var recovery = false

    @Flag(help: "Take the credential of a slot (`latchkey slot add credential`) instead of the passcode.")
    var slot = false

    @Flag(help: "Take the login password (`latchkey slot add login`) instead of the passcode.")
    var login = false

    @Flag(help: "Wait for a finger (`latchkey slot add fingerprint`) instead of the passcode.")
    var finger = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    /// How often a person may type.
    private static let tries = 3

    func validate() throws {
        if [slot, recovery, login, finger].count(where: { $0 }) > 1 {
            throw ValidationError("--slot, --recovery, --login and --finger name several things; give one")
        }
        if finger { try arguments.expectNothingTyped() }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        if slot { return try openBySlot(surroundings) }
        if login { return try openByLogin(surroundings) }
        if finger { return try openByFinger(surroundings) }
        try surroundings.requireKeychain(store.dataDirectory)
        if recovery, let reach = try openWithCode(surroundings) { return try report(reach, console) }
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        if recovery, !reach.state.hasRecoveryCode {
            throw CommandFailure(.locked, "there is no recovery code", "Leave out --recovery and give the passcode.")
        }
        var input = arguments.input(console)
        if reach.state.fingerOpens, input.canAskAgain {
            console.note("Or touch the fingerprint reader: latchkey unlock --finger")
        }
        for _ in 1..<(input.canAskAgain ? Self.tries : 1) {
            if try opens(reach, with: input.credential(recovery: recovery)) { return try report(reach, console) }
            console.note("That is not right. Try again.")
        }
        let last = try input.credential(recovery: recovery)
        try reach.ask { door throws(KeychainError) in try door.unlock(with: last) }
        return try report(reach, console)
    }

    /// Without a person: what takes one stays closed.
    private func openBySlot(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        var input = arguments.input(surroundings.console)
        let credential = SharedSecret(try input.existing("Credential: "))
        try PersonReach.asking { () throws(KeychainError) in try door.unlock(bySlot: credential) }
        return try report(reach, surroundings.console)
    }

    /// With as many failed attempts the login password is not sent. Where it is another by
    /// now, logins would fail one after the other, until the passcode has to wait for an hour.
    private static let failuresBeforeNoLogin = 3

    /// Everything that the passcode opens. One attempt: whoever logs in has typed it.
    private func openByLogin(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try PersonReach.requireLoginSlot(store, surroundings)
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let isOpen = reach.state.openClasses.contains(.whenPasscodeSetThisDeviceOnly) && !reach.state.isClosing
        guard !isOpen else { return try report(reach, surroundings.console) }
        guard reach.state.failedAttempts < Self.failuresBeforeNoLogin else {
            throw CommandFailure(
                .locked, "\(reach.state.failedAttempts) attempts in a row failed, so the login password is not tried",
                "`latchkey unlock` takes the passcode.")
        }
        let door = try reach.remoteDoor()
        var input = arguments.input(surroundings.console)
        let password = SharedSecret(try input.existing("Login password: "))
        try PersonReach.asking { () throws(KeychainError) in try door.unlock(byLogin: password) }
        return try report(reach, surroundings.console)
    }

    /// Everything that the passcode opens. Ctrl-C ends it; the reader is free then.
    private func openByFinger(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        guard reach.state.fingerUnlocks else {
            throw CommandFailure(
                .locked, "no finger opens this keychain",
                "`latchkey unlock` takes the passcode; `latchkey slot add fingerprint` has a finger open it after a lock."
            )
        }
        let door = try reach.remoteDoor()
        if reach.state.fingerOpens { console.note("Put a finger on the reader.") }
        while let event = try PersonReach.asking({ () throws(KeychainError) in try door.unlockByFinger() }) {
            switch event {
            case .notRecognized: console.note("Not recognized. Try again.")
            case .unreadable: console.note("It could not be read. Try again.")
            case .over: break
            }
        }
        let state = try reach.presentState()
        if state.effacement.tpm != nil, !state.openClasses.contains(.whenPasscodeSetThisDeviceOnly) {
            console.note(
                "What is kept as long as the passcode is set stays closed: the TPM is asked for it when the passcode is "
                    + "typed (`latchkey unlock`).")
        }
        return try report(reach, console)
    }

    /// Where no protector opens the keychain at all, the code does; nil: one does.
    private func openWithCode(_ surroundings: Surroundings) throws(CommandFailure) -> PersonReach? {
        do throws(CommandFailure) {
            _ = try PersonReach(store, in: surroundings)
            return nil
        } catch {
            // Damaged: nothing opens it; unavailable: a device says nothing.
            guard error.status == .damaged || error.status == .unavailable,
                let path = PersonReach.ownDirectory(store, surroundings), EnclaveRendezvous.last(inData: path) != nil
            else { throw error }
            let door = try PersonReach.asking { () throws(KeychainError) in try surroundings.personDoor(path).get() }
            var input = arguments.input(surroundings.console)
            let code = try input.credential(recovery: true)
            try PersonReach.asking(door) { door throws(KeychainError) in try door.unlock(with: code) }
            surroundings.console.note(
                "Opened with the recovery code, because nothing else did. `latchkey protector test` shows what does "
                    + "not work; `latchkey protector reseal` or `add software` mends it, before the next start.")
            return try PersonReach(store, in: surroundings)
        }
    }

    /// False where it is not right; all else is a failure.
    private func opens(_ reach: PersonReach, with credential: PersonCredential) throws(CommandFailure) -> Bool {
        try reach.ask { door throws(KeychainError) -> Bool in
            do throws(KeychainError) { try door.unlock(with: credential) } catch {
                guard error.reason == .authenticationFailed else { throw error }
                return false
            }
            return true
        }
    }

    private func report(_ reach: PersonReach, _ console: any Console) throws(CommandFailure) -> ExitStatus {
        try arguments.report("Unlocked.", of: reach, on: console)
        return .done
    }
}

extension FileStatus {
    /// Whether something is there, a link that leads nowhere too; also where nobody can tell.
    static func isThere(_ path: String) -> Bool {
        do throws(SystemCallError) {
            _ = try FileStatus(at: FilePath(path), followingLink: false)
            return true
        } catch { return !error.isNoSuchFile }
    }
}
