internal import Foundation
internal import KeychainTestSupport

/// Folders of this process, removed when it exits in order.
enum Scratch {
    private static let parent: TemporaryDirectory = {
        do {
            let made = try TemporaryDirectory("fuzz")
            // The deinit of a static never runs.
            _ = atexit { Scratch.remove() }
            return made
        } catch {
            preconditionFailure("no temporary folder: \(error)")
        }
    }()

    static func path(_ name: String) -> String { parent.path(name) }

    private static func remove() { try? FileManager.default.removeItem(atPath: parent.path) }
}
