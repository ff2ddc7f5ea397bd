internal import KeychainPlatform

/// A 1PUX file: a ZIP archive, unpacked by unzip into a pipe.
struct OnePasswordArchive {
    private static let dataLimit = 512 << 20
    /// What an item may hold.
    private static let fileLimit = 64 << 20
    /// What all of them together may hold, each counted once.
    private static let totalLimit = 512 << 20

    private let path: String
    private let unzip: ImportTool

    /// - Parameter path: absolute.
    init(_ path: String) throws(ImportFailure) {
        // unzip takes it for a pattern.
        self.path = path.reduce(into: "") { out, character in
            if "[]*?\\".contains(character) { out += "\\" }
            out.append(character)
        }
        unzip = try ImportTool("unzip", package: "unzip", at: ["/usr/bin/unzip", "/bin/unzip"])
    }

    func read() throws(ImportFailure) -> ImportedDocument {
        let run = try unzip.run(["-p", path, "export.data"], outputLimit: Self.dataLimit)
        guard run.status == 0 else {
            try refuseOthers()
            throw ImportFailure(
                .wrongSource, "this archive has no export.data that can be unpacked (unzip: \(run.complaint))",
                "Give a file that 1Password exported as 1PUX.")
        }
        let root = try JSONNode.whole(SourceText(run.output.copy()))
        let names = try names()
        var known: [String: Result<SharedSecret, ImportFailure>] = [:]
        var total = 0
        return try OnePasswordSource.read(root) { identifier in
            if let unpacked = known[identifier] { return unpacked }
            let unpacked = total < Self.totalLimit ? file(identifier, of: names) : .failure(Self.tooMuch)
            if case .success(let content) = unpacked { total += content.bytes.count }
            known[identifier] = unpacked
            return unpacked
        }
    }

    /// Of all files in the archive.
    private func names() throws(ImportFailure) -> [Substring] {
        let run = try unzip.run(["-Z1", path], outputLimit: Self.dataLimit)
        return String(decoding: run.output.insecureArray(), as: UTF8.self).split(separator: "\n")
    }

    /// Archives of other programs, by the names of what is in them.
    private func refuseOthers() throws(ImportFailure) {
        let names = try names().prefix(1000)
        if names.contains("data.json") {
            throw ImportFailure(
                .wrongSource, "this is an export of Bitwarden with its attachments (.zip)",
                "Unpack it, give the data.json of it, and remove both afterwards; the attachments are not read.")
        }
        if names.contains(where: { $0.hasPrefix("Proton Pass/") }) {
            throw ImportFailure(
                .wrongSource, "this is an export of Proton Pass (.zip)",
                "Export from Proton Pass as CSV, and import that.")
        }
    }

    private static let tooMuch = ImportFailure(
        .wrongSource, "the archive's files hold more than 512 MiB together", "")

    /// Files are stored as `files/DOCUMENT__NAME`. Of several for one document unzip would write
    /// one behind the other.
    private func file(_ identifier: String, of names: [Substring]) -> Result<SharedSecret, ImportFailure> {
        // The name is a pattern to unzip.
        guard !identifier.isEmpty, identifier.utf8.allSatisfy({ Self.isLetterOrDigit($0) }) else {
            return .failure(ImportFailure(.wrongSource, "it has no name in the archive", ""))
        }
        let count = names.count { $0.hasPrefix("files/\(identifier)__") }
        guard count == 1 else {
            let why = "the archive has \(count == 0 ? "none" : "several") for its number"
            return .failure(ImportFailure(.wrongSource, why, ""))
        }
        do throws(ImportFailure) {
            let run = try unzip.run(["-p", path, "files/\(identifier)__*"], outputLimit: Self.fileLimit)
            guard run.status == 0 else {
                return .failure(ImportFailure(.wrongSource, "unzip: \(run.complaint)", ""))
            }
            return .success(SharedSecret(run.output.copy()))
        } catch {
            return .failure(error)
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let scalar = Unicode.Scalar(byte)
        return byte < 0x80 && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || byte == 0x2d)
    }
}

extension JSONNode {
    static func whole(_ source: SourceText) throws(ImportFailure) -> JSONNode {
        do throws(Flaw) { return try parse(source) } catch {
            throw ImportFailure(
                .wrongSource, "line \(error.line): \(error.reason.rawValue)",
                "Nothing was imported; export it anew, or mend that line.")
        }
    }
}
