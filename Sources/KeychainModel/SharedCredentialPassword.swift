/// How a shared web credential's password is put together: three groups of six
/// joined by hyphens, one capital letter, one digit, otherwise small letters.
/// Characters that are easily taken for one another (i, l, o, 0, 1) do not occur.
package enum SharedCredentialPassword {
    private static let smallLetters = Array("abcdefghjkmnpqrstuvwxyz".utf8)
    private static let capitalLetters = Array("ABCDEFGHJKMNPQRSTUVWXYZ".utf8)
    private static let digits = Array("23456789".utf8)
    private static let groupLength = 6
    private static let letterCount = 18
    /// With the hyphens.
    package static let count = 20

    /// Gives a password from the randomness of `generator`, character by character.
    package static func make(using generator: inout some RandomNumberGenerator, emit: (UInt8) -> Void) {
        let capitalPlace = Int.random(in: 0..<letterCount, using: &generator)
        let digitStep = Int.random(in: 1..<letterCount, using: &generator)
        for place in 0..<letterCount {
            if place > 0, place.isMultiple(of: groupLength) { emit(UInt8(ascii: "-")) }
            let alphabet =
                switch place {
                case capitalPlace: capitalLetters
                case (capitalPlace + digitStep) % letterCount: digits
                default: smallLetters
                }
            emit(alphabet[Int.random(in: alphabet.indices, using: &generator)])
        }
    }
}
