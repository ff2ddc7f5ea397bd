import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `git-credential-latchkey` with a real daemon and enclave: called by git, and called as
/// newer versions of git call it than there are here.
@Suite struct GitHelperEndToEndTests {
    let programs: BuiltPrograms

    init() throws {
        programs = try BuiltPrograms()
        // What git does for itself: no configuration of the machine's, and no prompt.
        try #"[credential]\#n helper = latchkey\#n"#.write(
            toFile: programs.home + "/.gitconfig", atomically: true, encoding: .utf8)
    }

    static let quiet: [String: String?] = ["GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"]

    @discardableResult
    func git(_ action: String, _ lines: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(
            "/usr/bin/git", ["credential", action], input: Data((lines.joined(separator: "\n") + "\n").utf8),
            changing: Self.quiet)
    }

    @discardableResult
    func helper(_ action: String, _ lines: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(
            "\(BuiltPrograms.folder)/git-credential-latchkey", [action],
            input: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    func get(_ lines: String...) throws -> String {
        let outcome = try programs.run(
            "\(BuiltPrograms.folder)/git-credential-latchkey", ["get"],
            input: Data((lines.joined(separator: "\n") + "\n\n").utf8))
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        return outcome.text
    }

    static let place = "protocol=https\nhost=git.example"

    // MARK: git itself

    @Test(arguments: ["git.example:8443", "https://git.example:8443", "https://git.example:8443/"])
    func gitFindsWhatAPersonStoredForAPort(server: String) throws {
        try programs.latchkey("set", "--internet", server, "alice", input: Data("pw".utf8))
        #expect(try get("protocol=https\nhost=git.example:8443").contains("password=pw"))
        #expect(try get("protocol=https\nhost=git.example:9443") == "")
    }

    /// Also where none could be made: git prints what a helper complains of at each fetch.
    @Test func whoeverLooksMakesNoKeychain() throws {
        #expect(try get("protocol=https", "host=a.example") == "")
        let erased = try helper("erase", "protocol=https", "host=a.example")
        #expect(erased.status == 0 && erased.text == "" && erased.errors == "")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
        #expect(programs.processes("latchkeyd").isEmpty)
    }

    /// Everything lies in `restore.ready` yet: whoever looks carries the restore on.
    @Test func aRestoreThatWasCutShortLosesNothing() throws {
        try programs.latchkey("set", "--internet", "a.example", "alice", input: Data("pw".utf8))
        try programs.cutRestoreShort()
        #expect(try get("protocol=https", "host=a.example").contains("password=pw"))
        try programs.cutRestoreShort()
        let erased = try helper("erase", "protocol=https", "host=b.example")
        #expect(erased.status == 0 && erased.errors == "", "\(erased.errors)")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey/restore.ready"))
        #expect(try get("protocol=https", "host=a.example").contains("password=pw"))
    }

    /// Nobody knows what it is, so it stays, and no keychain is made beside it.
    @Test(arguments: ["get", "erase"]) func aFileInTheRestoresPlaceMakesNoKeychain(_ action: String) throws {
        try programs.putFileInRestoresPlace()
        let outcome = try helper(action, "protocol=https", "host=a.example")
        #expect(outcome.text == "" && outcome.errors.contains("restore.ready"), "\(outcome.errors)")
        try programs.expectFileInRestoresPlaceAlone()
    }

    @Test func gitFillsApprovesAndRejects() throws {
        // Nothing stored: git would ask, and may not.
        let empty = try git("fill", Self.place)
        #expect(empty.status == 128 && empty.errors.contains("terminal prompts disabled"), "\(empty.errors)")
        let credential = Self.place + "\nusername=alice\npassword=pw ü=1"
        let approved = try git("approve", credential)
        #expect(approved.status == 0 && approved.errors == "", "\(approved.errors)")
        #expect(try git("fill", Self.place).text == credential + "\n")
        #expect(try programs.latchkey("get", "git.example").text == "pw ü=1")
        let item = try programs.latchkey("info", "--internet", "git.example", "alice").text
        #expect(item.contains("https") && item.contains("Git: https://git.example"), "\(item)")
        // Again the same changes nothing.
        let before = try programs.latchkey("get", "--json", "git.example").text
        try git("approve", credential)
        #expect(try programs.latchkey("get", "--json", "git.example").text == before)
        try git("approve", Self.place, "username=alice", "password=next")
        #expect(try git("fill", Self.place, "username=alice").text.hasSuffix("password=next\n"))
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
        #expect(try git("reject", Self.place, "username=alice", "password=next").status == 0)
        #expect(try git("fill", Self.place).status == 128)
        #expect(try programs.latchkey("list").output.isEmpty)
    }

    /// A server that knows by a ticket who asks (git's own test of helpers, t0303: "can store
    /// empty username"); a token may also stand where the name does.
    @Test func anEmptyNameAndAnEmptyPasswordAreKept() throws {
        let single = "protocol=https\nhost=sso.example"
        for credential in [
            single + "\nusername=\npassword=", "protocol=https\nhost=token.example\nusername=ghp_1\npassword=",
        ] {
            let approved = try git("approve", credential)
            #expect(approved.status == 0 && approved.errors == "", "\(approved.errors)")
            let place = credential.split(separator: "\n").prefix(2).joined(separator: "\n")
            #expect(try git("fill", place).text == credential + "\n")
        }
        try git("reject", single)
        #expect(try git("fill", single).status == 128)
        // What a person stored without a name or a value is none of git's.
        #expect(try programs.latchkey("set", "--internet", "person.example", "", input: Data("pw".utf8)).status == 0)
        #expect(try get("protocol=https", "host=person.example") == "password=pw\n")
        let entry = Data("name,url,username,password\nn,https://nothing.example,a,\n".utf8)
        #expect(try programs.latchkey("import", "-", input: entry).status == 0)
        #expect(try programs.latchkey("info", "--internet", "nothing.example", "a").status == 0)
        #expect(try get("protocol=https", "host=nothing.example").isEmpty)
    }

    /// With the status of `latchkey`, by which scripts tell it from a keychain that is out of reach.
    @Test func aLostKeybagIsDamage() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        for name in ["keybag.0", "keybag.1"] {
            try Data("lost".utf8).write(to: URL(filePath: "\(programs.home)/data/latchkey/enclave/\(name)"))
        }
        #expect(try programs.latchkey("get", "elsewhere").status == 5)
        let said = try helper("get", Self.place, "")
        #expect(said.status == 5 && said.text.isEmpty, "\(said.status) \(said.errors)")
        let docker = try programs.run(
            "\(BuiltPrograms.folder)/docker-credential-latchkey", ["get"], input: Data("r.example".utf8))
        #expect(docker.status == 5, "\(docker.status) \(docker.text)")
    }

    /// It may be any that a search did not find, and is none that one found.
    @Test func aDamagedItemKeepsNobodyFromTheOthers() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        let docker = "\(BuiltPrograms.folder)/docker-credential-latchkey"
        let login = Data(#"{"ServerURL":"r.example","Username":"alice","Secret":"login"}"#.utf8)
        #expect(try programs.run(docker, ["store"], input: login).status == 0)
        try programs.latchkey("set", "elsewhere", input: Data("lost".utf8))
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        let damage = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            store.execute("UPDATE genp SET metadata = randomblob(length(metadata))")
            store.commit()
            """
        let damaged = try programs.run(
            "/usr/bin/python3", ["-c", damage, programs.home + "/data/latchkey/keychain.db"])
        #expect(damaged.status == 0, "\(damaged.errors)")
        #expect(try programs.latchkey("get", "elsewhere").status != 0)
        #expect(try get(Self.place) == "username=alice\npassword=pw\n")
        #expect(try programs.run(docker, ["get"], input: Data("r.example".utf8)).text.contains("login"))
        #expect(try programs.run(docker, ["list"]).text == #"{"r.example":"alice"}"# + "\n")
        // What is found is kept and taken away as ever.
        #expect(try helper("store", Self.place, "username=alice", "password=next").status == 0)
        #expect(try get(Self.place) == "username=alice\npassword=next\n")
        #expect(try helper("erase", Self.place, "username=alice", "password=next").status == 0)
        // What is new is stored.
        #expect(try helper("store", "protocol=https\nhost=c.example", "username=u", "password=new").status == 0)
        #expect(try get("protocol=https", "host=c.example") == "username=u\npassword=new\n")
        let other = Data(#"{"ServerURL":"c.example","Username":"u","Secret":"new"}"#.utf8)
        #expect(try programs.run(docker, ["store"], input: other).status == 0)
        #expect(try programs.run(docker, ["get"], input: Data("c.example".utf8)).text.contains("new"))
        // And of what is not, nobody is told that there is nothing.
        let unknown = try helper("get", "protocol=https\nhost=b.example", "")
        #expect(unknown.status == 69 && unknown.text.isEmpty, "\(unknown.status) \(unknown.text)")
        let nothing = try programs.run(docker, ["get"], input: Data("b.example".utf8))
        #expect(nothing.status != 0 && !nothing.text.contains("not found"), "\(nothing.text)")
    }

    @Test func aStaleRejectTakesNoNewerPasswordAway() throws {
        try helper("store", Self.place, "username=alice", "password=new")
        #expect(try git("reject", Self.place, "username=alice", "password=old").status == 0)
        #expect(try get(Self.place) == "username=alice\npassword=new\n")
        // Without a password whatever matches goes, as git says.
        try helper("store", Self.place, "username=bob", "password=other")
        try helper("erase", Self.place, "username=bob")
        #expect(try get(Self.place) == "username=alice\npassword=new\n")
        try helper("erase", Self.place)
        #expect(try get(Self.place) == "")
    }

    // MARK: What is meant

    @Test func serversProtocolsAndPathsAreApart() throws {
        let places = [
            "protocol=https\nhost=git.example", "protocol=http\nhost=git.example",
            "protocol=https\nhost=git.example:8443", "protocol=https\nhost=git.example\npath=a/b.git",
            "protocol=https\nhost=[::1]:8443", "protocol=cert\npath=/home/a/key.pem",
            "protocol=smtp\nhost=git.example:25",
            "protocol=made-up\nhost=git.example",
        ]
        for (number, place) in places.enumerated() {
            #expect(try helper("store", place, "username=alice", "password=pw\(number)").status == 0)
        }
        for (number, place) in places.enumerated() {
            #expect(try get(place) == "username=alice\npassword=pw\(number)\n", "\(place)")
        }
        #expect(try get("protocol=https\nhost=git.example\npath=other.git") == "")
        #expect(try get("protocol=https\nhost=git.example:443") == "username=alice\npassword=pw0\n")
        #expect(try get("protocol=https\nhost=git.exampl") == "")
        #expect(try get(Self.place, "username=") == "")
        // Its only credential has a path, and git did not say one.
        try helper("store", "protocol=https\nhost=b.example\npath=x.git", "username=a", "password=p")
        #expect(try get("protocol=https\nhost=b.example") == "username=a\npassword=p\n")
    }

    @Test func ofSeveralAccountsTheOneThatWasChangedLastIsGiven() throws {
        for name in ["alice", "bob", "carol"] {
            try helper("store", Self.place, "username=\(name)", "password=\(name)s")
        }
        #expect(try get(Self.place) == "username=carol\npassword=carols\n")
        try helper("store", Self.place, "username=bob", "password=new")
        #expect(try get(Self.place) == "username=bob\npassword=new\n")
        #expect(try get(Self.place, "username=alice") == "username=alice\npassword=alices\n")
        #expect(try get(Self.place, "username=dave") == "")
    }

    @Test func whatAPersonStoredIsGivenOverHTTPSAloneAndNeverTakenAway() throws {
        try programs.latchkey("set", "--internet", "git.example", "alice", input: Data("by hand".utf8))
        try programs.latchkey("set", "wiki.example", "bob", input: Data("generic".utf8))
        #expect(try get(Self.place) == "username=alice\npassword=by hand\n")
        #expect(try get("protocol=https\nhost=wiki.example") == "username=bob\npassword=generic\n")
        #expect(try get("protocol=https\nhost=git.example\npath=a.git") == "username=alice\npassword=by hand\n")
        for other in [
            "protocol=http\nhost=git.example", "protocol=https\nhost=git.example:8443",
            "protocol=http\nhost=wiki.example",
        ] {
            #expect(try get(other) == "", "\(other)")
        }
        // A login of the site's that a browser had is none of git's.
        try programs.latchkey("set", "--internet", "c.example", "carol", input: Data("site".utf8))
        try programs.latchkey("edit", "--internet", "c.example", "carol", "--attribute", "path=/login")
        let unsaid = try helper("get", "protocol=https\nhost=c.example", "")
        #expect(unsaid.text.isEmpty && unsaid.errors.contains("is for /login alone"), "\(unsaid.errors)")
        #expect(try get("protocol=https\nhost=c.example\npath=login") == "username=carol\npassword=site\n")
        #expect(try helper("get", "protocol=http\nhost=c.example", "").errors == "")
        let erased = try helper("erase", Self.place, "username=alice", "password=by hand")
        #expect(erased.status == 0 && erased.errors.contains("what a person stored stays"), "\(erased.errors)")
        #expect(try programs.latchkey("get", "git.example", "alice").text == "by hand")
        // What worked is not stored a second time; another password has a place of its own,
        // which is what git has refused then, and not what a person stored.
        try helper("store", Self.place, "username=alice", "password=by hand")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 3)
        try helper("store", Self.place, "username=alice", "password=from git")
        #expect(try get(Self.place) == "username=alice\npassword=from git\n")
        try helper("erase", Self.place, "username=alice", "password=from git")
        #expect(try get(Self.place) == "username=alice\npassword=by hand\n")
        #expect(try programs.latchkey("get", "git.example", "alice").text == "by hand")
        // Also where the item names a protocol that is no secret.
        try programs.latchkey("edit", "--internet", "git.example", "alice", "--attribute", "protocol=http")
        #expect(try get("protocol=http\nhost=git.example") == "")
    }

    /// git rejects the stale one, a person types what git has had all along, and git stores it:
    /// from then on it is what is given.
    @Test func whatGitStoresOnceMoreComesBeforeWhatAPersonStoredSince() throws {
        try helper("store", Self.place, "username=bob", "password=good")
        try programs.latchkey("set", "--internet", "git.example", "bob", input: Data("stale".utf8))
        #expect(try get(Self.place) == "username=bob\npassword=stale\n")
        let erased = try helper("erase", Self.place, "username=bob", "password=stale")
        #expect(erased.errors.contains("what a person stored stays"), "\(erased.errors)")
        try helper("store", Self.place, "username=bob", "password=good")
        #expect(try get(Self.place) == "username=bob\npassword=good\n")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 2)
        // What is given already is stored once, and by nobody's clock.
        let before = try programs.latchkey("info", "--json", "--internet", "git.example", "bob", "--path", "").text
        try helper("store", Self.place, "username=bob", "password=good")
        let after = try programs.latchkey("info", "--json", "--internet", "git.example", "bob", "--path", "").text
        #expect(before == after)
    }

    /// Neither is lost where a git that knows them not stores the password once more.
    @Test func endAndTokenStayWhereAPasswordIsStoredOnceMore() throws {
        let end = "password_expiry_utc=4102444800", token = "oauth_refresh_token=r"
        try helper("store", Self.place, "username=bob", "password=good", end, token)
        try programs.latchkey("set", "--internet", "git.example", "bob", input: Data("stale".utf8))
        try helper("store", Self.place, "username=bob", "password=good")
        let given = try get(Self.place)
        #expect(given.contains("password=good\n") && given.contains(end) && given.contains(token), "\(given)")
    }

    /// It is given to nobody: what is given behind it is there, and not stored over it.
    @Test func aPasswordThatHasEndedKeepsItsTokenBesideAPersons() throws {
        try programs.latchkey("set", "--internet", "git.example", "bob", input: Data("by hand".utf8))
        // Stored before its end, which the helper is told once it is past.
        let soon = Int(Date().timeIntervalSince1970) + 3
        try helper(
            "store", Self.place, "username=bob", "password=old", "password_expiry_utc=\(soon)",
            "oauth_refresh_token=refresh")
        let byHand = "username=bob\npassword=by hand\n"
        #expect(try BuiltPrograms.eventually { try get(Self.place) == byHand })
        try helper("store", Self.place, "username=bob", "password=by hand")
        #expect(try get(Self.place) == byHand)
        #expect(try programs.latchkey("rm", "--internet", "git.example", "bob", "--protocol", "none").status == 0)
        #expect(try get(Self.place) == "username=bob\noauth_refresh_token=refresh\n")
    }

    /// As git-send-email asks; over no protocol but the one that the person named.
    @Test func aMailServersPasswordIsGivenOverItsProtocol() throws {
        try programs.latchkey("set", "--internet", "smtp://mail.example:587", "alice", input: Data("by hand".utf8))
        let place = "protocol=smtp\nhost=mail.example:587\nusername=alice"
        #expect(try get(place) == "username=alice\npassword=by hand\n")
        for other in ["imap", "https", "http"] {
            #expect(try get("protocol=\(other)\nhost=mail.example:587\nusername=alice") == "", "\(other)")
        }
        #expect(try get("protocol=smtp\nhost=mail.example:25\nusername=alice") == "")
        try programs.latchkey("set", "--internet", "b.example", "alice", input: Data("no protocol".utf8))
        #expect(try get("protocol=smtp\nhost=b.example") == "")
    }

    /// RFC 3986, section 3.2.2: git asks as somebody typed it, `set` stores in lower case.
    @Test func aHostIsTheSameInCapitals() throws {
        try programs.latchkey("set", "--internet", "Git.example", "alice", input: Data("by hand".utf8))
        let capitals = "protocol=https\nhost=GIT.Example"
        #expect(try get(capitals) == "username=alice\npassword=by hand\n")
        try helper("store", Self.place, "username=bob", "password=of git")
        #expect(try get(capitals, "username=bob") == "username=bob\npassword=of git\n")
        // The one that is there already, and not a second beside it.
        try helper("store", capitals, "username=bob", "password=newer")
        #expect(try get(Self.place, "username=bob") == "username=bob\npassword=newer\n")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 2)
        try helper("erase", capitals, "username=bob", "password=newer")
        #expect(try get(Self.place, "username=bob") == "")
        // Stored in capitals it is found in any, and replaced in any.
        try helper("store", capitals, "username=carol", "password=capital")
        for spelled in [capitals, Self.place, "protocol=https\nhost=git.EXAMPLE"] {
            #expect(try get(spelled) == "username=carol\npassword=capital\n", "\(spelled)")
        }
        try helper("store", Self.place, "username=carol", "password=small")
        #expect(try get(capitals, "username=carol") == "username=carol\npassword=small\n")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 2)
        try helper("erase", capitals, "username=carol", "password=small")
        #expect(try get(Self.place, "username=carol") == "")
    }

    /// What a person stores anew comes before what git stored earlier.
    @Test func aTokenThatAPersonRotatesIsUsed() throws {
        try helper("store", Self.place, "username=alice", "password=old")
        try programs.latchkey("set", "--internet", "git.example", "alice", input: Data("rotated".utf8))
        #expect(try get(Self.place) == "username=alice\npassword=rotated\n")
    }

    /// A version before 2.41 says nothing of a token that it was told.
    @Test func anOlderGitKeepsEndAndTokenOfTheSamePassword() throws {
        let far = "password_expiry_utc=33333333333"
        try helper("store", Self.place, "username=alice", "password=access", far, "oauth_refresh_token=refresh")
        try helper("store", Self.place, "username=alice", "password=access")
        #expect(
            try get(Self.place) == "username=alice\npassword=access\n\(far)\noauth_refresh_token=refresh\n")
    }

    // MARK: Newer versions of git

    @Test func aPasswordsEndAndItsTokenStandBesideIt() throws {
        let far = "password_expiry_utc=33333333333"
        let stored = try helper(
            "store", Self.place, "username=alice", "password=access", far, "oauth_refresh_token=refresh==")
        #expect(stored.status == 0 && stored.errors == "", "\(stored.errors)")
        #expect(
            try get(Self.place) == "username=alice\npassword=access\n\(far)\noauth_refresh_token=refresh==\n")
        #expect(try programs.latchkey("get", "git.example", "alice").text == "access")
        #expect(try programs.latchkey("get", "git.example").text == "access")
        // Another token with the same password, then a password with neither.
        try helper("store", Self.place, "username=alice", "password=access", far, "oauth_refresh_token=second")
        #expect(try get(Self.place).hasSuffix("\noauth_refresh_token=second\n"))
        try helper("store", Self.place, "username=alice", "password=plain")
        #expect(try get(Self.place) == "username=alice\npassword=plain\n")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
        // What changes around the password leaves its end.
        try helper("store", Self.place, "username=alice", "password=access", far, "oauth_refresh_token=third")
        let edited = try programs.latchkey("edit", "--internet", "git.example", "alice", "--label", "x")
        #expect(edited.status == 0, "\(edited.errors)")
        #expect(
            try get(Self.place) == "username=alice\npassword=access\n\(far)\noauth_refresh_token=third\n")
        // A password that came another way has nothing to do with it.
        try programs.latchkey("set", "--internet", "https://git.example", "alice", input: Data("other".utf8))
        #expect(try get(Self.place) == "username=alice\npassword=other\n")
        try helper("erase", Self.place, "username=alice", "password=other")
        #expect(try programs.latchkey("list").output.isEmpty)
    }

    @Test func aTokenStaysWithItsOwnPath() throws {
        try helper("store", Self.place, "path=a.git", "username=alice", "password=of a path")
        try helper("store", Self.place, "username=alice", "password=of all", "oauth_refresh_token=token")
        #expect(try get(Self.place, "path=a.git") == "username=alice\npassword=of a path\n")
        #expect(try get(Self.place) == "username=alice\npassword=of all\noauth_refresh_token=token\n")
    }

    @Test func aPasswordThatHasEndedIsNotGivenAndItsTokenIs() throws {
        // Stored before its end, which the helper is told once it is past.
        let soon = Int(Date().timeIntervalSince1970) + 3
        try helper(
            "store", Self.place, "username=alice", "password=access", "password_expiry_utc=\(soon)",
            "oauth_refresh_token=refresh")
        try helper("store", Self.place, "username=bob", "password=old", "password_expiry_utc=1700000000")
        #expect(try programs.latchkey("get", "git.example", "bob").status == 1, "what had ended was kept")
        #expect(
            try BuiltPrograms.eventually {
                try get(Self.place) == "username=alice\noauth_refresh_token=refresh\n"
            })
        // Another account's, which has not ended, is better.
        try helper("store", Self.place, "username=carol", "password=good")
        #expect(try get(Self.place) == "username=carol\npassword=good\n")
    }

    @Test func typesOtherThanPasswordsComeBackToWhoUnderstandsThem() throws {
        let bearer = "authtype=Bearer\ncredential=token=="
        let capable = "capability[]=authtype\ncapability[]=state\nwwwauth[]=Bearer\nstate[]=other:1"
        #expect(try helper("store", capable, Self.place, bearer).status == 0)
        #expect(try get(capable, Self.place) == "capability[]=authtype\nauthtype=Bearer\ncredential=token==\n")
        #expect(try get(Self.place) == "", "an older git would take it for a password")
        #expect(try get("capability[]=authtype\ncapability[]=", Self.place) == "")
        #expect(try programs.latchkey("get", "git.example").text == "token==")
        // A password beside it is another item.
        try helper("store", Self.place, "username=alice", "password=pw")
        #expect(try get(Self.place) == "username=alice\npassword=pw\n")
        try helper("erase", capable, Self.place, "authtype=Bearer", "credential=other")
        try helper("erase", capable, Self.place, bearer)
        #expect(try get(capable, Self.place) == "username=alice\npassword=pw\n")
        #expect(try helper("store", Self.place, "username=eve", "password=once", "ephemeral=1").status == 0)
        #expect(try get(Self.place, "username=eve") == "", "what is good for once was kept")
    }

    // MARK: What is no credential

    @Test func unknownActionsAndIncompleteInputDoNothing() throws {
        #expect(try helper("capability").status == 0)
        #expect(try helper("frobnicate", "no line of git's").status == 0)
        for lines in [
            "protocol=https\nusername=a\npassword=p", "host=a\nusername=a\npassword=p", Self.place + "\npassword=p",
            Self.place + "\nusername=a", "",
        ] {
            let outcome = try helper("store", lines)
            #expect(outcome.status == 0 && outcome.errors == "" && outcome.output.isEmpty, "\(lines)")
        }
        #expect(try programs.latchkey("list").output.isEmpty)
        try helper("store", Self.place, "username=a", "password=p")
        // What would mean everything means nothing.
        #expect(try helper("erase", "").status == 0 && helper("erase", "username=a").status == 0)
        #expect(try get(Self.place) == "username=a\npassword=p\n")
    }

    @Test(arguments: [
        ("no equals sign", "line 2 of the input is no key=value"),
        ("username=a\u{0}b", "line 2 of the input has a byte 0"),
        ("\u{0}", "line 2 of the input has a byte 0"),
        ("wwwauth[]=" + String(repeating: "x", count: 1 << 20), "line 2 of the input is longer than 1048576 bytes"),
        (
            String(repeating: "wwwauth[]=" + String(repeating: "x", count: 1000) + "\n", count: 5000) + "a=b",
            "the input is longer than 4194304 bytes"
        ),
    ])
    func hostileInputIsRefusedInPlainWords(line: String, said: String) throws {
        let outcome = try helper("store", "protocol=https", line, "host=git.example", "username=a", "password=CANARY")
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(said) && !outcome.errors.contains("CANARY"), "\(outcome.errors)")
        #expect(try programs.latchkey("list").output.isEmpty)
    }

    /// git names no limit, and its own helpers keep what it sends.
    @Test(arguments: [100_000, 1 << 20 - "password=".utf8.count])
    func aLongPasswordComesBackWhole(count: Int) throws {
        let password = "password=" + String(repeating: "0123456789", count: count / 10 + 1).prefix(count)
        #expect(try helper("store", Self.place, "username=a", password).status == 0)
        #expect(try get(Self.place) == "username=a\n\(password)\n")
        // Of a line that is too long nothing replaces what is there.
        let tooLong = "password=" + String(repeating: "x", count: 1 << 20)
        let refused = try helper("store", Self.place, "username=a", tooLong)
        #expect(refused.status == 2 && refused.errors.contains("line 4 of the input is longer than 1048576 bytes"))
        #expect(try get(Self.place) == "username=a\n\(password)\n")
    }

    @Test func namesThatAreNoTextAreRefusedAndPasswordsMayBe() throws {
        let helper = "\(BuiltPrograms.folder)/git-credential-latchkey"
        let bad = try programs.run(
            helper, ["store"], input: Data("protocol=https\nhost=\u{ff}".utf8.dropLast(2) + [0xff, 0x0a]))
        #expect(bad.status == 2 && bad.errors.contains("the value of host is no text in UTF-8"), "\(bad.errors)")
        let odd = Data(Self.place.utf8) + Data("\nusername=a\npassword=".utf8) + Data([0xff, 0x0d, 0xfe])
        #expect(try programs.run(helper, ["store"], input: odd).status == 0)
        let answer = try programs.run(helper, ["get"], input: Data(Self.place.utf8))
        #expect(answer.output == Data("username=a\npassword=".utf8) + Data([0xff, 0x0d, 0xfe, 0x0a]))
    }

    /// A line of its own in a stored name or value would be another key to git.
    @Test func nothingStoredSaysMoreThanItsLine() throws {
        try programs.latchkey("set", "git.example", "a\nhost=evil.example", input: Data("pw".utf8))
        try programs.latchkey("set", "wiki.example", "b", "--raw", input: Data("pw\nhost=evil.example\n".utf8))
        for host in ["git.example", "wiki.example"] {
            let outcome = try helper("get", "protocol=https\nhost=\(host)")
            #expect(outcome.status == 0 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("git cannot be told"), "\(outcome.errors)")
        }
    }

    /// What a helper is told any program can tell it (THREAT_MODEL.md, S10).
    @Test func whoeverRunsTheHelperGetsThePassword() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        let script =
            "import subprocess; print(subprocess.run(['git-credential-latchkey', 'get'], "
            + "input='protocol=https\\nhost=git.example\\n', text=True, capture_output=True).stdout)"
        let outcome = try programs.run("/usr/bin/python3", ["-c", script])
        #expect(outcome.text == "username=alice\npassword=pw\n\n", "\(outcome.errors)")
    }

    // MARK: Never waiting

    @Test func aLockedKeychainSaysSoAtOnceAndGitGoesOn() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        #expect(try programs.latchkey("lock").status == 0)
        for action in ["get", "store", "erase"] {
            let outcome = try helper(action, Self.place, "username=alice", "password=pw")
            #expect(outcome.status == 3 && outcome.output.isEmpty, "\(action)")
            #expect(outcome.errors.contains("`latchkey unlock` opens it"), "\(outcome.errors)")
        }
        // With no terminal in its session, git itself ends.
        let filled = try programs.run(
            "/usr/bin/setsid", ["-w", "git", "credential", "fill"], input: Data((Self.place + "\n").utf8),
            changing: Self.quiet)
        #expect(filled.status == 128 && filled.errors.contains("latchkey unlock"), "\(filled.errors)")
        #expect(try programs.latchkey("unlock", input: Data("words words".utf8)).status == 0)
        #expect(try get(Self.place) == "username=alice\npassword=pw\n")
    }

    @Test func itAnswersAtABlankLineWhileTheStreamStaysOpen() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        let outcome = try programs.shell(
            #"mkfifo "$HOME/p"; exec 3<>"$HOME/p"; printf 'protocol=https\nhost=git.example\n\nhost=x\n' >&3; "#
                + #"git-credential-latchkey get <"$HOME/p""#)
        #expect(outcome.text == "username=alice\npassword=pw\n", "\(outcome.errors)")
    }

    /// As git itself reads lines since 2.30, for helpers and scripts of Windows.
    @Test func linesMayEndWithACarriageReturn() throws {
        let place = "protocol=https\r\nhost=git.example\r\n"
        for (password, ending) in [("one", "\r\n\r\n"), ("two", "\r\n"), ("three", "")] {
            let stored = try programs.run(
                "\(BuiltPrograms.folder)/git-credential-latchkey", ["store"],
                input: Data((place + "username=alice\r\npassword=\(password)\(ending)").utf8))
            #expect(stored.status == 0 && stored.errors.isEmpty, "\(stored.errors)")
            #expect(try get(Self.place) == "username=alice\npassword=\(password)\n")
        }
        // What is behind a blank line of such is not waited for.
        let outcome = try programs.shell(
            #"mkfifo "$HOME/p"; exec 3<>"$HOME/p"; printf 'protocol=https\r\nhost=git.example\r\n\r\nhost=x\n' >&3; "#
                + #"timeout 60 git-credential-latchkey get <"$HOME/p""#)
        #expect(outcome.text == "username=alice\npassword=three\n", "\(outcome.errors)")
    }

    @Test func outputThatCannotBeWrittenIsAFailure() throws {
        try helper("store", Self.place, "username=alice", "password=pw")
        let outcome = try programs.shell(
            #"printf 'protocol=https\nhost=git.example\n' | git-credential-latchkey get >/dev/full"#)
        #expect(outcome.status == 69 && outcome.errors.contains("output failed"), "\(outcome.errors)")
    }

    @Test func twentyStoresAtOnceLeaveOneItem() throws {
        let stores = (0..<20).map { number in
            programs.start(
                "/bin/sh",
                ["-c", "printf '\(Self.place)\nusername=a\npassword=p\(number)\n' | git-credential-latchkey store"])
        }
        for store in stores { try store.run() }
        for store in stores { store.waitUntilExit() }
        #expect(stores.allSatisfy { $0.terminationStatus == 0 })
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
        #expect(try get(Self.place).hasPrefix("username=a\npassword=p"))
    }
}
