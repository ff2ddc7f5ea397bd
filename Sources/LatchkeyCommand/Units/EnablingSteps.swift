internal import KeychainPlatform

/// What `latchkey secret-service enable` has done so far, and its way back.
struct EnablingSteps {
    struct Written {
        let path: String
        /// What we had written there before.
        let former: OwnFile?
    }

    private(set) var written: [Written] = []
    private var putAside: [String] = []
    private var masks: [UnitMask] = []

    var isEmpty: Bool { written.isEmpty && putAside.isEmpty && masks.isEmpty }

    /// Whether a file of this name is there since now.
    func hasMade(_ name: String) -> Bool { written.contains { $0.path.hasSuffix("/\(name)") && $0.former == nil } }

    mutating func putAside(_ path: String) throws(CommandFailure) {
        do throws(SystemCallError) { _ = try FileMove.move(path, to: path + SecretServiceEnabling.aside) } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be put aside (\(error))",
                "Look at \(PrintableText.escaped(path + SecretServiceEnabling.aside)): it is there from before, or its folder cannot be written."
            )
        }
        putAside.append(path)
    }

    mutating func write(_ file: OwnFile) throws(CommandFailure) {
        let former = try OwnFile.content(file.path)
        try file.write()
        let isOurs = former??.hasPrefix(SecretServiceUnits.mark) == true
        written.append(
            Written(
                path: file.path,
                former: isOurs ? former?.map { OwnFile(file.path, $0, marked: SecretServiceUnits.mark) } : nil))
    }

    mutating func set(_ mask: UnitMask) throws(CommandFailure) {
        // Another's is not ours to take back.
        if try mask.set() { masks.append(mask) }
    }

    func undo(_ tidying: inout Tidying) {
        for mask in masks { tidying.attempt { () throws(CommandFailure) in _ = try mask.remove() } }
        for step in written.reversed() {
            if let former = step.former {
                tidying.attempt(former.write)
            } else {
                _ = tidying.attempt(with: step.path) { () throws(SystemCallError) in
                    try FileRemoval.remove(FilePath(step.path))
                }
            }
        }
        for path in putAside {
            _ = tidying.attempt(with: path) { () throws(SystemCallError) in
                try FileMove.move(path + SecretServiceEnabling.aside, to: path)
            }
        }
    }
}
