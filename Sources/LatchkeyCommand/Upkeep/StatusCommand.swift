internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct StatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what protects the secrets now, where they lie and what this program may see.",
        discussion: """
            Items are counted as this program sees them. A group that "may be named" is never \
            searched unless a call names it.

            --follow writes a line with each change of the lock, the passcode, the recovery code and the failed \
            attempts, the present state first, until Ctrl-C; fields are separated by tabs where nobody looks on. \
            It goes on with the next daemon where one ends.

            EXAMPLES
              latchkey status
              latchkey status --follow --json | jq --unbuffered -r .lock

            --json writes {"protection", "temporary", "dataDirectory", "storeID", "storeFormat", \
            \(DeviceText.statusForm), "protectors", "slots", "startRefusal", "loginsFault", "openClasses", \
            "unrepairedFiles": [NAME], "memoryLocked", "items": {"generic", "internet", "certificate", "key"}, "damaged", "mayLackItems", "program": {"identity", "strength", "groups", \
            "nameableGroups"}, "missingKernelFeatures", "daemon": {"pid", "version"}, "enclave": {"pid"}, \
            "version"}. Strength is "none", "user" or "program"; lock is "unlocked", "locked" or \
            "before-first-unlock". With --follow it writes \(DeviceText.jsonForm), one object a line.
            """)

    @Flag(help: "Write a line with each change of the lock, until Ctrl-C.")
    var follow = false

    @Flag(help: "Write everything as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        if follow { return try followed(in: surroundings) }
        let keychain = try CommandKeychain.open(store, in: surroundings)
        let report = StatusReport(
            status: try keychain.status(), session: keychain.session, device: try keychain.deviceState(),
            mayLackItems: keychain.mayLackItems())
        let text = json ? report.json.text + "\n" : report.text
        try printing { () throws(SystemCallError) in try surroundings.console.write(text) }
        return .done
    }

    private func followed(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        var watch = LockWatch(try PersonReach(store, in: surroundings), until: try surroundings.endOfWatch())
        if console.outputIsTerminal { console.note("Following; Ctrl-C ends it.") }
        while let state = try watch.next() {
            let line = json ? state.json.text : state.line(forPerson: console.outputIsTerminal)
            try printing { () throws(SystemCallError) in try console.write("\(line)\n") }
        }
        return .done
    }
}
