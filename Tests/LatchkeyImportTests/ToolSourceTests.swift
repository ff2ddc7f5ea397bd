import Foundation
import KeychainPlatform
import KeychainTestSupport
import LatchkeyImport
import Testing

/// Formats that a program of the system opens.
@Suite struct ToolSourceTests {
    // MARK: KeePass (a database that keepassxc-cli made)

    /// Opened once: its key derivation takes seconds in pykeepass.
    private static let keePass = Result { () throws(ImportFailure) in
        try SourceReader.keePass(
            Sample.fixture("keepassxc.kdbx"), password: Sample.secret("fixture password"), keyFile: nil)
    }

    @Test func keePassDatabaseOpensWithItsPassword() throws {
        let document = try Self.keePass.get()
        let mailbox = try #require(document.entries.first { $0.title == "Mailbox" })
        #expect(mailbox.place == .path("Work/Mail/Mailbox") && mailbox.folder == "Work/Mail")
        #expect(mailbox.account == "alice" && mailbox.password.text == "kp-älice")
        #expect(mailbox.note.text == "first\nsecond\n\nPIN: 1234\nURL: https://mail.example.com:8443/in?box=1")
        #expect(mailbox.oneTimeSecrets.map(\.text) == ["otpauth://totp/a?secret=NBSWY3DP"])
        #expect(mailbox.attachments.map(\.name) == ["key.bin"])
        #expect(mailbox.attachments.first?.content.secret().insecureArray() == [0, 1] + Array("file".utf8) + [0xff])
        #expect(mailbox.created == 604_670_400.0)
    }

