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
        #expect(document.reasons == ["item 5: it lies in the trash", "item 6: this is no object"])
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
