@_implementationOnly import CLatchkeySession
internal import KeychainPlatform

/// A call that came over a bus, parsed.
@safe package final class BusCall {
    package let path: ObjectPath
    /// Empty where the caller named none.
    package let interface: String
    package let member: String
    package let arguments: [BusValue]
    /// About the memory that it keeps, in bytes: its message, and its arguments as values. Of
    /// the message's header what we know is counted: a bus lets no other field through.
    let weight: Int
    /// The name of the caller's connection, as the bus or, where there is none, we gave it.
    package let sender: String
    /// Whom it is for, as the caller wrote it; empty where nothing is said.
    package let destination: String
    /// What it came over.
    package let bus: SessionBus
    private let message: OpaquePointer
    private var isAnswered = false

    /// nil for a message whose path or arguments are not as D-Bus has them.
    ///
    /// - Throws: where its arguments cannot be taken, in words for the caller.
    init?(_ message: OpaquePointer, over bus: SessionBus) throws(BusError) {
        guard let path = unsafe sd_bus_message_get_path(message).flatMap({ unsafe ObjectPath(String(cString: $0)) }),
            let member = unsafe sd_bus_message_get_member(message).map({ unsafe String(cString: $0) })
        else { return nil }
        // Secrets may be in it: sd-bus wipes what it frees of such a message.
        unsafe sd_bus_message_sensitive(message)
        // Before anything is held: where this throws nothing is left to be let go.
        var read = MessageReader.Reading()
        arguments = try unsafe MessageReader(message).all(&read)
        self.path = path
        self.member = member
        interface = unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) } ?? ""
        // Of a direct connection only we know whose it is; what it writes there is its own word.
        let named = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
        sender = bus.direct?.client ?? named ?? ""
        destination = unsafe sd_bus_message_get_destination(message).map { unsafe String(cString: $0) } ?? ""
        let header = [path.text, member, interface, sender, destination]
        weight = read.byteCount + 2 * header.reduce(0) { $0 + $1.utf8.count }
        self.bus = bus
        unsafe self.message = sd_bus_message_ref(message)
    }

    deinit {
        // A call that nobody answered would wait for its time to be over.
        if !isAnswered { refuse(BusError(.failed, "nobody answered")) }
        unsafe sd_bus_message_unref(message)
    }

    /// Who called, as it was found with the first call of the connection.
    package internal(set) var caller = BusCaller.unknown

    package func answer(_ values: [BusValue] = []) {
        var reply: OpaquePointer?
        isAnswered = true
        guard unsafe sd_bus_message_new_method_return(message, &reply) >= 0, let reply = unsafe reply else { return }
        unsafe sd_bus_message_sensitive(reply)
        if let direct = bus.direct {
            // As a bus does: some clients know themselves by the destination of the first answer.
            _ = unsafe lk_session_address(reply, direct.client, direct.speaker(to: self))
        }
        let isSent = unsafe MessageWriter(reply).append(values) && sd_bus_message_send(reply) >= 0
        if !isSent { refuse(BusError(.failed, "the answer cannot be said over the bus")) }
        unsafe sd_bus_message_unref(reply)
    }

    package func refuse(_ error: BusError) {
        isAnswered = true
        _ = unsafe lk_session_refuse(
            message, error.name, error.text, bus.direct?.client, bus.direct?.speaker(to: self))
    }
}

