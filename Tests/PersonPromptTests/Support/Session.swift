import Foundation
import KeychainPlatform

enum Session {
    /// The processes of a session that run; what has ended and waits for its parent
    /// to notice does not.
    static func processes(of session: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.filter { process in
            guard let text = FileManager.default.contents(atPath: "/proc/\(process)/stat"),
                let record = ProcessRecord(Array(text))
            else { return false }
            return record.session == session && !String(decoding: text, as: UTF8.self).contains(") Z ")
        }
    }
}
