import KeychainModel
import SecretServiceItems
import Testing

/// Where a search over the bus looks for what the command line stored.
@Suite struct ImpliedPlacesTests {
    private func places(_ pairs: [String: String]) throws -> [ItemPlace] {
        let wanted = try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) }))
        return ImpliedAttributes.places(for: wanted)
    }

    @Test(arguments: ["username", "account", "user"])
    func anAccountAloneIsLookedForInBothKinds(name: String) throws {
        let places = try places([name: "bob"])
        #expect(places.map(\.itemClass) == [.internetPassword, .genericPassword])
        #expect(places.allSatisfy { $0.attributes.map(\.0) == ["acct"] })
        #expect(try self.places([name: "bob", "xdg:schema": "org.freedesktop.Secret.Generic"]).count == 2)
    }

    /// A person may have ten thousand items of one account, of which none is one of that program's.
    @Test(arguments: [
        ["username": "bob", "colour": "red"], ["account": "bob", "xdg:schema": "org.example.Own"],
        ["service": "mail", "username": "bob", "uuid": "1"], ["xdg:schema": "org.freedesktop.Secret.Generic"], [:],
    ])
    func whatAnotherProgramCallsItsOwnIsLookedForNowhere(wanted: [String: String]) throws {
        #expect(try places(wanted).isEmpty)
    }
}
