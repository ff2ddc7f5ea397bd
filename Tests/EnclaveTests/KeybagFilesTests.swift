import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What the files of the keybag survive, and what they refuse.
@Suite struct KeybagFilesTests {
    enum Damage: String, CaseIterable, Sendable {
        case missing, empty, truncated, zeroed, longer, headFlipped, lastGeneration, bodyFlipped, endFlipped, foreign,
            link

        func apply(to name: String, in home: EnclaveHome) throws {
            var bytes = try home.read(name)
            switch self {
            case .missing: return try home.remove(name)
            case .empty: bytes = []
            case .truncated: bytes.removeLast()
            case .zeroed: bytes = bytes.map { _ in 0 }
            case .longer: bytes.append(0)
            case .headFlipped: bytes[3] ^= 1
            // Behind magic and version; after it there is none.
            case .lastGeneration: bytes.replaceSubrange(12..<20, with: repeatElement(0xFF, count: 8))
            case .bodyFlipped: bytes[bytes.count / 2] ^= 0x80
            case .endFlipped: bytes[bytes.count - 1] ^= 1
            case .foreign: bytes = try EnclaveHome.made().read(name)
            case .link:
                try home.remove(name)
                return try FileManager.default.createSymbolicLink(
                    atPath: home.path(name), withDestinationPath: "/dev/zero")
            }
            try home.write(name, bytes)
        }
    }

