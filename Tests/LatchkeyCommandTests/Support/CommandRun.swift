import KeychainClient
import KeychainProtocol
import LatchkeyCommand
import LatchkeyTransfer

/// One run of `latchkey` on a keychain and a console of the test.
struct CommandRun {
    let status: LatchkeyCommand.ExitStatus
    let console: RecordingConsole

    init(_ arguments: String..., on keychain: any KeychainTransport, console: RecordingConsole = RecordingConsole()) {
        self.init(list: arguments, on: keychain, console: console)
    }

    init(
        list arguments: [String], on keychain: any KeychainTransport, console: RecordingConsole = RecordingConsole(),
        transfer: any Transfer = KeychainTransfer.usual, changing change: (inout Surroundings) -> Void = { _ in }
    ) {
        self.console = console
        var surroundings = Self.surroundings(on: keychain, console: console, transfer: transfer)
        change(&surroundings)
        status = LatchkeyProgram.run(arguments, in: surroundings)
    }

    static func surroundings(
        on keychain: any KeychainTransport, console: RecordingConsole = RecordingConsole(),
        transfer: any Transfer = KeychainTransfer.usual
    ) -> Surroundings {
        Surroundings(
            console: console, keychain: { _ in keychain }, shield: .none, currentDirectory: "/work",
            configuration: ClientConfiguration(target: .nowhere), transfer: transfer)
    }

    var text: String { console.text }
    var notes: [String] { console.notes }
    var lastNote: String { console.notes.last ?? "" }
}

extension FakeKeychain {
    /// Stores a secret through the command line.
    @discardableResult
    func set(_ arguments: [String], _ secret: String) -> LatchkeyCommand.ExitStatus {
        LatchkeyProgram.run(
            ["set"] + arguments,
            in: Surroundings(
                console: RecordingConsole(input: Array(secret.utf8)), keychain: { [self] _ in self }, shield: .none,
                currentDirectory: "/work", configuration: ClientConfiguration(target: .nowhere),
                transfer: KeychainTransfer.usual))
    }
}
