public import Foundation

/// A new password: 20 characters, three groups of six joined by hyphens, with
/// one capital letter, one digit and otherwise small letters.
///
/// Letters and digits that are easily taken for one another (i, l, o, 0, 1) do
/// not occur. The password holds about 88 bits of randomness from the system.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    var generator = SystemRandomNumberGenerator()
    return NSString(string: SharedCredentialPassword.make(using: &generator))
}

/// How a shared web credential's password is put together.
package enum SharedCredentialPassword {
    static let smallLetters = Array("abcdefghjkmnpqrstuvwxyz")
    static let capitalLetters = Array("ABCDEFGHJKMNPQRSTUVWXYZ")
    static let digits = Array("23456789")
    static let groupCount = 3
    static let groupLength = 6

    /// A password from the randomness of `generator`.
    package static func make(using generator: inout some RandomNumberGenerator) -> String {
        let length = groupCount * groupLength
        var characters = (0..<length).map { _ in pick(from: smallLetters, using: &generator) }
        let capitalPlace = Int.random(in: 0..<length, using: &generator)
        let digitStep = Int.random(in: 1..<length, using: &generator)
        characters[capitalPlace] = pick(from: capitalLetters, using: &generator)
        characters[(capitalPlace + digitStep) % length] = pick(from: digits, using: &generator)
        let groups = stride(from: 0, to: length, by: groupLength).map { String(characters[$0..<$0 + groupLength]) }
        return groups.joined(separator: "-")
    }

    private static func pick(
        from alphabet: [Character], using generator: inout some RandomNumberGenerator
    ) -> Character {
        alphabet[Int.random(in: alphabet.indices, using: &generator)]
    }
}