/// An error as D-Bus has them: a name, and a text for people.
package struct BusError: Error, Sendable, Hashable {
    package let name: String
    package let text: String

    /// org.freedesktop.DBus.Error (D-Bus Specification 0.43 and its reference implementation).
    package enum Standard: String, Sendable {
        case failed = "Failed"
        case noMemory = "NoMemory"
        case notSupported = "NotSupported"
        case invalidArguments = "InvalidArgs"
        case unknownMethod = "UnknownMethod"
        case unknownProperty = "UnknownProperty"
        case propertyReadOnly = "PropertyReadOnly"
        case accessDenied = "AccessDenied"
        case limitsExceeded = "LimitsExceeded"
    }

    package init(_ standard: Standard, _ text: String) {
        self.init(name: "org.freedesktop.DBus.Error." + standard.rawValue, text: text)
    }

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// Reads a message's arguments by the types that stand in it; sd-bus has checked the
/// message against its signature.
@safe struct MessageReader {
    private let message: OpaquePointer
    /// Whether a string is given as bytes, in memory that is wiped.
    private let textIsSecret: Bool

    /// Containers in each other: more than any method of ours has.
    private static let deepest = 8
    /// Elements of all arrays together: what a caller may have us keep.
    private static let mostElements = 100_000
    /// About what an element is kept in beside its text or bytes.
    private static let elementWeight = 128
    /// A page, for each behind the few that every call may have.
    private static let secretWeight = 4_096
    private static let fewSecrets = 4
    /// Descriptors in one message: no method of ours takes more than one.
    private static let mostDescriptors = 16

    /// What there was so far.
    struct Reading {
        fileprivate var elementCount = 0
        /// Of texts and bytes.
        fileprivate var contentCount = 0
        /// Values in memory that is wiped, each of which may take a page of its own.
        fileprivate var secretCount = 0
        fileprivate var descriptorCount = 0
        /// About the memory of the message and of its values together.
        var byteCount: Int {
            2 * contentCount + elementWeight * elementCount + secretWeight * max(0, secretCount - fewSecrets)
        }
    }

    init(_ message: OpaquePointer, textIsSecret: Bool = false) {
        unsafe self.message = message
        self.textIsSecret = textIsSecret
    }

    func all() throws(BusError) -> [BusValue] {
        var reading = Reading()
        return try all(&reading)
    }

    func all(_ reading: inout Reading) throws(BusError) -> [BusValue] { try values(deep: 0, &reading) }

    /// Up to the end of the container or message.
    private func values(deep: Int, _ reading: inout Reading) throws(BusError) -> [BusValue] {
        guard deep <= Self.deepest else { throw BusError(.invalidArguments, "the arguments are nested too deep") }
        var found: [BusValue] = []
        while unsafe sd_bus_message_at_end(message, 0) == 0 {
            reading.elementCount += 1
            guard reading.elementCount <= Self.mostElements else {
                throw BusError(.invalidArguments, "there are too many elements")
            }
            found.append(try value(deep: deep, &reading))
        }
        return found
    }

    private func value(deep: Int, _ reading: inout Reading) throws(BusError) -> BusValue {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_peek_type(message, &type, &contents) > 0 else { throw Self.malformed }
        let letter = UnicodeScalar(UInt8(bitPattern: type))
        switch letter {
        case "b":
            var flag: Int32 = 0
            try unsafe readBasic(type, &flag)
            return .boolean(flag != 0)
        case "i":
            var number: Int32 = 0
            try unsafe readBasic(type, &number)
            return .int32(number)
        case "x":
            var number: Int64 = 0
            try unsafe readBasic(type, &number)
            return .int64(number)
        case "u":
            var number: UInt32 = 0
            try unsafe readBasic(type, &number)
            return .uint32(number)
        case "t":
            var number: UInt64 = 0
            try unsafe readBasic(type, &number)
            return .uint64(number)
        case "s":
            guard !textIsSecret else { return .bytes(try readSecretText(type, &reading)) }
            return .string(try readText(type, &reading))
        case "o":
            guard let path = ObjectPath(try readText(type, &reading)) else { throw Self.malformed }
            return .path(path)
        case "h":
            reading.descriptorCount += 1
            guard reading.descriptorCount <= Self.mostDescriptors else {
                throw BusError(.invalidArguments, "there are too many descriptors")
            }
            var raw: Int32 = -1
            try unsafe readBasic(type, &raw)
            // sd-bus keeps its own, which goes with the message.
            let copy = lk_session_copy(raw)
            guard copy >= 0 else { throw BusError(.failed, "the descriptor cannot be kept") }
            return .descriptor(Descriptor(owning: copy))
        case "a", "r", "e", "v":
            let inner = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            if letter == "a", inner == "y" { return .bytes(try readBytes(&reading)) }
            return try container(letter, of: try inside(type, inner, deep, &reading), inner)
        case let other:
            let other = Character(other)
            guard unsafe sd_bus_message_skip(message, String(other)) >= 0 else { throw Self.malformed }
            return .other(other)
        }
    }

    private func container(
        _ letter: UnicodeScalar, of elements: [BusValue], _ inner: String
    ) throws(BusError) -> BusValue {
        switch (letter, elements.count) {
        case ("a", _): return .array(of: inner, elements)
        case ("r", _): return .structure(elements)
        case ("e", 2): return .entry(elements[0], elements[1])
        case ("v", 1...): return .variant(elements[0])
        default: throw Self.malformed
        }
    }

    private func inside(
        _ type: CChar, _ contents: String, _ deep: Int, _ reading: inout Reading
    ) throws(BusError) -> [BusValue] {
        guard unsafe sd_bus_message_enter_container(message, type, contents) > 0 else { throw Self.malformed }
        let found = try values(deep: deep + 1, &reading)
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw Self.malformed }
        return found
    }

    private func readBasic(_ type: CChar, _ place: UnsafeMutableRawPointer) throws(BusError) {
        guard unsafe sd_bus_message_read_basic(message, type, place) > 0 else { throw Self.malformed }
    }

    private func readText(_ type: CChar, _ reading: inout Reading) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try unsafe readBasic(type, &text)
        guard let text = unsafe text else { throw Self.malformed }
        reading.contentCount += unsafe lk_session_length(text)
        return unsafe String(cString: text)
    }

    private func readSecretText(_ type: CChar, _ reading: inout Reading) throws(BusError) -> SharedSecret {
        var text: UnsafePointer<CChar>?
        try unsafe readBasic(type, &text)
        guard let text = unsafe text else { throw Self.malformed }
        let count = unsafe lk_session_length(text)
        reading.contentCount += count
        reading.secretCount += 1
        return try unsafe Self.secret(UnsafeRawBufferPointer(start: text, count: count))
    }

    private func readBytes(_ reading: inout Reading) throws(BusError) -> SharedSecret {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &count) >= 0 else {
            throw Self.malformed
        }
        reading.contentCount += count
        reading.secretCount += 1
        return try unsafe Self.secret(UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func secret(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> SharedSecret {
        do throws(SystemCallError) { return SharedSecret(try unsafe SecretBytes(unsafeAllocating: bytes)) } catch {
            throw BusError(.noMemory, "there is no memory for \(bytes.count) bytes")
        }
    }

    private static let malformed = BusError(.invalidArguments, "the arguments are not what their signature says")
}

/// Appends values to a message that is being made.
@safe struct MessageWriter {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { unsafe self.message = message }

    /// False where the message cannot take them.
    func append(_ values: [BusValue]) -> Bool { values.allSatisfy { append($0) } }

    private func append(_ value: BusValue) -> Bool {
        switch value {
        case .boolean(let flag):
            var number: Int32 = flag ? 1 : 0
            return unsafe basic("b", &number)
        case .int32(var number): return unsafe basic("i", &number)
        case .uint32(var number): return unsafe basic("u", &number)
        case .int64(var number): return unsafe basic("x", &number)
        case .uint64(var number): return unsafe basic("t", &number)
        case .string(let text): return unsafe Self.sayable(text).withCString { unsafe basic("s", $0) }
        case .path(let path): return unsafe path.text.withCString { unsafe basic("o", $0) }
        case .bytes(let bytes):
            return unsafe bytes.bytes.withUnsafeBytes { raw in
                unsafe sd_bus_message_append_array(message, CChar(UInt8(ascii: "y")), raw.baseAddress, raw.count) >= 0
            }
        case .descriptor(let descriptor):
            var raw = descriptor.raw
            return unsafe basic("h", &raw)
        case .array(let element, let values): return container("a", element, values)
        case .structure(let values): return container("r", BusValue.signature(of: values), values)
        case .entry(let key, let value):
            let pair = [key, value]
            return container("e", BusValue.signature(of: pair), pair)
        case .variant(let content): return container("v", content.signature, [content])
        case .other: return false
        }
    }

    /// A text of D-Bus has no zero, and none of Unicode's noncharacters (D-Bus Specification
    /// 0.43, "String-like types"), which an item's label may have.
    private static func sayable(_ text: String) -> String {
        // Nearly all: noncharacters begin with EF, F0 or more in UTF-8.
        if text.utf8.allSatisfy({ $0 != 0 && $0 < 0xEF }) { return text }
        let isSayable = { (scalar: UnicodeScalar) in
            scalar.value != 0 && scalar.value & 0xFFFE != 0xFFFE && !(0xFDD0...0xFDEF).contains(scalar.value)
        }
        guard !text.unicodeScalars.allSatisfy(isSayable) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isSayable($0) ? $0 : "\u{FFFD}" }))
    }

    private func basic(_ type: UnicodeScalar, _ place: UnsafeRawPointer) -> Bool {
        unsafe sd_bus_message_append_basic(message, CChar(type.value), place) >= 0
    }

    private func container(_ type: UnicodeScalar, _ contents: String, _ values: [BusValue]) -> Bool {
        let isOpen = unsafe contents.withCString {
            unsafe sd_bus_message_open_container(message, CChar(type.value), $0) >= 0
        }
        return isOpen && append(values) && (unsafe sd_bus_message_close_container(message) >= 0)
    }
}
