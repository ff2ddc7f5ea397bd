import KeychainPlatform
import LatchkeyImport
import Testing

@Suite struct CSVSourceTests {
    @Test func appleColumnsGoWhereTheyBelong() throws {
        let document = try Sample.csv(
            "Title,URL,Username,Password,Notes,OTPAuth\n"
                + "Shop,https://shop.example/,alice,\"p,w\",\"line\nline\",otpauth://totp/x?secret=A\n")
        #expect(document.format == .apple)
        let entry = try #require(document.entries.first)
        #expect(entry.place == .line(2) && entry.title == "Shop" && entry.account == "alice")
        #expect(entry.addresses == ["https://shop.example/"])
        #expect(entry.password.text == "p,w" && entry.note.text == "line\nline")
        #expect(entry.oneTimeSecrets.map(\.text) == ["otpauth://totp/x?secret=A"])
        #expect(document.fields["OTPAuth"] == .oneTimeSecret && document.fields["Notes"] == .note)
    }

    @Test func linesOfCommasAloneAreEmpty() throws {
        let document = try Sample.csv("name,url,username,password\n,,,\nn,https://a.example,u,p\n\"\",,,\n")
        #expect(document.entries.map(\.place) == [.line(3)] && document.flaws.isEmpty)
    }

    @Test func chromeWithAndWithoutNotes() throws {
        #expect(try Sample.csv("name,url,username,password\nn,https://a.example,u,p\n").format == .chrome)
        let document = try Sample.csv("name,url,username,password,note\nn,android://x@com.app/,u,p,hello\n")
        #expect(document.format == .chrome)
        #expect(document.entries.first?.note.text == "hello")
    }

    @Test func firefoxKeepsItsRealmAndDate() throws {
        let document = try Sample.csv(
            "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\",\"timeLastUsed\",\"timePasswordChanged\"\r\n"
                + "\"https://f.example\",\"u\",\"p\",\"realm\",,\"{g}\",\"1582977600000\",\"1582977600000\",\"1582977600000\"\r\n"
        )
        #expect(document.format == .firefox)
        let entry = try #require(document.entries.first)
        #expect(entry.securityDomain == "realm")
        #expect(entry.created == 604_670_400.0)
        #expect(document.fields["timeCreated"] == .creationDate)
        guard case .notStored? = document.fields["guid"] else {
            Issue.record("the guid is not reported")
            return
        }
    }

    @Test func bitwardenSplitsAddressesAndKnowsNotes() throws {
        let document = try Sample.csv(
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
                + "Work,1,login,L,n,\"PIN: 1\nA: 2\",0,\"https://a.example/x,y,b.example\",u,p,SEED\n"
                + ",,note,N,text,,0,,,,\n")
        #expect(document.format == .bitwardenCSV)
        let (login, note) = (document.entries[0], document.entries[1])
        #expect(login.addresses == ["https://a.example/x,y", "b.example"])
        #expect(login.folder == "Work" && login.note.text == "n\n\nPIN: 1\nA: 2")
        #expect(note.kind == .note && note.note.text == "text" && login.kind == .login)
    }

    @Test func unknownColumnBecomesALineOfTheNote() throws {
        let document = try Sample.csv("name,url,username,password,colour,colour\nn,a.example,u,p,red,blue\n")
        #expect(document.entries.first?.note.text == "colour: red\ncolour: blue")
        #expect(document.fields["colour"] == .note)
    }

    @Test func restOfAnAddressIsKeptAsAValue() throws {
        let entry = try #require(
            try Sample.csv("name,url,username,password\nn,https://a.example/p?token=t#f,u,p\n").entries.first)
        #expect(entry.note.text == "URL: https://a.example/p?token=t#f")
    }

    @Test(arguments: [
        ("https://a.example:0/", true), ("https://a.example:99999/x", true), ("a.example:123456789012345678901", true),
        ("https://a.example:/", false), ("https://a.example:65535/", false), ("https://[::1]/", false),
        (" https://a.example ", false),
    ])
    func portThatIsNoneIsKeptAsAValue(_ address: String, _ isKept: Bool) throws {
        let entry = try #require(try Sample.csv("name,url,username,password\nn,\(address),u,p\n").entries.first)
        #expect(entry.note.text == (isKept ? "URL: \(address)" : ""))
    }

    @Test func rowWithOtherFieldsThanTheHeadingIsNamed() throws {
        let document = try Sample.csv("name,url,username,password\na,b\nn,a.example,u,p\nx,\"y\n")
        #expect(
            document.reasons == [
                "line 2: 2 fields where the heading has 4", "line 4: a quote is not closed",
            ])
        #expect(document.entries.count == 1)
    }

    @Test func headingOfNoKnownFormatIsNotRepeated() {
        do throws(ImportFailure) {
            _ = try Sample.csv("colour,size\u{1b}[31m\n1,2\n")
            Issue.record("it was taken")
        } catch {
            #expect(!error.message.contains("colour") && error.message.contains("columns") && !error.message.contains("\u{1b}"))
        }
    }

    @Test func headingOfTwoFormatsIsAskedAbout() throws {
        let text = "title,name,url,username,password\nt,n,a.example,u,p\n"
        do throws(ImportFailure) {
            _ = try Sample.csv(text)
            Issue.record("one was chosen")
        } catch {
            #expect(error.advice.contains("--format apple") && error.advice.contains("--format chrome"))
        }
        #expect(try Sample.csv(text, .chrome).entries.first?.title == "n")
    }

    @Test func formatWithoutItsColumnsIsRefused() {
        do throws(ImportFailure) {
            _ = try Sample.csv("name,url,username,password\n", .firefox)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains("guid, httprealm"))
        }
    }

    @Test func emptySourceIsRefused() {
        #expect(throws: ImportFailure.self) { try Sample.csv("") }
    }

    @Test(.timeLimit(.minutes(20))) func tenThousandRowsWithEverythingAtOnce() throws {
        var text = "Title,URL,Username,Password,Notes,OTPAuth\r\n"
        for row in 0..<10_000 {
            text += "\"T \(row)\",https://host\(row).example/,\"user\(row)\",\"p\"\"\(row)\r\nß\",,\r\n"
        }
        let document = try SourceReader.csv(Sample.text(Sample.utf16(text, bigEndian: false)), nil)
        #expect(document.entries.count == 10_000 && document.flaws.isEmpty)
        #expect(document.entries[9_999].password.text == "p\"9999\r\nß")
        #expect(document.entries[9_999].place == .line(2 + 2 * 9_999))
    }
}
