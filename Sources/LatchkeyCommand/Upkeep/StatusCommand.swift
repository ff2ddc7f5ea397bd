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

            --json writes {"protection", "temporary", "dataDirectory", "storeID", "storeFormat", \
            "passcode", "protectors", "slots", "openClasses", "memoryLocked", "items": {"generic", \
            "internet", "certificate", "key"}, "damaged", "program": {"identity", "strength", "groups", \
            "nameableGroups"}, "missingKernelFeatures", "daemon": {"pid", "version"}, "enclave": {"pid"}, \
            "version"}. Strength is "none", "user" or "program".
            """)

    @Flag(help: "Write everything as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let keychain = try CommandKeychain.open(store, in: surroundings)
        let report = StatusReport(status: try keychain.status(), session: keychain.session)
        let text = json ? report.json.text + "\n" : report.text
        try printing { () throws(SystemCallError) in try surroundings.console.write(text) }
        return .done
    }
}
