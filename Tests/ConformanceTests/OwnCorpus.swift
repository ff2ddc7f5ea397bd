import Foundation

/// Beside this file, so that the tests pass wherever the clone lies.
enum OwnCorpus {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")
        .path
}
