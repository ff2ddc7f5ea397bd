import Foundation
import KeychainPlatform
import Testing

/// A copy of the data folder, made while everything runs, is another keychain: what is done
/// with it is not done with the one that was copied, whose lock files say where that one is.
@Suite struct CopiedFolderTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms(runtime: true) }

    private var data: String { programs.home + "/data/latchkey" }

    /// What somebody makes who wants a copy.
    private func copy() throws -> String {
        let place = programs.home + "/copy"
        #expect(try programs.shell("cp -a \(data) \(place)").status == 0)
        return place
    }

    @Test func whatIsRemovedFromACopyStaysInTheOriginal() throws {
        try programs.latchkey("set", "keep", input: Data("CANARY".utf8))
        let before = try programs.daemonProcess()
        let place = try copy()
        let removed = try programs.latchkey("--data-dir", place, "rm", "keep", "--yes")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try programs.latchkey("--data-dir", place, "get", "keep").status == 1)
        #expect(try programs.latchkey("get", "keep").text == "CANARY")
        #expect(try programs.daemonProcess() == before)
    }

    /// The enclave of an original stays open after its daemon has gone.
    @Test func aCopyIsNotOpenBecauseTheOriginalIs() throws {
        try programs.latchkey("set", "secret", input: Data("CANARY".utf8))
        try programs.latchkey("passcode", "set", input: Data("first words".utf8))
        try programs.latchkey("unlock", input: Data("first words".utf8))
        for process in programs.processes("latchkeyd") {
            kill(process, SIGTERM)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
        let place = try copy()
        let got = try programs.latchkey("--data-dir", place, "get", "secret")
        #expect(got.status == 3 && !got.text.contains("CANARY"), "\(got.text)\(got.errors)")
        let changed = try programs.latchkey(
            "--data-dir", place, "passcode", "change", input: Data("first words\nother words".utf8))
        #expect(changed.status == 0, "\(changed.errors)")
        // The original is as it was: open, and its passcode the same.
        let read = try programs.latchkey("get", "secret")
        #expect(read.text == "CANARY", "\(read.errors)")
        #expect(try programs.latchkey("lock").status == 0)
        #expect(try programs.latchkey("unlock", input: Data("other words".utf8)).status == 3)
        #expect(try programs.latchkey("unlock", input: Data("first words".utf8)).status == 0)
        #expect(try programs.latchkey("get", "secret").text == "CANARY")
    }

    /// As after umount(8) of a home that lay over another, while its daemon goes on.
    @Test(arguments: [true, false])
    func aStoreThatComesBackInAnothersPlaceIsServedByItsOwn(withRuntime hasRuntime: Bool) throws {
        let programs = try BuiltPrograms(runtime: hasRuntime)
        let (place, below, above) = (
            programs.home + "/data/latchkey", programs.home + "/below", programs.home + "/above"
        )
        try programs.latchkey("set", "a", input: Data("below".utf8))
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        try FileManager.default.moveItem(atPath: place, toPath: below)
        try programs.latchkey("set", "a", input: Data("above".utf8))
        let hidden = try programs.daemonProcess()
        try FileManager.default.moveItem(atPath: place, toPath: above)
        try FileManager.default.moveItem(atPath: below, toPath: place)
        // It leaves, since nobody is connected.
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        #expect(try ProcessHandle.waitForEnd(of: hidden, until: deadline) == .ready)
        let read = try programs.latchkey("get", "a")
        #expect(read.text == "below", "\(read.errors)")
        #expect(try programs.latchkey("set", "b", input: Data("more".utf8)).status == 0)
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        // And nothing of the other is lost.
        #expect(try programs.latchkey("--data-dir", above, "get", "a").text == "above")
    }
}
