import KeychainModel
import Testing

@Suite struct SchemaTests {
    @Test(arguments: ItemClass.stored)
    func codesAreUniqueWithinAClass(_ itemClass: ItemClass) {
        let codes = Schema.of(itemClass).attributes.map(\.code)
        #expect(Set(codes).count == codes.count)
    }

    /// The documented uniqueness, spec section 2, as codes.
    @Test(arguments: [
        (ItemClass.genericPassword, ["acct", "svce"]),
        (.internetPassword, ["acct", "sdmn", "srvr", "ptcl", "atyp", "port", "path"]),
        (.certificate, ["ctyp", "issr", "slnr"]),
        (.key, ["kcls", "type", "klbl", "atag", "bsiz", "esiz", "crtr", "sdat", "edat"]),
    ])
    func primaryKeyIsTheDocumentedOne(_ itemClass: ItemClass, _ own: [String]) {
        let common = ["agrp", "sync", "musr", "vwht", "tkid", "ggrp"]
        #expect(Set(Schema.of(itemClass).primaryKey.map { "\($0.code)" }) == Set(own + common))
    }

    @Test func everyReasonTravelsAndComesBack() {
        let reasons: [Reason] = [
            .nothingMatches, .duplicate, .malformed(key: "k"), .unknownAttribute(key: "k"),
            .attributeNotOfClass(key: "k"),
            .classMissing, .classUnknown, .classDisagrees, .tooManyKeys, .notAllowedHere(key: "k"),
            .matchUnsupported(key: "k"), .noAccessGroups, .groupNotEntitled(group: "g"), .entitlementMissing(name: "e"),
            .keychainDenied, .appClipRestriction, .locked(class: "ak"), .passcodeNotSet, .constraintNotEnforceable,
            .tooLarge(what: "w", limit: 1, size: 2), .busy, .noAnswer(mayHaveHappened: true),
            .noAnswer(mayHaveHappened: false), .versionMismatch, .storeSuspect, .storeNewer(version: 3), .storeMismatch,
            .storeUnreadable, .unsuitableFileSystem(name: "nfs"), .storeInUse, .readOnly, .diskFull, .inputOutput,
            .keybagUnreadable, .enclaveUnreachable, .daemonNotInstalled, .daemonUnreachable, .serverUntrusted,
            .identityRefused(why: "w"), .notImplemented(what: "w"), .outsideTestScope, .internalFault(what: "w"),
            .storeMalformed, .mayBeSetAside, .stillSalvaging, .startRefused(why: "w"),
            .databaseAway, .keysAway, .logChanged, .folderMoved(to: "/p"),
        ]
        for reason in reasons {
            let (code, arguments) = reason.wireForm
            #expect(Reason(code: code, arguments: arguments) == reason)
            #expect(!reason.explanation.isEmpty)
        }
        #expect(Reason.enclaveSilent.wireForm == Reason.enclaveUnreachable.wireForm, "a client hears one word for both")
        #expect(Reason(code: 4711, arguments: []) == .unknown(code: 4711))
        #expect(Set(reasons.map { "\($0.wireForm)" }).count == reasons.count)
    }

    @Test func stringsAreEqualByBytesAlone() {
        #expect(AttributeValue.string("\u{e9}") != .string("e\u{301}"))
        #expect(AttributeValue.string("a") == .string("a"))
        #expect(AccessGroup("caf\u{e9}") != AccessGroup("cafe\u{301}"))
    }
}
