import KeychainPlatform
import KeychainTestSupport
import LatchkeyImport
import Testing

/// A KDBX 4 database that pykeepass made, with a key file.
@Suite struct KeePassSourceTests {
    private static let program = #"""
        import base64, pykeepass, sys
        path, key = sys.argv[1], sys.argv[2]
        base = pykeepass.create_database(path, password="words", keyfile=key)
        def add(title, user="u", password="p", date=None, **fields):
            entry = base.add_entry(base.root_group, title, user, password)
            for name, value in fields.items():
                name = name.replace("__", "-").replace("_", " ")
                entry._element.append(string(name, value))
            if date: entry._element.find("Times/CreationTime").text = date
            return entry
        def string(name, value):
            from lxml import etree
            node = etree.Element("String")
            etree.SubElement(node, "Key").text = name
            etree.SubElement(node, "Value").text = value
            return node
        target = add("Target", "alice", "secret")
        number = target.uuid.hex.upper()
        add("Dated", date="TEns1Q4AAAA=")
        add("Undated", date="no date")
        add("Reference", "{REF:U@I:%s}" % number, "a{ref:p@i:%s}b" % number,
            Twice="{REF:P@I:%s}{REF:T@I:%s}" % (number, number))
        add("Dangling", "u", "{REF:P@I:00000000000000000000000000000000}")
        add("Searched", "u", "{REF:P@T:Target}")
        loop = add("Loop", "u", "p")
        loop.password = "{REF:P@I:%s}{REF:P@I:%s}" % (loop.uuid.hex, loop.uuid.hex)
        add("Text", TimeOtp__Secret="hello", TimeOtp__Period="60", TimeOtp__Length="8",
            TimeOtp__Algorithm="HMAC-SHA-256")
        add("Hex", TimeOtp__Secret__Hex="68656c6c6f")
        add("Blanks", TOTP_Seed="nbsw y3dp", TOTP_Settings="30;8;https://clock.example")
        add("Steam", TOTP_Seed="NBSWY3DP", TOTP_Settings="30;S")
        add("Counted", HmacOtp__Secret="hello", HmacOtp__Counter="1")
        add("Key", password="")._element.append(string("KPEX_PASSKEY_PRIVATE_KEY_PEM", "pem"))
        base.save()
        """#

    /// Made and opened once: its key derivation takes seconds in pykeepass.
    private static let document = Result { () throws -> ImportedDocument in
        let folder = try TemporaryDirectory()
        let (path, key) = (folder.path + "/db.kdbx", folder.path + "/key")
        let python = try ImportTool("python3", package: "python3-pykeepass", at: ["/usr/bin/python3"])
        let made = try python.run(
            ["-c", "import sys; open(sys.argv[1], 'wb').write(bytes(range(256)) * 64)", key], outputLimit: 1)
        #expect(made.status == 0, "\(made.complaints)")
        let filled = try python.run(["-c", program, path, key], outputLimit: 1 << 16)
        #expect(filled.status == 0, "\(filled.complaints)")
        // Larger than a pipe takes, and under no name.
        guard case .file(let content) = try NamedSource.read(key, atMost: 1 << 20) else {
            throw SystemCallError("read", errno: 21)
        }
        return try SourceReader.keePass(path, password: Sample.secret("words"), keyFile: SharedSecret(content))
    }

    private func entry(_ title: String) throws -> ImportedEntry {
        try #require(try Self.document.get().entries.first { $0.title == title })
    }

    private func reasons(_ title: String) throws -> [String] {
        try Self.document.get().flaws.filter { $0.place == .path(title) }.map(\.reason)
    }

    @Test func dateInBase64MayHaveTheLetterOfTheOtherForm() throws {
        #expect(try entry("Dated").created == 604_670_412.0)
    }

    @Test func dateThatCannotBeReadIsNamedAndSoIsThatOfChange() throws {
        #expect(try entry("Undated").created == nil)
        let rows = try Self.document.get().ledger.rows
        #expect(rows.contains { $0.destination == .notStored(why: "no date that can be read") })
        #expect(
            try Self.document.get().fields["LastModificationTime"]
                == .notStored(why: "the keychain sets the date of change itself"))
    }

    @Test func referencesAreFollowed() throws {
        let entry = try entry("Reference")
        #expect(entry.account == "alice" && entry.password.text == "asecretb")
        #expect(entry.note.text == "Twice: secretTarget")
        #expect(try reasons("Reference").isEmpty)
    }

    @Test(arguments: ["Dangling", "Searched", "Loop"])
    func referencesThatLeadNowhereAreNamed(_ title: String) throws {
        #expect(try entry(title).password.text.contains("{REF:P@"))
        #expect(
            try reasons(title)
                == ["its field Password refers to what cannot be found; the reference itself is stored"])
    }

    @Test(arguments: [
        ("Text", "otpauth://totp/?secret=NBSWY3DP&period=60&digits=8&algorithm=SHA256"),
        ("Hex", "otpauth://totp/?secret=NBSWY3DP"),
        ("Blanks", "otpauth://totp/?secret=NBSWY3DP&period=30&digits=8"),
        ("Steam", "otpauth://totp/?secret=NBSWY3DP&period=30&encoder=steam"),
    ])
    func secretsOfOneTimeCodesBecomeAddresses(_ title: String, _ address: String) throws {
        let entry = try entry(title)
        #expect(entry.oneTimeSecrets.map(\.text) == [address] && entry.note.text.isEmpty)
        #expect(try reasons(title).isEmpty)
    }

    @Test func passkeyInTheNoteIsNamed() throws {
        #expect(try entry("Key").note.text == "KPEX_PASSKEY_PRIVATE_KEY_PEM: pem")
        #expect(try reasons("Key").contains { $0.hasPrefix("its passkey") })
    }

    @Test func codesThatAreNotMadeHereAreNamed() throws {
        let entry = try entry("Counted")
        #expect(entry.oneTimeSecrets.isEmpty && !entry.note.text.isEmpty)
        #expect(try reasons("Counted").contains { $0.contains("count uses") })
    }
}
