internal import Foundation

/// Reads property lists that programs bring along. Anything may be in them.
package enum InfoPropertyList {
    private static let largest = 1 << 20
    /// The parser recurses: more containers than any such file has are refused
    /// before it sees them, and so is every form in which they could not be
    /// counted: binary, OpenStep ("((((…"), other encodings than UTF-8.
    private static let mostContainers = 256

    /// CFBundleIdentifier, where it is a reverse-DNS name and nothing else.
    package static func bundleIdentifier(in bytes: [UInt8]) -> String? {
        guard let name = dictionary(bytes)?["CFBundleIdentifier"] as? String, !name.isEmpty, name.utf8.count <= 255,
            name.utf8.allSatisfy({ isNameByte($0) })
        else { return nil }
        return name
    }

    static func dictionary(_ bytes: [UInt8]) -> [String: Any]? {
        guard bytes.count <= largest, isShallowXML(bytes) else { return nil }
        do {
            return try unsafe PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        } catch {
            return nil
        }
    }

    private static func isShallowXML(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self), isXML(text.drop(while: \.isWhitespace)) else {
            return false
        }
        let containers = text.components(separatedBy: "<array").count + text.components(separatedBy: "<dict").count
        return containers <= mostContainers
    }

    /// XML by its first bytes, which names no encoding but UTF-8.
    private static func isXML(_ text: Substring) -> Bool {
        guard ["<?xml ", "<!DOCTYPE ", "<!--", "<plist"].contains(where: { text.hasPrefix($0) }) else { return false }
        let prologue = text.components(separatedBy: "<plist")[0].lowercased().components(separatedBy: "encoding")
        return prologue.dropFirst().allSatisfy { $0.hasPrefix("=\"utf-8\"") || $0.hasPrefix("='utf-8'") }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
