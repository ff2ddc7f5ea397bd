import Foundation
import KeychainTestSupport

/// What can happen to a file while nobody looks.
enum FileDamage: String, CaseIterable, CustomStringConvertible, Sendable {
    case emptied
    case halved = "cut to half"
    case shortened = "cut by a byte"
    case zeroed
    case flippedFirst = "a bit flipped at its beginning"
    case flippedMiddle = "a bit flipped in the middle"
    case flippedLast = "a bit flipped at its end"
    case older = "replaced by an older copy"
    case others = "replaced by another user's"
    case removed
    case unreadable = "mode 000"
    case folder = "a folder in its place"
    case link = "a dangling link in its place"

    var description: String { rawValue }

    /// Root reads what has mode 000.
    static var possible: [FileDamage] { allCases.filter { $0 != .unreadable || geteuid() != 0 } }

    func apply(to path: String, older: String, others: String) throws {
        let files = FileManager.default
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        switch self {
        case .emptied: try Data().write(to: url)
        case .halved: try bytes.prefix(bytes.count / 2).write(to: url)
        case .shortened: try bytes.dropLast().write(to: url)
        case .zeroed: try Data(count: bytes.count).write(to: url)
        case .flippedFirst, .flippedMiddle, .flippedLast:
            guard !bytes.isEmpty else { return }
            let place = self == .flippedFirst ? 5 : self == .flippedMiddle ? bytes.count / 2 : bytes.count - 1
            bytes[min(place, bytes.count - 1)] ^= 0x10
            try bytes.write(to: url)
        case .older: try Data(contentsOf: URL(fileURLWithPath: older)).write(to: url)
        case .others: try Data(contentsOf: URL(fileURLWithPath: others)).write(to: url)
        case .removed: try files.removeItem(atPath: path)
        case .unreadable: try files.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        case .folder:
            try files.removeItem(atPath: path)
            try files.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        case .link:
            try files.removeItem(atPath: path)
            try files.createSymbolicLink(atPath: path, withDestinationPath: path + ".nowhere")
        }
    }
}

/// A store as it lay on the disk when its processes were killed: an older state,
/// checkpointed, a newer one with a log, and the same files of another store.
struct StoreMold: Sendable {
    let folder: TemporaryDirectory
    static let service = "mold"
    static let accounts = (0..<5).map { "item \($0)" } + (0..<3).map { "late \($0)" }

    var older: String { folder.path("older") }
    var newest: String { folder.path("newest") }
    var others: String { folder.path("others") }

    /// Every state that was ever acknowledged, the last one last.
    static func history(_ account: String) -> [FaultContent] {
        let first = FaultContent(label: 1, value: 1)
        return account.hasPrefix("late") ? [first] : [first, FaultContent(label: 2, value: 2)]
    }

    init() throws {
        folder = try TemporaryDirectory("mold")
        for (name, isOurs) in [("newest", true), ("others", false)] {
            let home = try FaultHome("mold")
            let ledger = Ledger(Self.service)
            for number in 0..<5 { ledger.write(.all, "item \(number)", by: home.client()) }
            try home.endAll(SIGTERM)
            if isOurs { try FileManager.default.copyItem(atPath: home.data, toPath: older) }
            for number in 0..<5 { ledger.write(.all, "item \(number)", by: home.client()) }
            for number in 0..<3 { ledger.write(.all, "late \(number)", by: home.client()) }
            try home.endAll()
            // Where an enclave that was killed listened; no file to be copied.
            try FileManager.default.removeItem(atPath: "\(home.data)/run")
            try FileManager.default.copyItem(atPath: home.data, toPath: folder.path(name))
        }
        // A clean end leaves no log behind: the older state has an empty one.
        for companion in ["-wal", "-shm"] where !FileManager.default.fileExists(atPath: "\(older)/keychain.db\(companion)") {
            try Data().write(to: URL(fileURLWithPath: "\(older)/keychain.db\(companion)"))
        }
    }

    static let shared: Result<StoreMold, any Error> = Result { try StoreMold() }

    /// A home with a copy of the newest state.
    func home() throws -> FaultHome {
        let home = try FaultHome("damage")
        try FileManager.default.copyItem(atPath: newest, toPath: home.data)
        return home
    }
}
