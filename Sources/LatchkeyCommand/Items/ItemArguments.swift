internal import ArgumentParser

/// How a person names an item that is there.
struct ItemArguments: ParsableArguments {
    @Argument(help: "The service, or the server of an internet password.")
    var service: String

    @Argument(help: "The account; needed where the service has several.")
    var account: String?

    @Flag(help: "Look for internet passwords only.")
    var internet = false

    func name(_ parts: ItemParts) -> ItemName {
        ItemName(kind: internet ? .internet : nil, service: service, account: account, parts: parts)
    }
}
