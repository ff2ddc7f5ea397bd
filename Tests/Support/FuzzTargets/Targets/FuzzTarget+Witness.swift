#if DEBUG
    import KeychainModel
    @testable import KeychainStore

    extension FuzzTarget {
        /// The file beside the database that says what was acknowledged last.
        static let witness = FuzzTarget("witness", largestInput: 128, seeds: { [testimony.encoded] }) {
            bytes throws(Finding) in
            guard let found = StoreTestimony(encoded: bytes) else { return }
            try claim(found.encoded == bytes, "one testimony, one file")
            try claim(found.position.number >= 0, "a change below the first")
            var spoilt = bytes
            spoilt[bytes.count / 2] ^= 1
            try claim(StoreTestimony(encoded: spoilt) == nil, "a testimony that was changed")
        }

        private static let testimony = StoreTestimony(
            position: ChangePosition(history: Array(1...16), number: 70_000), log: 0x0102_0304_0506_0708)
    }
#endif
