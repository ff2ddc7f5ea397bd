internal import KeychainModel
internal import KeychainPlatform

/// What the secret seal of a row holds: the value, and attributes that are
/// handed out only with it (FORMATS.md, "Secret").
///
/// One byte: 1 where there is a value. Four bytes big-endian: how many extras.
/// Each extra: code (4), length (4, big-endian), bytes. The rest is the value.
struct SecretPayload: ~Copyable {
    let extras: AttributeMap
    let value: SharedSecret?

    init(extras: AttributeMap, value: SharedSecret?) {
        self.extras = extras
        self.value = value
    }

    var isEmpty: Bool { extras.isEmpty && value == nil }

    /// - Throws: -108 where there is no memory for another copy of the value.
    func encoded() throws(KeychainError) -> SecretBytes {
        var head: [UInt8] = [value == nil ? 0 : 1] + Self.number(extras.count)
        for (code, extra) in extras.entries {
            let bytes = extra.comparisonBytes(as: .data) ?? []
            head += Self.number(Int(code.rawValue)) + Self.number(bytes.count) + bytes
        }
        let valueCount = value?.bytes.count ?? 0
        var out: SecretBytes
        do throws(SystemCallError) { out = try SecretBytes(allocating: head.count + valueCount) } catch {
            throw .noMemory(for: "the value")
        }
        unsafe out.withUnsafeMutableBytes { place in
            unsafe place.copyBytes(from: head)
            guard let value, valueCount > 0 else { return }
            unsafe value.bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: place[head.count...]).copyMemory(from: source)
            }
        }
        return out
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// nil for bytes that no version of ours wrote.
    ///
    /// - Throws: -108 where there is no memory for another copy of the value.
    init?(encoded bytes: borrowing SecretBytes) throws(KeychainError) {
        var extras = AttributeMap()
        let parsed: (hasValue: Bool, at: Int)? = unsafe bytes.withUnsafeBytes { raw in
            guard raw.count >= 5, unsafe raw[0] <= 1 else { return nil }
            var at = 5
            for _ in 0..<(unsafe Self.number(raw, 1)) {
                guard raw.count - at >= 8 else { return nil }
                let code = unsafe AttributeCode(rawValue: UInt32(Self.number(raw, at)))
                let count = unsafe Self.number(raw, at + 4)
                at += 8
                guard raw.count - at >= count, extras[code] == nil else { return nil }
                extras[code] = unsafe .data(Array(raw[at..<at + count]))
                at += count
            }
            return (unsafe raw[0] == 1, at)
        }
        guard let parsed, parsed.hasValue || parsed.at == bytes.count else { return nil }
        guard parsed.hasValue else {
            self.init(extras: extras, value: nil)
            return
        }
        let held: SecretBytes
        do throws(SystemCallError) { held = try bytes.copy(allocating: parsed.at..<bytes.count) } catch {
            throw .noMemory(for: "the value")
        }
        self.init(extras: extras, value: SharedSecret(held))
    }

    private static func number(_ raw: UnsafeRawBufferPointer, _ at: Int) -> Int {
        var value = 0
        for index in at..<at + 4 { value = unsafe value << 8 | Int(raw[index]) }
        return value
    }
}
