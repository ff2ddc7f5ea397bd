import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Entries of the real KWallet (KDE Frameworks 5), which is opened as at a login, without a
/// display.
@Suite(.enabled(if: WalletScene.isInstalled, "libkf5wallet-bin, dbus or python3-dbus is missing"))
struct WalletEndToEndTests {
    private let programs: BuiltPrograms
    private let wallet: WalletScene

    init() throws {
        programs = try BuiltPrograms(runtime: true)
        wallet = try WalletScene(programs)
    }

    private static let entries = """
        h = k.open('kdewallet', dbus.Int64(0), 'test')
        k.createFolder(h, 'Mail', 'test')
        k.writePassword(h, 'Mail', 'alice', 'geh\\u00e4im \\U0001f511', 'test')
        k.writeEntry(h, 'Mail', 'stream', dbus.ByteArray(bytes(range(256))), dbus.Int32(2), 'test')
        q = lambda t: struct.pack('>I', len(t.encode('utf-16-be'))) + t.encode('utf-16-be')
        k.writeMap(h, 'Mail', 'map', dbus.ByteArray(struct.pack('>I', 3) + q('user') + q('b\\u00f6b') + q('password') + q('pw') + q('null') + b'\\xff' * 4), 'test')
        k.writeMap(h, 'Mail', 'broken', dbus.ByteArray(b'\\xff\\xff\\xff\\xfe\\0'), 'test')
        """

    @Test func everyKindOfEntryIsFoundByItsFolderAndName() throws {
        try wallet.run(Self.entries)
        let before = try wallet.everything()
        let dry = try wallet.latchkey("import", "--dry-run", "--from", "kwallet")
        #expect(
            dry.status == 1 && dry.text.contains("Would have added 5.") && dry.text.contains("Mail, alice"),
            "\(dry.text)\(dry.errors)")
        #expect(try programs.latchkey("list").text.isEmpty && !dry.text.contains("gehäim"))
        let first = try wallet.latchkey("import", "--from", "kwallet")
        #expect(first.status == 1 && first.text.contains("Has added 5."), "\(first.text)\(first.errors)")
        #expect(first.text.contains("Mail/broken: this map cannot be read"))
        #expect(try programs.latchkey("get", "Mail", "alice").text == "gehäim 🔑")
        #expect(try programs.latchkey("get", "Mail", "stream").output == Data(0...255))
        #expect(try programs.latchkey("get", "Mail", "map (user)").text == "böb")
        #expect(try programs.latchkey("get", "Mail", "map (password)").text == "pw")
        #expect(try programs.latchkey("get", "Mail", "map (null)").text.isEmpty)
        let second = try wallet.latchkey("import", "--from", "kwallet")
        #expect(second.text.contains("Has left 5 unchanged."), "\(second.text)")
        #expect(try wallet.everything() == before && !before.isEmpty, "the source was changed")
    }

    /// Where both are there the newer one has what programs store now.
    @Test func theWalletOfKDEFrameworks6IsReadByItsName() throws {
        try wallet.run(Self.entries)
        let heard = try wallet.callItselfSix()
        let first = try wallet.latchkey("import", "--from", "kwallet")
        #expect(first.text.contains("Has added 5."), "\(first.text)\(first.errors)")
        #expect(heard().filter { $0.hasPrefix("read") }.sorted() == ["readEntry", "readMap", "readMap", "readPassword"])
        #expect(try programs.latchkey("get", "Mail", "stream").output == Data(0...255))
        #expect(try programs.latchkey("get", "Mail", "map (user)").text == "böb")
        let second = try wallet.latchkey("import", "--from", "kwallet")
        #expect(second.text.contains("Has left 5 unchanged."), "\(second.text)")
    }

    @Test func aClosedWalletIsNamedAndNothingHangs() throws {
        try wallet.run(Self.entries + "\nk.close('kdewallet', True)")
        let outcome = try wallet.latchkey("import", "--from", "kwallet")
        #expect(outcome.status == 1 && outcome.text.contains("kdewallet: the wallet is closed"), "\(outcome.text)")
        #expect(try programs.latchkey("list").text.isEmpty)
    }

    @Test func withoutKWalletItSaysSo() throws {
        wallet.end()
        let outcome = try wallet.latchkey("import", "--from", "kwallet")
        #expect(outcome.status == 69 && outcome.errors.contains("KWallet does not run"), "\(outcome.errors)")
    }
}
