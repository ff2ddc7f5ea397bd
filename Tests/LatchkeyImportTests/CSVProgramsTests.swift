import LatchkeyImport
import Testing

/// CSV of programs whose heading has the columns of another one's too.
@Suite struct CSVProgramsTests {
    private func notStored(_ document: ImportedDocument, _ field: String) -> Bool {
        if case .notStored? = document.fields[field] { true } else { false }
    }

    @Test func lastPassKeepsSecretsNotesAndFolders() throws {
        let document = try Sample.csv(
            "url,username,password,totp,extra,name,grouping,fav\n"
                + "https://a.example,u&amp;v,p&lt;q&#39;&amp;lt;,NBSWY3DP,words,A &amp; B,Work,1\n"
                + "http://sn,,,,\"NoteType:Server\nHostname:h\",srv1,,0\nhttp://sn,,,,plain,srv2,,0\n"
                + "http://group,,,,,Empty,,0\n")
        #expect(document.format == .lastPass && document.entries.count == 3)
        // Whoever keeps a password that really has such text in it is told where to look.
        #expect(
            document.reasons == [
                "line 2: \u{201c}A & B\u{201d}: characters of HTML (&amp; and others) were turned back in its password"
            ])
        let login = try #require(document.entries.first)
        #expect(login.account == "u&v" && login.password.text == "p<q'&lt;" && login.title == "A & B")
        #expect(login.oneTimeSecrets.map(\.text) == ["NBSWY3DP"] && login.folder == "Work")
        #expect(login.note.text == "words")
        #expect(document.entries[1...].allSatisfy { $0.kind == .note && $0.addresses.isEmpty })
        #expect(document.entries[1].note.text == "NoteType:Server\nHostname:h")
        #expect(notStored(document, "fav"))
        #expect(document.ledger.rows.contains { $0.destination == .notStored(why: "a folder of its own") })
    }

    @Test func entitiesOfOtherProgramsAreTextAsTheyStand() throws {
        let entry = try Sample.csv("name,url,username,password\nA,a.example,u,p&amp;q\n").entries.first
        #expect(entry?.password.text == "p&amp;q")
    }

    @Test func dashlaneKeepsItsSecretAndFurtherNames() throws {
        let document = try Sample.csv(
            "username,username2,username3,title,password,note,url,category,otpUrl\n"
                + "u,u2,,D,p,n,https://d.example,Work,otpauth://totp/x?secret=NBSWY3DP\n,mail@x,,E,p,,e.example,,\n")
        #expect(document.format == .dashlane)
        let entry = try #require(document.entries.first)
        #expect(entry.account == "u" && entry.folder == "Work" && entry.note.text == "n\n\nusername2: u2")
        #expect(entry.oneTimeSecrets.count == 1)
        #expect(document.entries.last?.account == "mail@x")
    }

    @Test func nordPassTellsLoginsCardsAndFolders() throws {
        let document = try Sample.csv(
            "name,url,additional_urls,username,password,note,cardholdername,cardnumber,folder,type,custom_fields\n"
                + "N,https://n.example,\"[\"\"https://o.example\"\"]\",u,p,,,,Work,password,"
                + "\"[{\"\"type\"\":\"\"text\"\",\"\"label\"\":\"\"PIN\"\",\"\"value\"\":\"\"1234\"\"}]\"\n"
                + "Card,,,,,,J D,4111,,credit_card,\nWork,,,,,,,,,folder,\n")
        #expect(document.format == .nordPass && document.entries.count == 2 && document.flaws.isEmpty)
        let login = try #require(document.entries.first)
        #expect(login.addresses == ["https://n.example", "https://o.example"] && login.folder == "Work")
        #expect(login.note.text == "PIN: 1234")
        #expect(document.entries[1].kind == .note)
        #expect(document.entries[1].note.text == "cardholdername: J D\ncardnumber: 4111")
        #expect(document.ledger.rows.contains { $0.destination == .notStored(why: "a folder of its own") })
    }

    /// Without a column for what a row is. One whose name no entry lies in may be an entry.
    @Test func foldersOfNordPasssOlderExportsAreNoEntries() throws {
        let document = try Sample.csv(
            "name,url,username,password,note,cardholdername,cardnumber,folder\n"
                + "Work,,,,,,,\nN,https://n.example,u,p,,,,Work\nN,https://o.example,,,,,,\nWork,,,,words,,,\n"
                + "Other,,,,,,,\nfolder,,,,,,,\n")
        #expect(document.format == .nordPass)
        #expect(document.entries.map(\.title) == ["N", "N", "Work", "Other", "folder"])
        #expect(document.entries.map(\.place) == [.line(3), .line(4), .line(5), .line(6), .line(7)])
        #expect(document.ledger.rows.contains { $0.destination == .notStored(why: "a folder of its own") })
    }

    /// What tells so little is sure where nothing else is there.
    @Test func threeColumnsAloneAreOfNoProgram() throws {
        let document = try Sample.csv("URL,Username,Password\nhttps://a.example,u,p\nb.example,,q\n")
        #expect(document.format == .plainCSV && document.entries.count == 2 && document.flaws.isEmpty)
        #expect(document.entries[0].addresses == ["https://a.example"] && document.entries[0].account == "u")
        #expect(document.entries.map(\.password.text) == ["p", "q"])
        #expect(throws: ImportFailure.self) { try Sample.csv("url,username,password,pin\na.example,u,p,1\n") }
        let said = try Sample.csv("url,username,password,pin\na.example,u,p,1\n", .plainCSV)
        #expect(said.entries.first?.note.text == "pin: 1")
        #expect(try Sample.csv("name,url,username,password\nn,a.example,u,p\n").format == .chrome)
    }

    @Test func protonPassKeepsEveryAddressAndItsDate() throws {
        let document = try Sample.csv(
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
                + "login,P,\"https://p.example, https://q.example\",e@x,u,p,,NBSWY3DP,1582977600,1582977600,Personal\n"
                + "login,M,https://m.example,m@x,,p,,,soon,,Personal\nalias,Al,,al@x,,,,,,,Personal\n")
        #expect(document.format == .protonPass)
        let login = try #require(document.entries.first)
        #expect(login.addresses == ["https://p.example", "https://q.example"])
        #expect(login.account == "u" && login.note.text == "email: e@x" && login.folder == "Personal")
        #expect(login.created == 604_670_400.0 && login.oneTimeSecrets.map(\.text) == ["NBSWY3DP"])
        #expect(document.entries[1].account == "m@x" && document.entries[1].created == nil)
        #expect(document.entries[2].kind == .note)
        #expect(document.ledger.rows.contains { $0.destination == .notStored(why: "no date that can be read") })
        #expect(notStored(document, "modifyTime"))
    }

    @Test func keePassXCKeepsItsSecretFolderAndDate() throws {
        let document = try Sample.csv(
            "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\","
                + "\"Last Modified\",\"Created\"\n"
                + "\"Root/Sub\",\"K\",\"u\",\"p\",\"https://k.example\",\"n\","
                + "\"otpauth://totp/K?secret=NBSWY3DP\",\"0\",\"2024-01-01T00:00:00Z\",\"2020-02-29T12:00:00Z\"\n")
        #expect(document.format == .keePassXC)
        let entry = try #require(document.entries.first)
        #expect(entry.folder == "Root/Sub" && entry.note.text == "n" && entry.created == 604_670_400.0)
        #expect(entry.oneTimeSecrets.count == 1)
        #expect(notStored(document, "Icon") && notStored(document, "Last Modified"))
    }

    @Test func formatOfAProgramCanBeSaid() throws {
        let text = "url,username,password,extra,name,grouping\na.example,u,p&amp;q,,A,\n"
        #expect(try Sample.csv(text, .lastPass).entries.first?.password.text == "p&q")
        #expect(try Sample.csv(text, .chrome).entries.first?.password.text == "p&amp;q")
    }

    @Test(arguments: ["totp", "OTPAuth", "otpUrl", "otp_secret", "2FA"])
    func columnOfOneTimeSecretsIsOneInAnyFormat(_ column: String) throws {
        let document = try Sample.csv("name,url,username,password,\(column)\nn,a.example,u,p,NBSWY3DP\n")
        #expect(document.format == .chrome)
        #expect(document.entries.first?.oneTimeSecrets.map(\.text) == ["NBSWY3DP"])
        #expect(document.fields[column] == .oneTimeSecret)
    }

    // MARK: Between the fields

    @Test(arguments: [
        ("name;url;username;password\nz;a.example;u;hunter2\n", "semicolons"),
        ("\"name\"\t\"url\"\t\"username\"\t\"password\"\nz\ta.example\tu\thunter2\n", "tabs"),
        ("sep=;\nname;url;username;password\n", "semicolons"),
    ])
    func otherDelimiterIsNamed(_ text: String, _ name: String) {
        do throws(ImportFailure) {
            _ = try Sample.csv(text)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(name) && error.advice.contains("commas"))
        }
    }

    @Test func lineThatNamesTheCommaIsNoHeading() throws {
        let document = try Sample.csv("sep=,\r\nname,url,username,password\r\nn,a.example,u,p\r\n")
        #expect(document.entries.map(\.place) == [.line(3)])
    }
}
