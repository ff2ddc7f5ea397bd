internal import KeychainModel
internal import SecretServiceReach

/// What the program that is served now may reach.
struct BusReach {
    private let policy: SecretServicePolicy
    private let program: ServedProgram?

    /// Everything.
    static let whole = BusReach(.everybody, of: nil)

    init(_ policy: SecretServicePolicy, of program: ServedProgram?) {
        (self.policy, self.program) = (policy, program)
    }

    /// Whether something is kept from somebody: then nothing but paths is told to all.
    var isNarrowed: Bool { policy != .everybody }

    func has(collection name: String) -> Bool { policy.admits(program, to: .collection(name)) }

    /// Whether items with these attributes are among it.
    func has(_ attributes: LookupAttributes) -> Bool {
        policy.admits(program, to: .schema(attributes[LookupSchema.attribute] ?? LookupSchema.generic))
    }

    /// Of a closed item nothing is known, and nothing can be read: that it is there is told.
    func has(_ item: SecretItem) -> Bool { !isNarrowed || item.isClosed || has(item.attributes) }

    /// Whether what items are has to be looked at before they are told of.
    var isOfSchemas: Bool { policy.limitsSchemas(of: program) }
}
