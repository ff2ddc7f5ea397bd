internal import ArgumentParser

/// Options that choose among items of one name and account.
struct PartOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only the internet password of this port; 0: of none.", valueName: "port"))
    var port: UInt16?

    @Option(help: ArgumentHelp("Only the internet password of this path; \"\": of none.", valueName: "path"))
    var path: String?

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp("Only the internet password of this protocol, as in URLs; none: of none.", valueName: "name")
    )
    var protocolName: String?

    @Option(help: ArgumentHelp("Only the item with this label.", valueName: "label"))
    var label: String?

    var parts: ItemParts { ItemParts(port: port, path: path, protocolName: protocolName, label: label) }

    mutating func validate() throws { try parts.check("--protocol") }

    static let help = """
        A server may be written as `set --internet` takes it (example.com:8443, https://example.com/path). Where \
        several items have one name and account, --port, --path, --protocol and --label choose.
        """
}

/// The same for `edit`, whose --port and others say what changes.
struct FormerPartOptions: ParsableArguments {
    @Option(
        name: .customLong("from-port"),
        help: ArgumentHelp("Change only the internet password of this port; 0: of none.", valueName: "port"))
    var port: UInt16?

    @Option(
        name: .customLong("from-path"),
        help: ArgumentHelp("Change only the internet password of this path; \"\": of none.", valueName: "path"))
    var path: String?

    @Option(
        name: .customLong("from-protocol"),
        help: ArgumentHelp(
            "Change only the internet password of this protocol, as in URLs; none: of none.", valueName: "name"))
    var protocolName: String?

    @Option(
        name: .customLong("from-label"), help: ArgumentHelp("Change only the item with this label.", valueName: "label")
    )
    var label: String?

    var parts: ItemParts { ItemParts(port: port, path: path, protocolName: protocolName, label: label) }

    mutating func validate() throws { try parts.check("--from-protocol") }
}

extension ItemParts {
    fileprivate func check(_ option: String) throws {
        guard let protocolName, protocolName != Self.noProtocol, Self.code(of: protocolName) == nil else { return }
        throw ValidationError("\(option) needs a protocol such as https or imap, or none.")
    }
}
