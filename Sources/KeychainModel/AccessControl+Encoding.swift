// The canonical form (FORMATS.md, "Access control"): version, protection,
// application password, then operations in byte order, each length-prefixed.
// One object has one encoding, so equality and binding are over these bytes.

extension AccessControl {
    static let encodingVersion: UInt8 = 1
    /// Deeper nesting than any object of ours: refused.
    static let deepestNesting = 8

    package var encoded: [UInt8] {
        var out: [UInt8] = [Self.encodingVersion]
        Self.put(protection, into: &out)
        out.append(requiresApplicationPassword ? 1 : 0)
        out.append(UInt8(constraints.count))
        for operation in constraints.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            Self.put(operation, into: &out)
            constraints[operation]?.encode(into: &out)
        }
        return out
    }

    private static func put(_ text: String, into out: inout [UInt8]) {
        out.append(UInt8(text.utf8.count))
        out.append(contentsOf: text.utf8)
    }

    /// nil for anything that is not exactly what ``encoded`` writes.
    package init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.encodingVersion, let protection = reader.text(),
            protection == "f" || ProtectionClass(rawValue: protection) != nil,
            let password = reader.byte(), password <= 1, let count = reader.byte()
        else { return nil }
        var constraints: [String: AccessConstraint] = [:]
        for _ in 0..<count {
            guard let operation = reader.text(), let constraint = AccessConstraint(from: &reader, depth: 0)
            else { return nil }
            constraints[operation] = constraint
        }
        self.init(protection: protection, constraints: constraints, requiresApplicationPassword: password == 1)
        guard reader.isAtEnd, encoded == bytes else { return nil }
    }
}

extension AccessConstraint {
    private var tag: UInt8 {
        switch self {
        case .denied: 0
        case .allowed: 1
        case .deviceOwner: 2
        case .passcode: 3
        case .biometry(currentSet: false): 4
        case .biometry(currentSet: true): 5
        case .watch: 6
        case .atLeast: 7
        case .enrolledBiometry: 8
        case .unsupported: 255
        }
    }

    func encode(into out: inout [UInt8]) {
        out.append(tag)
        if case .enrolledBiometry(let enrolment) = self {
            out.append(UInt8(clamping: enrolment.count))
            out.append(contentsOf: enrolment.prefix(255))
        }
        guard case .atLeast(let needed, let elements) = self else { return }
        out.append(UInt8(needed))
        out.append(UInt8(elements.count))
        for element in elements { element.encode(into: &out) }
    }

    init?(from reader: inout ByteReader, depth: Int) {
        guard depth < AccessControl.deepestNesting, let tag = reader.byte() else { return nil }
        switch tag {
        case 0: self = .denied
        case 1: self = .allowed
        case 2: self = .deviceOwner
        case 3: self = .passcode
        case 4: self = .biometry(currentSet: false)
        case 5: self = .biometry(currentSet: true)
        case 6: self = .watch
        case 7:
            guard let needed = reader.byte(), let count = reader.byte() else { return nil }
            var elements: [AccessConstraint] = []
            for _ in 0..<count {
                guard let element = AccessConstraint(from: &reader, depth: depth + 1) else { return nil }
                elements.append(element)
            }
            self = .atLeast(Int(needed), of: elements)
        case 8:
            guard let enrolment = reader.octets() else { return nil }
            self = .enrolledBiometry(enrolment)
        case 255: self = .unsupported
        default: return nil
        }
    }
}

/// Reads length-prefixed fields; every read past the end is nil.
struct ByteReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func byte() -> UInt8? {
        guard at < bytes.count else { return nil }
        defer { at += 1 }
        return bytes[at]
    }

    mutating func octets() -> [UInt8]? {
        guard let count = byte(), bytes.count - at >= Int(count) else { return nil }
        defer { at += Int(count) }
        return Array(bytes[at..<at + Int(count)])
    }

    mutating func text() -> String? {
        guard let count = byte(), bytes.count - at >= Int(count) else { return nil }
        defer { at += Int(count) }
        return String(validUTF8: bytes[at..<at + Int(count)])
    }
}
