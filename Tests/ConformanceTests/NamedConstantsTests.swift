import Conformance
import Foundation
import Testing

@Suite struct NamedConstantsTests {
    /// The table names every text constant of the C-shaped door.
    @Test func nameEveryConstantOfTheDoor() throws {
        let door = URL(fileURLWithPath: OwnCorpus.folder + "/../../../Sources/KeychainServices").standardizedFileURL
            .path
        let files = try FileManager.default.contentsOfDirectory(atPath: door).filter { $0.hasPrefix("Constants+") }
        try #require(!files.isEmpty)
        for file in files {
            let text = try String(contentsOfFile: door + "/" + file, encoding: .utf8)
            for match in text.matches(of: /public let (kSec\w+): CFString/) {
                #expect(NamedConstants.text(String(match.1)) != nil, "\(match.1)")
            }
        }
    }

    @Test func haveRealValues() {
        #expect(NamedConstants.text("kSecAttrAccount") == "acct")
        #expect(NamedConstants.text("kSecUseTombstones") == "u_Tomb")
        #expect(NamedConstants.text("kSecBogus") == nil)
    }
}
