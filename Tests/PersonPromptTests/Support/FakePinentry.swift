import Foundation
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt

/// A program of the test's own in place of pinentry: a shell script that is given
/// each line it reads as $line.
final class FakePinentry {
    let folder: TemporaryDirectory
    let path: String

    /// - Parameters:
    ///   - greeting: run first.
    ///   - getPin: run for GETPIN; every other command is answered OK.
    init(greeting: String = "echo OK", getPin: String, other: String = "echo OK") throws {
        folder = try TemporaryDirectory("pinentry")
        path = folder.path("pinentry")
        let script = """
            echo $$ > \(folder.path("pid"))
            \(greeting)
            while read -r line; do
                echo "$line" >> \(folder.path("heard"))
                case $line in
                GETPIN*) \(getPin) ;;
                BYE*) exit 0 ;;
                *) \(other) ;;
                esac
            done
            """
        try Script.write(script, to: path)
    }

    func screen(calledOffBy: [Descriptor] = []) -> Pinentry {
        let program = Pinentry.Program(
            path: path, environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], options: [("grab", nil)],
            repertoire: .unicode, width: .columns(80))
        return Pinentry(program, calledOffBy: calledOffBy)
    }

    /// The commands that it was given.
    var heard: [String] {
        let text = FileManager.default.contents(atPath: folder.path("heard")).map {
            String(decoding: $0, as: UTF8.self)
        }
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Whether the program and all that it started have gone, or soon have.
    var isGone: Bool {
        guard let text = FileManager.default.contents(atPath: folder.path("pid")),
            let process = Int32(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { return true }
        return Waiting.eventually { Session.processes(of: process).isEmpty }
    }
}
