/// Numbers in a page, as SQLite writes them: big-endian
/// (<https://sqlite.org/fileformat2.html>, sections 1.3 to 1.6). Never reads past the end.
enum PageBytes {
    /// The size of every page of ours (``MendedCopy``); no bytes are reserved.
    static let pageSize = 4096

    /// nil where the bytes end before it does.
    static func number16(_ bytes: [UInt8], _ offset: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - 2 else { return nil }
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    static func number32(_ bytes: [UInt8], _ offset: Int) -> UInt32? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A number of one to nine bytes, seven bits in each but the ninth, which has eight (section 1.6).
    ///
    /// - Parameter offset: goes to behind it.
    /// - Returns: nil where the bytes end before it does.
    static func variable(_ bytes: [UInt8], _ offset: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for index in 0..<9 {
            guard offset >= 0, offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return number << 8 | UInt64(byte) }
            number = number << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return number }
        }
        return number
    }
}
