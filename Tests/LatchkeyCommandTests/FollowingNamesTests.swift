import KeychainModel
import SecretServiceItems
import Testing

/// What programs of the Secret Service find an item by once a person has renamed it.
@Suite struct FollowingNamesTests {
    private static let network = "org.gnome.keyring.NetworkPassword"
    /// git-credential-libsecret's since git 2.42.
    private static let git = "org.git.Password"

    private func lookup(_ pairs: [String: String]) throws -> LookupAttributes {
        try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) }))
    }

    /// An item where these attributes put it, and another as which it goes on.
    private func followed(_ pairs: [String: String], _ changes: [AttributeCode: AttributeValue]) throws
        -> [String: String]
    {
        let before = try lookup(pairs)
        var old = AttributeMap()
        for (name, value) in ItemPlace.candidates(for: before, label: "L", serial: { "" })[0].attributes {
            let code = try #require(AttributeCode(name))
            switch value {
            case .string(let text): old[code] = .string(text)
            case .integer(let number): old[code] = .integer(number)
            default: Issue.record("\(name) is neither text nor number")
            }
        }
        var new = old
        for (code, value) in changes { new[code] = value }
        return Dictionary(before.following(from: old, to: new).pairs.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private func expect(
        _ pairs: [String: String], changed changes: [AttributeCode: AttributeValue], become: [String: String?],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var expected = pairs
        for (name, value) in become { expected[name] = value }
        #expect(try followed(pairs, changes) == expected, sourceLocation: location)
    }

    /// The item has the host in lower case.
    @Test func aHostInCapitalsFollowsAndElseStaysAsItWasSpelled() throws {
        for schema in [Self.network, Self.git] {
            let git = ["xdg:schema": schema, "protocol": "https", "server": "Git.Example", "user": "u"]
            try expect(git, changed: [.account: .string("v")], become: ["user": "v"])
            try expect(git, changed: [.server: .string("other.example")], become: ["server": "other.example"])
        }
    }

    /// Earlier versions had it as it was spelled: such an item goes with attributes that lose its name.
    @Test func anItemUnderAHostInCapitalsIsThatOfItsAttributes() throws {
        let git = try lookup(["xdg:schema": Self.git, "protocol": "https", "server": "Git.Example", "user": "u"])
        let (old, new) = (ItemNaming(git, label: "L"), ItemNaming(try lookup(["colour": "red"]), label: "L"))
        for (server, moves) in [("Git.Example", true), ("git.example", true), ("other.example", false)] {
            var held = AttributeMap()
            held[.server] = .string(server)
            held[.account] = .string("u")
            held["ptcl"] = .string("htps")
            let places = ItemPlace.moves(of: held, .internetPassword, from: old, to: new, serial: { "s" })
            #expect(places.isEmpty != moves, "\(server)")
        }
    }

    @Test func serviceAndAccountFollow() throws {
        let mail = ["service": "mail", "username": "alice", "application": "a"]
        try expect(mail, changed: [.account: .string("bob")], become: ["username": "bob"])
        try expect(mail, changed: [.account: .string("")], become: ["username": ""])
        try expect(mail, changed: [.service: .string("post")], become: ["service": "post"])
        try expect(mail, changed: [.label: .string("x"), "icmt": .string("y")], become: [:])
        // The name that is looked for first says the account.
        try expect(
            ["service": "mail", "user": "u", "account": "alice"], changed: [.account: .string("bob")],
            become: ["account": "bob"])
        try expect(
            ["xdg:schema": "org.qt.keychain", "server": "Cloud", "user": "k", "type": "plaintext"],
            changed: [.service: .string("Sky"), .account: .string("l")], become: ["server": "Sky", "user": "l"])
        try expect(
            ["xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chromium"],
            changed: [.account: .string("other"), .service: .string("Safe")], become: ["application": "other"])
    }

    @Test(arguments: [network, git]) func aServerFollowsWithItsPort(schema: String) throws {
        let git = ["xdg:schema": schema, "server": "example.com", "protocol": "https", "user": "alice"]
        try expect(
            git, changed: [.server: .string("example.org"), .account: .string("bob")],
            become: ["server": "example.org", "user": "bob"])
        try expect(git, changed: ["port": .integer(8443)], become: ["port": "8443"])
        try expect(git, changed: ["ptcl": .string("http")], become: ["protocol": "http"])
        try expect(git, changed: ["path": .string("/r.git")], become: ["object": "/r.git"])
        let port = git.merging(["server": "example.com:8443"]) { $1 }
        try expect(port, changed: ["port": .integer(9)], become: ["server": "example.com:9"])
        try expect(port, changed: [.server: .string("[::1]")], become: ["server": "[::1]:8443"])
        try expect(
            git.merging(["object": "r.git"]) { $1 }, changed: ["path": .string("")], become: ["object": nil])
    }

    @Test func dockersAddressFollowsInItsParts() throws {
        let login = [
            "xdg:schema": "io.docker.Credentials", "label": "Docker Credentials", "docker_cli": "1",
            "server": "https://index.docker.io/v1/", "username": "alice",
        ]
        try expect(login, changed: [.account: .string("bob")], become: ["username": "bob"])
        try expect(
            login, changed: [.server: .string("r.example")], become: ["server": "https://r.example/v1/"])
        // A path stays one, and no address loses its host.
        try expect(login, changed: ["path": .string("v2")], become: ["server": "https://index.docker.io/v2"])
        try expect(login, changed: [.server: .string("")], become: [:])
        try expect(
            login, changed: ["port": .integer(5000), "path": .string("/v2/"), "ptcl": .string("http")],
            become: ["server": "http://index.docker.io:5000/v2/"])
        let bare = login.merging(["server": "r.example:5000"]) { $1 }
        try expect(bare, changed: ["ptcl": .string("htps")], become: [:])
        try expect(bare, changed: ["port": .integer(6000)], become: ["server": "r.example:6000"])
    }

    /// NetworkManager's identifiers, an item whose place is its digest, and what an item said
    /// otherwise all along.
    @Test func whatDoesNotSayTheNameStays() throws {
        let connection = [
            "xdg:schema": "org.freedesktop.NetworkManager.Connection", "connection-uuid": "u", "setting-name": "n",
            "setting-key": "k",
        ]
        try expect(connection, changed: [.account: .string("x"), .service: .string("y")], become: [:])
        try expect(["colour": "red", "username": "u"], changed: [.account: .string("x")], become: [:])
        // A name that is no text is not said by text.
        try expect(
            ["service": "mail", "username": "alice"], changed: [.account: .data([0x61])], become: [:])
        let before = try lookup(["service": "mail", "username": "alice"])
        var (old, new) = (AttributeMap(), AttributeMap())
        (old[.service], new[.service]) = (.string("post"), .string("letters"))
        (old[.account], new[.account]) = (.string("alice"), .string("alice"))
        #expect(before.following(from: old, to: new) == before)
    }

    /// Composed and decomposed are two names to everybody but Swift.
    @Test func namesAreTheirBytes() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let before = try lookup(["service": "mail", "username": composed])
        var (old, new) = (AttributeMap(), AttributeMap())
        (old[.service], new[.service]) = (.string("mail"), .string("mail"))
        (old[.account], new[.account]) = (.string(composed), .string(decomposed))
        let username = { (found: LookupAttributes) in
            found.pairs.first { $0.name == "username" }.map { Array($0.value.utf8) }
        }
        #expect(username(before.following(from: old, to: new)) == Array(decomposed.utf8))
        (old[.account], new[.account]) = (.string(decomposed), .string("bob"))
        #expect(username(before.following(from: old, to: new)) == Array(composed.utf8))
    }
}
