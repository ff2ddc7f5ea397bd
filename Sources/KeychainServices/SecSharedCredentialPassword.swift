public import Foundation
internal import KeychainModel

/// A new password: 20 characters, three groups of six joined by hyphens, with
/// one capital letter, one digit and otherwise small letters.
///
/// Letters and digits that are easily taken for one another (i, l, o, 0, 1) do
/// not occur. The password holds about 88 bits of randomness from the system.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    var generator = SystemRandomNumberGenerator()
    var characters: [UInt8] = []
    SharedCredentialPassword.make(using: &generator) { characters.append($0) }
    return NSString(string: String(decoding: characters, as: UTF8.self))
}
