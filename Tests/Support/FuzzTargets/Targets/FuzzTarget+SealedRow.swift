internal import KeychainModel

extension FuzzTarget {
    /// One cell or several of a row, overwritten by whoever can write the file.
    static let sealedRow = FuzzTarget("sealed-row", largestInput: 512, weight: 40) { bytes throws(Finding) in
        try RowUnderFuzz.shared.overwrite(bytes)
    }
}