    @Test func firstOpeningMakesTwoCopiesOfEachFileForUsAlone() throws {
        let home = try EnclaveHome.made()
        let contents = try home.contents()
        #expect(contents.keys.sorted() == EnclaveHome.keyFiles.sorted())
        for name in ["software-secret", "protectors", "keybag"] {
            #expect(contents["\(name).0"] == contents["\(name).1"])
        }
        for name in EnclaveHome.keyFiles {
            let mode = try FileManager.default.attributesOfItem(atPath: home.path(name))[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        let folder = try FileManager.default.attributesOfItem(atPath: home.path(""))[.posixPermissions]
        #expect(folder as? Int == 0o700)
    }

    @Test func openedAgainItIsTheSameStoreWithTheSameKeys() throws {
        let home = try EnclaveHome()
        var made: [MadeKey] = []
        var (store, index): ([UInt8], [UInt8]) = ([], [])
        do {
            let enclave = try home.open()
            (store, index) = (enclave.storeID, enclave.indexKey.bytes.insecureArray())
            for named in ProtectionClass.allCases where named != .whenPasscodeSetThisDeviceOnly {
                made.append(try MadeKey(in: enclave, .row(named)))
            }
        }
        let before = try home.contents()
        let enclave = try home.open(.named(store))
        #expect(enclave.storeID == store)
        #expect(enclave.indexKey.bytes.insecureArray() == index)
        #expect(try made.allSatisfy { try $0.opens(in: enclave) })
        #expect(try home.contents() == before)
    }

    @Test(arguments: EnclaveHome.keyFiles, Damage.allCases)
    func oneDamagedCopyIsMendedFromTheOther(file: String, damage: Damage) throws {
        let home = try EnclaveHome()
        let made = try MadeKey(in: home.open())
        let before = try home.contents()
        try damage.apply(to: file, in: home)
        do {
            let enclave = try home.open()
            #expect(try made.opens(in: enclave))
            #expect(enclave.describe().unrepairedFiles == [])
        }
        #expect(try home.contents() == before)
    }

    @Test(arguments: ["software-secret", "protectors", "keybag"], Damage.allCases)
    func twoDamagedCopiesAreRefusedAndLeftAsTheyAre(file: String, damage: Damage) throws {
        let home = try EnclaveHome.made()
        for copy in 0..<2 { try damage.apply(to: "\(file).\(copy)", in: home) }
        // A symbolic link leads to /dev/zero, which has no end to compare.
        let before = damage == .link ? nil : try home.contents()
        let reason = home.refusal(.named(Random.bytes(16)))
        #expect([.keybagUnreadable, .storeMismatch].contains(reason))
        if let before { #expect(try home.contents() == before) }
    }

    @Test(arguments: [EnclaveHome.keyFiles, ["keybag.0"], ["protectors.0", "protectors.1"], ["lock"]] as [[String]])
    func whatGoesWhileItIsOpenIsWrittenAgain(_ files: [String]) throws {
        let home = try EnclaveHome()
        let enclave = try home.open()
        let made = try MadeKey(in: enclave)
        let before = try home.contents()
        for file in files { try home.remove(file) }
        #expect(enclave.describe().placeFault == nil)
        #expect(try home.contents() == before)
        #expect(home.refusal(.named(enclave.storeID)) == .storeInUse)
        enclave.close()
        #expect(try made.opens(in: home.open(.named(enclave.storeID))))
    }

    /// Neither a folder that was removed nor what lies in its place is written.
    @Test(arguments: [false, true])
    func aFolderThatGoesWhileItIsOpenIsSaidToBeGone(_ isReplaced: Bool) throws {
        let home = try EnclaveHome()
        let enclave = try home.open()
        try FileManager.default.removeItem(atPath: home.path(""))
        if isReplaced {
            try FileManager.default.createDirectory(
                atPath: home.path(""), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        #expect(enclave.describe().placeFault == (isReplaced ? .replaced : .gone))
        #expect(FileManager.default.fileExists(atPath: home.path("")) == isReplaced)
        if isReplaced { #expect(try home.contents().isEmpty) }
    }

    @Test(arguments: ["software-secret", "protectors"], Damage.allCases)
    func nothingIsMadeAnewOverDamagedFiles(file: String, damage: Damage) throws {
        let home = try EnclaveHome.made()
        for copy in 0..<2 { try damage.apply(to: "\(file).\(copy)", in: home) }
        let reason = home.refusal(.anyOrNew)
        #expect(reason == .keybagUnreadable || reason == .storeMismatch)
    }

    @Test func noFlippedBitIsAuthentic() throws {
        let home = try EnclaveHome.made()
        for kind in [AuthenticatedFile.Kind.protectors, .keybag] {
            let whole = try home.read("\(kind.fileName).0")
            try home.withProtectors { protectors in
                #expect(AuthenticatedFile.parse(kind, whole)?.verified(by: protectors.root) != nil)
                for bit in 0..<(whole.count * 8) {
                    var bytes = whole
                    bytes[bit / 8] ^= 1 << (bit % 8)
                    let file = AuthenticatedFile.parse(kind, bytes)
                    #expect(file?.verified(by: protectors.root) == nil, "\(kind) bit \(bit)")
                }
            }
        }
    }

    @Test func aBitMayFlipAnywhereInOneCopy() throws {
        let home = try EnclaveHome()
        let made = try MadeKey(in: home.open())
        let before = try home.contents()
        for (file, stride) in [("software-secret.0", 4), ("protectors.1", 8), ("keybag.0", 32)] {
            let whole = try #require(before[file])
            for index in Swift.stride(from: 0, to: whole.count, by: stride) {
                var bytes = whole
                bytes[index] ^= 1 << (index / stride % 8)
                try home.write(file, bytes)
                #expect(try made.opens(in: home.open()), "\(file) byte \(index)")
            }
        }
        #expect(try home.contents() == before)
    }

    @Test(arguments: [0, 1])
    func theOlderCopyIsBroughtUpToDate(older: Int) throws {
        let home = try EnclaveHome.made()
        let newer = try home.encodeKeybag(generation: 2)
        try home.write("keybag.\(1 - older)", newer)
        #expect(try home.open().describe().keybagGeneration == 2)
        #expect(try home.read("keybag.\(older)") == newer)
    }

    @Test func aMakingThatWasCutShortIsFinished() throws {
        let whole = try EnclaveHome.made().contents()
        for count in 0...EnclaveHome.keyFiles.count {
            let home = try EnclaveHome()
            _ = try PrivateDirectory(home.path(""), creating: true)
            for name in EnclaveHome.keyFiles.prefix(count) { try home.write(name, try #require(whole[name])) }
            _ = try home.open()
            let after = try home.contents()
            #expect(after.keys.sorted() == EnclaveHome.keyFiles.sorted())
            for name in EnclaveHome.keyFiles.prefix(count) { #expect(after[name] == whole[name], "\(count) \(name)") }
        }
    }

    @Test func aKeybagIsNeverMadeForAStoreThatExists() throws {
        let home = try EnclaveHome()
        #expect(home.refusal(.named(Random.bytes(16))) == .keybagUnreadable)
        #expect(try home.contents().isEmpty)
    }

    @Test func anotherStoreThanTheDatabaseNamesIsAMismatch() throws {
        let home = try EnclaveHome.made()
        let before = try home.contents()
        #expect(home.refusal(.named(Random.bytes(16))) == .storeMismatch)
        #expect(home.refusal(.named([])) == .storeMismatch)
        #expect(try home.contents() == before)
    }

    @Test func aKeybagOfAnotherStoreIsAMismatch() throws {
        let (home, other) = (try EnclaveHome.made(), try EnclaveHome.made())
        for copy in 0..<2 { try home.write("keybag.\(copy)", try other.read("keybag.\(copy)")) }
        let before = try home.contents()
        #expect(home.refusal() == .storeMismatch)
        #expect(try home.contents() == before)
    }

    @Test func aCopyThatCannotBeWrittenAgainIsReported() throws {
        let home = try EnclaveHome()
        let made = try MadeKey(in: home.open())
        try home.remove("keybag.1")
        try FileManager.default.createDirectory(
            atPath: home.path("keybag.1/in the way"), withIntermediateDirectories: true)
        let enclave = try home.open()
        #expect(try made.opens(in: enclave))
        #expect(enclave.describe().unrepairedFiles == ["keybag.1"])
        #expect(enclave.describe().unrepairedFiles == ["keybag.1"], "as long as that is so")
        try home.remove("keybag.1")
        #expect(enclave.describe().unrepairedFiles == [])
        #expect(try home.read("keybag.1") == home.read("keybag.0"))
        // From here on it is looked after again.
        try home.remove("keybag.1")
        #expect(enclave.describe().unrepairedFiles == [])
        #expect(try home.read("keybag.1") == home.read("keybag.0"))
    }

    /// By whomever: what lies there is as good as the other copy.
    @Test(arguments: ["keybag", "protectors", "software-secret"])
    func aCopyThatWasWrittenSinceIsNamedNoMore(_ file: String) throws {
        let home = try EnclaveHome.made()
        let whole = try home.read("\(file).1")
        try home.remove("\(file).1")
        try FileManager.default.createDirectory(atPath: home.path("\(file).1"), withIntermediateDirectories: false)
        let enclave = try home.open()
        #expect(enclave.describe().unrepairedFiles == ["\(file).1"])
        try home.remove("\(file).1")
        try home.write("\(file).1", whole)
        #expect(enclave.describe().unrepairedFiles == [])
    }

    @Test func oneFolderIsOpenOnceAtATime() throws {
        let home = try EnclaveHome()
        let first = try home.open()
        #expect(home.refusal() == .storeInUse)
        withExtendedLifetime(first) {}
    }

    @Test func aFolderOpenToOthersIsRefused() throws {
        let home = try EnclaveHome.made()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.path(""))
        guard case .folderUnusable(let why) = home.refusal() else {
            Issue.record("\(String(describing: home.refusal()))")
            return
        }
        #expect(why.contains("only 0700 is safe"))
    }

    @Test func noFileButTheProtectorsOwnHoldsAKey() throws {
        let home = try EnclaveHome()
        var keys: [[UInt8]] = []
        do {
            let enclave = try home.open()
            keys.append(enclave.indexKey.bytes.insecureArray())
            keys.append(try MadeKey(in: enclave).secret)
            keys.append(try #require(enclave.makeMetadataKey(for: .always).secret))
        }
        keys += try home.withProtectors { protectors in
            let folder = try #require(AuthenticatedFile.parse(.keybag, try home.read("keybag.0")))
            let body = try #require(KeybagBody(parsing: folder.uncheckedBody))
            var keybag = try Keybag(body, generation: 1, root: protectors.root.copy())
            try keybag.unlock(with: .open, effacement: nil)
            let classKeys = ProtectionClass.allCases.compactMap { named -> [UInt8]? in
                guard case .key(let key) = keybag.ring.current(named) else { return nil }
                return key.key.secret.insecureArray()
            }
            #expect(classKeys.count == 6)
            guard
                case .secret(let secret) = SoftwareSecret.parse(
                    SecretBytes(copying: try home.read("software-secret.0")))
            else { throw CocoaError(.fileReadCorruptFile) }
            return classKeys + [protectors.root.insecureArray(), secret.key.secret.insecureArray()]
        }
        for (name, bytes) in try home.contents() {
            let held = keys.filter { bytes.firstRange(of: $0) != nil }
            #expect(held.count == (name.hasPrefix("software-secret") ? 1 : 0), "\(name)")
        }
    }
}
