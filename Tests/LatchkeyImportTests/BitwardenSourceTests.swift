import LatchkeyImport
import Testing

@Suite struct BitwardenSourceTests {
    private static let export = #"""
        {"encrypted":false,"folders":[{"id":"f1","name":"Work"}],"items":[
        {"id":"1","folderId":"f1","type":1,"reprompt":0,"name":"Login","notes":"n\u00e4h","favorite":true,
         "fields":[{"name":"PIN","value":"1234","type":1},{"name":"linked","value":null,"type":3,"linkedId":100}],
         "login":{"uris":[{"match":null,"uri":"https://a.example/x"},{"match":1,"uri":"https://b.example"}],
          "username":"alice","password":"p\"w","totp":"SEED","fido2Credentials":[{"credentialId":"c"}]},
         "passwordHistory":[{"lastUsedDate":"2020-01-01T00:00:00.000Z","password":"old"}],
         "creationDate":"2020-02-29T12:00:00.000Z","revisionDate":"2021-01-01T00:00:00.000Z","deletedDate":null},
        {"id":"2","type":2,"name":"Note","notes":"words","secureNote":{"type":0}},
        {"id":"3","type":3,"name":"Card","notes":null,"card":{"cardholderName":"A","brand":"Visa","number":"4111","expMonth":"1","expYear":"2030","code":"123"}},
        {"id":"4","type":4,"name":"Me","notes":null,"identity":{"title":"Dr","firstName":"A","passportNumber":"P1"}},
        {"id":"5","type":1,"name":"Gone","deletedDate":"2022-01-01T00:00:00.000Z","login":{"password":"x"}},
        7,
        {"id":"6","type":5,"name":"Key","sshKey":{"privateKey":"k","publicKey":"kp","keyFingerprint":"fp"}}]}
        """#

    @Test func loginKeepsEverythingThatHasAPlace() throws {
        let document = try Sample.json(Self.export)
        let login = try #require(document.entries.first)
        #expect(login.account == "alice" && login.password.text == "p\"w" && login.folder == "Work")
        #expect(login.addresses == ["https://a.example/x", "https://b.example"])
        #expect(login.note.text == "näh\n\nPIN: 1234")
        #expect(login.oneTimeSecrets.map(\.text) == ["SEED"])
        #expect(login.created == 604_670_400.0)
    }

    @Test func cardsIdentitiesAndKeysBecomeReadableText() throws {
        let entries = try Sample.json(Self.export).entries
        #expect(entries.map(\.title) == ["Login", "Note", "Card", "Me", "Key"])
        #expect(
            entries[2].note.text
                == "cardholderName: A\nbrand: Visa\nnumber: 4111\nexpMonth: 1\nexpYear: 2030\ncode: 123")
        #expect(entries[3].note.text == "title: Dr\nfirstName: A\npassportNumber: P1")
        #expect(entries[4].note.text == "privateKey: k\npublicKey: kp\nkeyFingerprint: fp")
        #expect(entries[1...].allSatisfy { $0.kind == .note })
    }

    @Test func whatIsNotStoredIsNamed() throws {
        let document = try Sample.json(Self.export)
        for field in [
            "passwordHistory", "login.fido2Credentials", "fields", "login.uris.match", "favorite", "revisionDate",
        ] {
            #expect(
                document.ledger.rows.contains { row in
                    if case .notStored = row.destination { row.field == field } else { false }
                }, "\(field)")
        }
        #expect(
            document.reasons == [
                "item 1: \u{201c}Login\u{201d}: its passkey is not stored; keep it where it is, or make another",
                "item 5: \u{201c}Gone\u{201d}: it lies in the trash", "item 6: this is no object",
            ])
    }

    private func items(_ list: String) throws -> ImportedDocument {
        try Sample.json(#"{"encrypted":false,"items":[\#(list)]}"#)
    }

    @Test func kindsThatAreNewerBecomeReadableText() throws {
        let document = try items(
            #"{"type":6,"name":"Bank","bankAccount":{"bankName":"B","pin":"9999","#
                + #""owner":{"name":"A","tags":["x","y"]}}},"#
                + #"{"type":7,"name":"Licence","driversLicense":{"licenseNumber":"L9"}}"#)
        #expect(
            document.entries.map(\.note.text)
                == ["bankName: B\npin: 9999\nowner / name: A\nowner / tags: x\nowner / tags: y", "licenseNumber: L9"])
        #expect(document.entries.allSatisfy { $0.kind == .note } && document.flaws.isEmpty)
        #expect(try items(#"{"type":9,"name":"New","word":"text","on":true}"#).entries.first?.note.text == "word: text")
        #expect(document.fields["bankAccount.pin"] == .note)
    }

    @Test func valuesThatAreNoTextAreNamed() throws {
        let document = try items(
            #"{"type":1,"name":"A","login":{"uris":["https://a.example",null,{"uri":["x"]}],"password":["a"]}},"#
                + #"{"type":2,"name":"B","notes":{"x":"y"}},{"type":1,"name":"C","login":"text"},"#
                + #"{"type":1,"name":"D","login":{"password":"p"},"fields":[{"name":"o","value":{"a":"deep"}},"str"]}"#)
        #expect(document.entries[0].addresses == ["https://a.example"])
        #expect(document.fields["login.password"] == .notStored(why: "not text"))
        #expect(document.fields["login.uris.uri"] == .notStored(why: "not text"))
        #expect(document.fields["notes"] == .notStored(why: "not text"))
        #expect(document.fields["login"] == .notStored(why: "it is no object"))
        #expect(document.entries[3].note.text == "o / a: deep\nfield: str")
    }

    @Test func dateOfThePasswordsChangeIsSaidToBeSetAnew() throws {
        let document = try items(
            #"{"type":1,"name":"A","login":{"password":"p","passwordRevisionDate":"2024-01-02T03:04:05.678Z"}}"#)
        #expect(
            document.fields["login.passwordRevisionDate"]
                == .notStored(why: "the keychain sets the date of change itself"))
    }

    @Test func loginWithoutAPasswordIsNamed() throws {
        let document = try items(
            #"{"type":1,"name":"Only","login":{"username":"u","totp":"NBSWY3DP","#
                + #""uris":[{"uri":"https://a.example"},{"uri":"https://b.example"}]}},"#
                + #"{"type":1,"name":"Bare","login":{"username":"u"}}"#)
        #expect(
            document.reasons == ["item 1: \u{201c}Only\u{201d}: it has no password; what else it has is stored"])
        #expect(document.fields["nothing but a name"] == .notStored(why: "an empty value stands under it"))
        // The one-time secret stands beside the first address alone.
        #expect(document.entries[0].note.text == "URL: https://b.example")
        // That of a site, wherever it stands.
        let application = try items(
            #"{"type":1,"name":"App","login":{"username":"u","totp":"NBSWY3DP","#
                + #""uris":[{"uri":"androidapp://com.x"},{"uri":"https://x.example"}]}}"#)
        #expect(application.entries[0].note.text == "URL: androidapp://com.x")
    }

    @Test func encryptedExportIsRefusedWithAWayOut() {
        do throws(ImportFailure) {
            _ = try Sample.json(#"{"encrypted":true,"passwordProtected":true,"salt":"x","data":"y","items":[]}"#)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains("encrypted") && error.advice.contains(".json"))
        }
    }

    @Test func otherJSONListsWhatWasSeen() {
        do throws(ImportFailure) {
            _ = try Sample.json(#"{"colour":1}"#)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains("\u{201c}colour\u{201d}"))
        }
    }

    @Test func brokenJSONIsNamedByItsLine() {
        do throws(ImportFailure) {
            _ = try Sample.json("{\n\"items\": [\n}")
            Issue.record("it was taken")
        } catch {
            #expect(error.message.hasPrefix("line 3: "))
        }
    }
}
