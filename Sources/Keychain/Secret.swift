public import Foundation
package import KeychainPlatform

/// Bytes that nobody but their user should see: a password, a token, a key.
///
/// They lie in memory that is wiped when the last copy of the value goes, is left
/// out of core dumps and, as far as the system's limits allow, is never swapped.
/// A description never shows them, and two secrets are compared in constant time.
/// Use one and let it go; the keychain keeps it for the next time.
///
/// ```swift
/// let token = try store.secret(for: .password(service: "api"))
/// try token?.withBytes { try client.authenticate($0) }
/// ```
public struct Secret: Sendable {
    package let shared: SharedSecret

    package init(_ shared: SharedSecret) { self.shared = shared }

    /// The text's UTF-8 bytes. The text itself stays where it was, unwiped.
    public init(_ text: String) {
        var text = text
        self.init(text.withUTF8 { SharedSecret(unsafe SecretBytes(unsafeCopying: UnsafeRawBufferPointer($0))) })
    }

    /// A copy of the bytes. Those given stay where they were, unwiped.
    public init(_ data: Data) { self.init(SharedSecret(SecretBytes(copying: data.bytes))) }

    /// A copy of the bytes. Those given stay where they were, unwiped.
    public init(bytes: [UInt8]) { self.init(SharedSecret(SecretBytes(copying: bytes))) }

    /// Bytes from the kernel's random source (getrandom(2)).
    ///
    /// - Parameter byteCount: 32 for a key.
    /// - Precondition: not negative.
    public static func random(byteCount: Int) -> Secret {
        precondition(byteCount >= 0, "a secret cannot have \(byteCount) bytes")
        return Secret(SharedSecret(SecretBytes.random(count: byteCount)))
    }

    /// How many bytes it has.
    public var byteCount: Int { shared.bytes.count }

    /// Lends the bytes for the time of `body`.
    public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try shared.bytes.withBytes(body)
    }

    /// The secret as text; nil where it is no UTF-8.
    ///
    /// - Warning: The text is ordinary memory: it is not wiped.
    public var insecureText: String? {
        unsafe shared.bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }

    /// The secret's bytes.
    ///
    /// - Warning: They are ordinary memory: they are not wiped.
    public var insecureData: Data {
        unsafe shared.bytes.withUnsafeBytes { unsafe Data($0) }
    }

    /// Whether both hold the same bytes, in a time that depends on their number alone.
    public func isEqual(to other: Secret) -> Bool { shared.bytes.isEqual(to: other.shared.bytes) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the bytes, nor their number.
    public var description: String { "Secret(…)" }
    /// The same as ``description``: never the bytes.
    public var debugDescription: String { description }
    /// Shows nothing to whoever dumps the value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
