/// The checksum of a write-ahead log, which goes on from frame to frame
/// (<https://sqlite.org/fileformat2.html>, section 4.2).
struct LogChecksum: Equatable {
    private(set) var first: UInt32
    private(set) var second: UInt32
    /// Of which words it is; it is written big-endian always.
    let isBigEndian: Bool

    init(first: UInt32 = 0, second: UInt32 = 0, isBigEndian: Bool) {
        self.first = first
        self.second = second
        self.isBigEndian = isBigEndian
    }

    /// As it stands in a log; nil where the bytes end before it does.
    init?(in bytes: [UInt8], at offset: Int, isBigEndian: Bool) {
        guard let first = PageBytes.number32(bytes, offset), let second = PageBytes.number32(bytes, offset + 4) else {
            return nil
        }
        self.init(first: first, second: second, isBigEndian: isBigEndian)
    }

    var bytes: [UInt8] { Self.bytes(first) + Self.bytes(second) }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// - Parameter bytes: a multiple of eight of them.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var (one, two) = (first, second)
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            var place = unsafe start
            let end = unsafe start + (buffer.count - buffer.count % 8)
            while unsafe place < end {
                // A log may be hundreds of megabytes: no array is asked for its bounds.
                let high = unsafe UInt32(place[0]) << 24 | UInt32(place[1]) << 16 | UInt32(place[2]) << 8 | UInt32(place[3])
                let low = unsafe UInt32(place[4]) << 24 | UInt32(place[5]) << 16 | UInt32(place[6]) << 8 | UInt32(place[7])
                one = one &+ (isBigEndian ? high : high.byteSwapped) &+ two
                two = two &+ (isBigEndian ? low : low.byteSwapped) &+ one
                unsafe place += 8
            }
        }
        (first, second) = (one, two)
    }

    /// What goes on from here over `bytes`.
    func adding(_ bytes: [UInt8]) -> LogChecksum {
        var sum = self
        sum.add(bytes[...])
        return sum
    }

    private func word(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
        let (a, b) = (UInt32(bytes[offset]), UInt32(bytes[offset + 1]))
        let (c, d) = (UInt32(bytes[offset + 2]), UInt32(bytes[offset + 3]))
        return isBigEndian ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
    }

    // MARK: Which byte was changed

    /// The one word of four bytes with the change of one byte of which this checksum, going on over `bytes`, becomes
    /// `wanted`, and what belongs there; nil where none or more than one would do, or where two
    /// changed words could easily look like this one.
    ///
    /// Each word goes into the two sums with factors that its place alone decides. So the two
    /// differences tell place and change, 64 bits of them for 10 bits and 32. Of a change whose
    /// lowest `n` bits are 0 they tell `n` bits less each, since the sums are without their carries:
    /// more than ten are not taken, but for a single bit. The factors are numbers of Fibonacci's,
    /// next to each other; so the same change of two words looks like its multiple by a number of
    /// Lucas' of the one in their middle, and a fill of several words like some change of one of
    /// them. So no more than a byte is taken for changed, and no such multiple for a change of it.
    /// What cannot be told is where that multiple is one bit: the same bit changed in two words next
    /// to each other, or set in one and cleared in another that is two or six words apart.
    ///
    /// - Parameter bytes: a multiple of eight of them.
    func wordToChange(
        in bytes: [UInt8], toReach wanted: LogChecksum
    ) -> (offset: Int, bytes: [UInt8], isOfSeveralBits: Bool)? {
        let changes = changes(of: bytes, toReach: wanted)
        guard changes.count == 1, let (offset, change) = changes.first else { return nil }
        let old = word(bytes[...], offset)
        let new = old &+ change
        let isOfSeveralBits = (old ^ new).nonzeroBitCount > 1
        // The first two, a frame's page and size, are two places of a thousand.
        let isLikely = offset < 8 || Self.isOfOneByte(old ^ new)
        guard !isOfSeveralBits || isLikely && Self.isOfOneWord(change) else { return nil }
        return (offset, encoded(new), isOfSeveralBits)
    }

    /// What belongs at the one place of which it is known that it was changed; nil where that is not so.
    ///
    /// - Parameter bytes: a multiple of eight of them.
    func word(at offset: Int, of bytes: [UInt8], toReach wanted: LogChecksum) -> [UInt8]? {
        changes(of: bytes, toReach: wanted).first { $0.offset == offset }
            .map { encoded(word(bytes[...], offset) &+ $0.change) }
    }

    /// Every change of one word that would do.
    private func changes(of bytes: [UInt8], toReach wanted: LogChecksum) -> [(offset: Int, change: UInt32)] {
        let reached = adding(bytes)
        let differences = (wanted.first &- reached.first, wanted.second &- reached.second)
        guard differences != (0, 0) else { return [] }
        var found: [(offset: Int, change: UInt32)] = []
        // Of the two words of a pair, in the last pair; each pair before has two sums more.
        var (even, odd) = (Factors(first: 1, second: 1), Factors(first: 0, second: 1))
        for pair in stride(from: bytes.count - 8, through: 0, by: -8) {
            for (offset, factors) in [(pair, even), (pair + 4, odd)] {
                if let change = factors.change(toReach: differences) { found.append((offset, change)) }
            }
            (even, odd) = (even.before, odd.before)
        }
        return found
    }

    private static func isOfOneByte(_ difference: UInt32) -> Bool {
        difference.trailingZeroBitCount / 8 == 3 - difference.leadingZeroBitCount / 8
    }

    private static func isOfOneWord(_ change: UInt32) -> Bool {
        change.trailingZeroBitCount <= 10 && !looksLikeTwo(change) && !looksLikeTwo(0 &- change)
    }

    /// For words as far apart as they are in a page: the numbers of Lucas' behind 2 and 1.
    private static func looksLikeTwo(_ change: UInt32) -> Bool {
        var (last, number): (UInt32, UInt32) = (1, 3)
        for _ in 0..<1100 {
            // Times a power of two, of which the high bits are gone.
            for shift in 0..<UInt32(32) where change == number << shift { return true }
            (last, number) = (number, last &+ number)
        }
        return false
    }

    private func encoded(_ word: UInt32) -> [UInt8] {
        isBigEndian ? Self.bytes(word) : Self.bytes(word).reversed()
    }

    /// How often a word is in each of the two sums, of 2 to the 32nd.
    private struct Factors {
        let first: UInt32
        let second: UInt32

        /// Of the same word of the pair before.
        var before: Factors { Factors(first: first &+ second, second: first &+ second &+ second) }

        /// nil where no change of this word makes both differences.
        func change(toReach wanted: (UInt32, UInt32)) -> UInt32? {
            // One of them is odd: the step to the pair before has the determinant 1.
            let change = first & 1 == 1 ? wanted.0 &* Self.inverse(first) : wanted.1 &* Self.inverse(second)
            return change &* first == wanted.0 && change &* second == wanted.1 ? change : nil
        }

        /// Of an odd number, modulo 2 to the 32nd: each step doubles the bits that are right, of
        /// which there are three at first (Newton's method).
        private static func inverse(_ odd: UInt32) -> UInt32 {
            var inverse = odd
            for _ in 0..<4 { inverse = inverse &* (2 &- odd &* inverse) }
            return inverse
        }
    }
}
