internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform

/// How `set --generate` makes a secret.
enum GeneratedSecret: Sendable, Hashable, ExpressibleByArgument {
    /// As Apple's keychain proposes them (``SharedCredentialPassword``).
    case apple
    /// Pronounceable words of five letters.
    case words
    /// Letters and digits.
    case characters(Int)

    static let lengths = 8...1024
    private static let wordCount = 6
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    /// A word is consonant, vowel, consonant, vowel, consonant: 16 bits (D. S.
    /// Wilkerson, "A Proposal for Proquints", arXiv:0901.4016).
    private static let consonants = Array("bdfghjklmnprstvz".utf8)
    private static let vowels = Array("aiou".utf8)

    init?(argument: String) {
        switch argument {
        case "apple": self = .apple
        case "words": self = .words
        default:
            guard let count = Int(argument), Self.lengths.contains(count) else { return nil }
            self = .characters(count)
        }
    }

    /// A fresh one from `generator`, in memory that is wiped.
    func make(using generator: inout some RandomNumberGenerator) -> SecretBytes {
        var writer = SecretWriter(byteCount: count)
        switch self {
        case .apple: SharedCredentialPassword.make(using: &generator) { writer.append($0) }
        case .words: Self.appendWords(to: &writer, using: &generator)
        case .characters(let count):
            for _ in 0..<count { writer.append(Self.pick(Self.alphabet, using: &generator)) }
        }
        return writer.finish()
    }

    private var count: Int {
        switch self {
        case .apple: SharedCredentialPassword.count
        case .words: Self.wordCount * 6 - 1
        case .characters(let count): count
        }
    }

    private static func appendWords(to writer: inout SecretWriter, using generator: inout some RandomNumberGenerator) {
        for word in 0..<wordCount {
            if word > 0 { writer.append(UInt8(ascii: "-")) }
            for letter in 0..<5 {
                writer.append(pick(letter.isMultiple(of: 2) ? consonants : vowels, using: &generator))
            }
        }
    }

    /// Every letter is as likely as every other (the standard library rejects the
    /// rest of a division).
    private static func pick(_ alphabet: [UInt8], using generator: inout some RandomNumberGenerator) -> UInt8 {
        alphabet[Int.random(in: alphabet.indices, using: &generator)]
    }
}

/// getrandom(2), through memory that is wiped.
struct KernelRandom: RandomNumberGenerator {
    mutating func next() -> UInt64 {
        let bytes = SecretBytes.random(count: MemoryLayout<UInt64>.size)
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
    }
}
