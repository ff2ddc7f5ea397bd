import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

@Suite struct TemporaryFolderTests {
    let parent: TemporaryDirectory

    init() throws { parent = try TemporaryDirectory("sweep") }

    private var names: [String] { FolderContent.names(at: parent.path).sorted() }

    @Test func isPrivateAndRemovedWithItsContent() throws {
        let folder = try TemporaryFolder.make(in: parent.path, prefix: "t")
        #expect(folder.path.hasPrefix(parent.path + "/t-"))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        try FileManager.default.createDirectory(atPath: folder.path + "/a/b", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/a/out", withDestinationPath: parent.path)
        try folder.remove()
        #expect(names == [])
        try folder.remove()
    }

    @Test func sweepsWhatNobodyHolds() throws {
        let held = try TemporaryFolder.make(in: parent.path, prefix: "t")
        try abandon("t-aaaaaa")
        #expect(TemporaryFolder.sweep(parent.path, prefix: "t") == 1)
        #expect(names.map { "\(parent.path)/\($0)" } == [held.path])
    }

    @Test func leavesWhatIsNotItsOwn() throws {
        try abandon("t-toolong")
        try abandon("u-aaaaaa")
        try abandon("t-openxx", mode: 0o755)
        try FileManager.default.createSymbolicLink(
            atPath: parent.path("t-linkxx"), withDestinationPath: parent.path("u-aaaaaa"))
        #expect(TemporaryFolder.sweep(parent.path, prefix: "t") == 0)
        #expect(names == ["t-linkxx", "t-openxx", "t-toolong", "u-aaaaaa"])
    }

    @Test func makersAndSweepersDoNotMeet() async throws {
        let path = parent.path
        let folders = try await withThrowingTaskGroup(of: TemporaryFolder?.self) { group in
            for number in 0..<60 {
                group.addTask {
                    if number % 2 == 0 { return try TemporaryFolder.make(in: path, prefix: "t") }
                    TemporaryFolder.sweep(path, prefix: "t")
                    return nil
                }
            }
            return try await group.reduce(into: [TemporaryFolder]()) { if let made = $1 { $0.append(made) } }
        }
        #expect(folders.count == 30)
        #expect(folders.allSatisfy { FileManager.default.fileExists(atPath: $0.path + "/temp.lock") })
    }

    private func abandon(_ name: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: parent.path(name), withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
        try Data("x".utf8).write(to: URL(fileURLWithPath: parent.path(name) + "/file"))
    }
}
