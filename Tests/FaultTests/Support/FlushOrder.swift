/// What a trace (strace -y) says of one folder's files: whether each change was
/// durable before the next file was changed, and before anybody was answered.
struct FlushOrder {
    private(set) var changes = 0
    private(set) var answers = 0
    /// Calls that came too early.
    private(set) var early: [String] = []
    private let folder: String
    private var dirty: Set<String> = []

    init(of lines: [String], in folder: String) {
        self.folder = folder
        for line in lines { take(String(line.drop { $0.isNumber || $0 == " " })) }
    }

    private mutating func take(_ call: String) {
        let name = call.prefix { $0 != "(" }
        let path = call.split(separator: "<", maxSplits: 1).last?.prefix { $0 != ">" }.description ?? ""
        switch name {
        case "write", "pwrite64":
            guard path.hasPrefix(folder + "/") else { return }
            refuse(unless: dirty.subtracting([path]).isEmpty, call)
            changes += 1
            dirty.insert(path)
        case "renameat", "renameat2":
            guard path == folder else { return }
            refuse(unless: dirty.isEmpty, call)
            changes += 1
            dirty.insert(folder)
        case "fsync", "fdatasync": if call.hasSuffix("= 0") { dirty.remove(path) }
        case "sendmsg", "sendto":
            answers += 1
            refuse(unless: dirty.isEmpty, call)
        default: return
        }
    }

    private mutating func refuse(unless isDurable: Bool, _ call: String) {
        if !isDurable { early.append(String(call.prefix(80))) }
    }
}
