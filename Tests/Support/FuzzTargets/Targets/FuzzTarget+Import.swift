internal import KeychainCrypto
internal import KeychainPlatform
internal import LatchkeyImport
internal import LatchkeyTransfer

extension FuzzTarget {
    /// A file in CSV of another password manager.
    static let importCSV = FuzzTarget("import-csv", weight: 2, seeds: { ImportSeeds.csv }) { bytes throws(Finding) in
        let source = SourceText(SecretBytes(copying: bytes))
        try CSVProperty.holds(source)
        let document: ImportedDocument
        do throws(ImportFailure) { document = try SourceReader.csv(source, nil) } catch {
            return try claim(!error.message.isEmpty && !error.advice.isEmpty, "refused without a word")
        }
        for entry in document.entries {
            try claim(entry.password.secret().count <= source.count, "a password out of nothing")
            _ = (entry.note.secret().count, entry.addresses.map { SiteAddress($0)?.name })
        }
    }

    /// A JSON file of another password manager.
    static let importJSON = FuzzTarget("import-json", weight: 2, seeds: { ImportSeeds.json }) { bytes throws(Finding) in
        let source = SourceText(SecretBytes(copying: bytes))
        var node = JSONNode.null
        do throws(JSONNode.Flaw) { node = try JSONNode.parse(source) } catch {
            try claim((1...bytes.count + 1).contains(error.line), "a line that is not there")
        }
        try JSONProperty.holds(node, source.count)
        do throws(ImportFailure) { _ = try SourceReader.json(source, nil) } catch {
            try claim(!error.message.isEmpty && !error.advice.isEmpty, "refused without a word")
        }
    }

    /// The lines of an export, and in front of them the parts of an encrypted one.
    static let exportFile = FuzzTarget("export", weight: 4, seeds: { ImportSeeds.exports }) { bytes throws(Finding) in
        var content = bytes
        if bytes.starts(with: SourceContent.encryptedMark), bytes.count >= 20 {
            // What a file may ask for is another matter, and takes seconds.
            content.replaceSubrange(12..<20, with: [0, 0, 0, 1, 0, 0, 0, 8])
            do throws(ImportFailure) {
                content = try ExportFile.open(SecretBytes(copying: content)) { () throws(ImportFailure) in
                    ImportSeeds.words
                }.insecureArray()
            } catch { return }
        }
        let source = SourceText(SecretBytes(copying: content))
        let reader: ExportReader
        do throws(ImportFailure) { reader = try ExportReader.read(source) } catch { return }
        try ExportProperty.holds(reader, lines: source.lines.count)
    }
}

enum CSVProperty {
    /// Records come in the order of their lines, and hold nothing that the text does not.
    static func holds(_ source: SourceText) throws(Finding) {
        var reader = CSVReader(source)
        var last = 0
        // In a text without a line feed a return ends a line.
        let returns = source.content.bytes.count(of: UInt8(ascii: "\r"), in: 0..<source.count)
        let lines = max(source.line(at: source.count), 1 + returns)
        while let record = reader.next() {
            switch record {
            case .malformed(let line, _):
                try claim(line > last && line <= lines, "line \(line) after \(last) of \(lines)")
                last = line
            case .fields(let fields, let line):
                try claim(line > last && line <= lines, "line \(line) after \(last) of \(lines)")
                last = line
                for field in fields {
                    let value = SecretText(field).secret()
                    try claim(value.isUTF8, "a field that is no text")
                    try claim(value.count <= source.count, "a field out of nothing")
                }
            }
        }
    }
}

enum JSONProperty {
    static func holds(_ node: JSONNode, _ limit: Int) throws(Finding) {
        if let text = node.secretText {
            let value = text.secret()
            try claim(value.isUTF8 && value.count <= limit, "a string out of nothing")
        }
        for member in node.members { try holds(member.value, limit) }
        for element in node.elements { try holds(element, limit) }
    }
}

enum ExportProperty {
    /// Each line is the heading, the end, an item or a flaw.
    static func holds(_ reader: ExportReader, lines: Int) throws(Finding) {
        try claim(reader.items.count + reader.flaws.count <= lines + 1, "more than there are lines")
        for item in reader.items { _ = (item.value?.secret().count, item.place) }
    }
}

enum ImportSeeds {
    static var words: SecretBytes { SecretBytes(copying: Array("fixture words".utf8)) }

    static let csv: [[UInt8]] =
        [
            "Title,URL,Username,Password,Notes,OTPAuth\r\nT,https://a.example/x?y,u,\"p\"\"w\",\"a\r\nb\",otpauth://totp/x\r\n",
            "name,url,username,password\nn,a.example:8443/x,u,p\nbroken\nx,\"y\n",
            "url,username,password,httpRealm,formActionOrigin,guid,timeCreated\n\"https://f\",u,p,r,,{g},1582977600000\n",
            "folder,type,name,login_uri,login_username,login_password,other\nF,note,N,\"a.example,b.example\",u,p,o\n",
        ].map { Array($0.utf8) } + [[0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0, 0x0a, 0], [0xef, 0xbb, 0xbf, 0x61]]

    static let json: [[UInt8]] = [
        #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"type":1,"folderId":"f","name":"\u00e4\ud83d\ude00","login":{"uris":[{"uri":"https://a"}],"password":"p"},"creationDate":"2020-02-29T12:00:00Z"},{"type":3,"card":{"number":1.5e3}}]}"#,
        #"{"accounts":[{"vaults":[{"items":[{"createdAt":1,"details":{"sections":[{"fields":[{"title":"t","value":{"totp":"x"}}]}]},"overview":{"title":"T"}}]}]}]}"#,
        #"[[],{},"\\\/\b\f\n\r\t\"",-0.5E-3,true,false,null]"#,
    ].map { Array($0.utf8) }

    private static let lines = Array(
        (#"{"latchkey-export":1,"group":"latchkey"}"# + "\n"
            + #"{"class":"genp","attributes":{"acct":{"text":"a"},"gena":{"data":"AP8="},"type":{"number":1},"zzzz":{"real":"1.5"}},"created":{"date":"1.5"},"modified":{"date":"2"},"value":"AAEC"}"#
            + "\n" + #"{"items":1}"# + "\n").utf8)

    static let exports: [[UInt8]] = [lines, sealed]

    private static var sealed: [UInt8] {
        guard let cost = PassphraseCost(passes: 1, kibibytes: 8) else { return [] }
        let salt = [UInt8](repeating: 7, count: PassphraseKey.saltByteCount)
        do throws(SystemCallError) {
            var stream = SealedStream.Writer(key: try PassphraseKey.derive(from: words, salt: salt, cost: cost))
            let header = SourceContent.encryptedMark + [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8] + salt + stream.header
            let part = stream.seal(SecretBytes(copying: lines), bound: header, as: .last)
            return header + [0, 0, UInt8(part.count >> 8), UInt8(part.count & 0xff)] + part
        } catch { return [] }
    }
}
