internal import KeychainModel
internal import KeychainProtocol

/// The rows of an unwrap request as one run of bytes: every read of a value
/// needs one, and a message for each row costs as much as opening its key.
///
/// A row: class number (1), whether what a person is shown is bound (1), generation
/// (4), length of the uuid (4), of the access control (4), of the box (4), of label
/// (4) and group (4), then the five. Numbers are big-endian, text is UTF-8.
/// What the lengths say is all there is (FORMATS.md, "Packed rows").
enum PackedRows {
    private static let parts = 5
    private static let head = 2 + 4 + 4 * parts

    static func encode(_ rows: ArraySlice<(binding: RowBinding, wrapped: WrappedKey)>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(rows.count * (head + 16 + WrappedKey.boxByteCount))
        for (binding, wrapped) in rows {
            out.append(binding.protectionClass.number)
            out.append(binding.shown == nil ? 0 : 1)
            append(wrapped.generation, to: &out)
            let (label, group) = (binding.shown?.label ?? "", binding.shown?.group ?? "")
            append(UInt32(binding.uuid.count), to: &out)
            append(UInt32(binding.accessControl.count), to: &out)
            append(UInt32(wrapped.box.count), to: &out)
            append(UInt32(label.utf8.count), to: &out)
            append(UInt32(group.utf8.count), to: &out)
            out.append(contentsOf: binding.uuid)
            out.append(contentsOf: binding.accessControl)
            out.append(contentsOf: wrapped.box)
            out.append(contentsOf: label.utf8)
            out.append(contentsOf: group.utf8)
        }
        return out
    }

    /// nil for bytes that are not exactly rows, for a class that this program does
    /// not know, and for more rows than a batch has.
    static func decode(_ bytes: [UInt8]) -> [(binding: RowBinding, wrapped: WrappedKey)]? { decode(bytes[...]) }

    static func decode(_ bytes: ArraySlice<UInt8>) -> [(binding: RowBinding, wrapped: WrappedKey)]? {
        var rows: [(binding: RowBinding, wrapped: WrappedKey)] = []
        rows.reserveCapacity(min(EnclaveProtocol.batch, bytes.count / head))
        var at = bytes.startIndex
        while at < bytes.endIndex {
            guard rows.count < EnclaveProtocol.batch, let row = row(in: bytes, at: &at) else { return nil }
            rows.append(row)
        }
        return rows
    }

    private static func row(
        in bytes: ArraySlice<UInt8>, at place: inout Int
    ) -> (binding: RowBinding, wrapped: WrappedKey)? {
        guard bytes.endIndex - place >= head, let named = ProtectionClass(number: bytes[place]),
            bytes[place + 1] <= 1
        else { return nil }
        let isShown = bytes[place + 1] == 1
        let generation = number(in: bytes, at: place + 2)
        func count(_ part: Int) -> Int { Int(number(in: bytes, at: place + 6 + 4 * part)) }
        let counts = (count(0), count(1), count(2), count(3), count(4))
        place += head
        guard bytes.endIndex - place >= counts.0 + counts.1 + counts.2 + counts.3 + counts.4 else { return nil }
        func next(_ count: Int) -> ArraySlice<UInt8> {
            defer { place += count }
            return bytes[place..<place + count]
        }
        let (uuid, accessControl, box) = (Array(next(counts.0)), Array(next(counts.1)), Array(next(counts.2)))
        guard let label = text(next(counts.3)), let group = text(next(counts.4)),
            isShown || label.isEmpty && group.isEmpty
        else { return nil }
        return (
            RowBinding(
                uuid: uuid, protectionClass: named, accessControl: accessControl,
                shown: isShown ? ShownItem(label: label, group: group) : nil),
            WrappedKey(generation: generation, box: box)
        )
    }

    /// Hardly any row has one.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.isEmpty ? "" : String(validating: bytes, as: UTF8.self)
    }

    private static func append(_ number: UInt32, to out: inout [UInt8]) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe out.append(contentsOf: $0) }
    }

    private static func number(in bytes: ArraySlice<UInt8>, at place: Int) -> UInt32 {
        UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16 | UInt32(bytes[place + 2]) << 8
            | UInt32(bytes[place + 3])
    }
}
