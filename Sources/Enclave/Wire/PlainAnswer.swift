/// An answer that is read without the general coder.
protocol PlainAnswer {
    var number: UInt64 { get }
    /// nil for whatever else was answered.
    init?(plain header: [UInt8])
}