    @Test func olderOneTimeSecretsOfKeePassBecomeAddresses() throws {
        let entries = try Self.keePass.get().entries
        #expect(
            entries.first { $0.title == "Seed" }?.oneTimeSecrets.map(\.text)
                == ["otpauth://totp/?secret=GEZDGNBV&period=30&digits=8"])
        #expect(
            entries.first { $0.title == "Timed" }?.oneTimeSecrets.map(\.text)
                == ["otpauth://totp/?secret=MFRGGZDF&period=60"])
        #expect(entries.first { $0.title == "Words" }?.kind == .note)
    }

    @Test func recycleBinAndHistoryOfKeePassAreNamed() throws {
        let document = try Self.keePass.get()
        #expect(document.reasons == ["Recycle Bin/Gone: it lies in the recycle bin"])
        #expect(document.fields["history"] == .notStored(why: "an item has no former values"))
        #expect(!document.entries.contains { $0.title == "Gone" })
    }

    @Test func wrongPasswordOfKeePassSaysSo() {
        do throws(ImportFailure) {
            _ = try SourceReader.keePass(
                Sample.fixture("keepassxc.kdbx"), password: Sample.secret("another"), keyFile: nil)
            Issue.record("it opened")
        } catch {
            #expect(error.kind == .wrongSource && error.message.contains("password"))
            #expect(!error.message.contains("another"))
        }
    }

    // MARK: 1Password

    @Test func archiveOf1PasswordIsReadThroughAPipe() throws {
        let document = try SourceReader.onePassword(Sample.fixture("export.1pux"))
        let login = try #require(document.entries.first)
        #expect(login.title == "Shop" && login.account == "alice" && login.password.text == "op-älice")
        #expect(login.folder == "Private")
        #expect(
            login.note.text
                == "first\nsecond\n\nremember: checked\nExtra / PIN: 1234\nExtra / mail / email_address: a@example.com\ntag: red"
        )
        #expect(login.attachments.map { [$0.name, $0.content.text] } == [["a [1].txt", "file"]])
        #expect(document.entries.map(\.title) == ["Shop", "Words", "Document"])
        #expect(document.entries[1].kind == .note)
    }

    @Test func whatTheArchiveLacksAndWhatIsInTheTrashIsNamed() throws {
        let document = try SourceReader.onePassword(Sample.fixture("export.1pux"))
        #expect(document.reasons.count == 2)
        #expect(document.reasons.first?.hasPrefix("item 3: its file is not stored") == true)
        #expect(document.reasons.last == "item 4: \u{201c}Gone\u{201d}: it lies in the trash")
        #expect(document.fields["details.passwordHistory"] == .notStored(why: "an item has no former values"))
    }

    @Test(arguments: [
        ("data.json", "Bitwarden"), ("Proton Pass/data.json", "Proton Pass"), ("x.txt", "no export.data"),
    ])
    func archiveOfAnotherProgramIsNamed(_ name: String, _ words: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/other.zip"
        let made = try ImportTool("python3", package: "python3", at: ["/usr/bin/python3"]).run(
            ["-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr(sys.argv[2], '{}')", path, name],
            outputLimit: 1)
        #expect(made.status == 0)
        do throws(ImportFailure) {
            _ = try SourceReader.onePassword(path)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(words) && !error.advice.isEmpty)
        }
    }

    /// Two files would be unpacked as one.
    @Test func twoFilesOfOneDocumentAreNotGluedTogether() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/twice.1pux"
        try FileManager.default.copyItem(atPath: Sample.fixture("export.1pux"), toPath: path)
        let script = """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1], 'a')
            z.writestr(next(n for n in z.namelist() if n.startswith('files/')).split('__')[0] + '__other', 'glued')
            """
        let made = try ImportTool("python3", package: "python3", at: ["/usr/bin/python3"]).run(
            ["-c", script, path], outputLimit: 1)
        #expect(made.status == 0, "\(made.complaint)")
        let document = try SourceReader.onePassword(path)
        #expect(document.entries.first?.title == "Shop" && document.entries.first?.attachments.isEmpty == true)
        #expect(document.reasons.first == "item 1: its file is not stored: the archive has several for its number")
    }

    @Test func archiveWithoutExportDataIsRefused() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/empty.zip"
        // An archive of nothing (APPNOTE.TXT, end of central directory record).
        try Data([0x50, 0x4b, 0x05, 0x06] + [UInt8](repeating: 0, count: 18)).write(to: URL(fileURLWithPath: path))
        #expect(throws: ImportFailure.self) { try SourceReader.onePassword(path) }
    }

    // MARK: Which it is

    @Test(
        arguments: [
            ("/x/mail.gpg", [0x85, 0x01], "gpg"), ("/x", Array("-----BEGIN PGP MESSAGE-----".utf8), "gpg"),
            ("/x", Array("<?xml version=\"1.0\"?>\n<KeePassFile>".utf8), "KeePass"), ("/x", Array("<a/>".utf8), "XML"),
            ("/x", Array("Gnome Keyring Store 2\n\r\0\0\0\0\u{c}IDX2".utf8), "keys and certificates"),
        ] as [(String, [UInt8], String)])
    func fileThatIsNoSourceIsSaidToBeWhatItIs(_ path: String, _ bytes: [UInt8], _ words: String) {
        do throws(ImportFailure) {
            _ = try SourceContent.detect(.file(SecretBytes(copying: bytes)), path: path).formats
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(words) && !error.advice.isEmpty)
        }
    }

    @Test(arguments: [
        (Array("Title,URL".utf8), SourceFormat.apple), (Array(" \n{}".utf8), .bitwardenJSON),
        (Array("PK\u{3}\u{4}".utf8), .onePassword), ([0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5], .keePass),
        (Array("[]".utf8), .bitwardenJSON), (Array(" [\n {\"a\":1}]".utf8), .bitwardenJSON),
        (Array("[x],Title".utf8), .apple), (Array("LKEXPORT".utf8), .latchkey),
        (Array("{\"latchkey-export\":1}".utf8), .latchkey),
    ])
    func contentTellsTheFormat(_ bytes: [UInt8], _ format: SourceFormat) throws {
        let formats = try SourceContent.detect(.file(SecretBytes(copying: bytes)), path: "/x").formats
        #expect(formats.contains(format))
    }

    @Test func formatThatTheContentCannotHaveIsRefused() throws {
        let content = try SourceContent.detect(.folder, path: "/x")
        do throws(ImportFailure) {
            try content.check(.chrome)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains("pass"))
        }
        try SourceContent.detect(.folder, path: "/x").check(.passwordStore)
    }

    @Test(arguments: [[], [0x03, 0xd9, 0xa2, 0x9a, 0x65, 0xfb, 0x4b, 0xb5], [0x20, 0x0a]] as [[UInt8]])
    func emptyAndOldFilesAreRefused(_ bytes: [UInt8]) {
        do throws(ImportFailure) {
            _ = try SourceContent.detect(.file(SecretBytes(copying: bytes)), path: "/x").formats
            Issue.record("it was taken")
        } catch {
            #expect(!error.advice.isEmpty)
        }
    }
}
