/// What a parsed dictionary asks, total and checked against the schema. Made
/// only by ``QueryParser``.
package struct Query: Sendable {
    package internal(set) var target: Target
    /// Attributes to match (or to store), coerced to their columns' kinds.
    package internal(set) var attributes = AttributeMap()
    package internal(set) var accessControl: AccessControl?
    package internal(set) var synchronizable: SyncScope = .unspecified
    package internal(set) var explicitGroup: AccessGroup?
    package internal(set) var hasValueData = false
    package internal(set) var returns: ReturnTypes = []
    package internal(set) var limit: MatchLimit = .one
    package internal(set) var hasMatchLimit = false
    /// kSecMatchHostOrSubdomainOfHost: a filter that looks at opened items (spec section 3).
    package internal(set) var hostOrSubdomain: String?
    package internal(set) var otherMatchKey: String?
    /// Why a copy is refused once its groups are permitted (spec section 1, "Order of checks").
    package internal(set) var refusal: Refusal?
    package internal(set) var tombstones: Bool?
    package internal(set) var interaction: Interaction = .allowed
    /// kSecUseOperationPrompt: the program's words for a prompt.
    package internal(set) var operationPrompt = ""
    package internal(set) var hasItemList = false
    /// Ours ("u_LatchkeyClosed"): items that are locked are told by their reference alone,
    /// where a search otherwise ends with -25308.
    package internal(set) var tellsClosed = false
    /// Of the Secret Service: what has lookup attributes is left out.
    package internal(set) var excludesLookups = false
    /// Of the Secret Service: which of the attributes that the class returns are.
    package internal(set) var shown = ShownAttributes.all

    package enum Refusal: Sendable, Hashable {
        /// A kSecMatch… key that the class does not have.
        case match(key: String)
        /// Attributes beside a persistent reference.
        case reference
    }

    package enum ShownAttributes: Sendable, Hashable {
        case all
        case only([AttributeCode])
    }

    package func shows(_ code: AttributeCode) -> Bool {
        switch shown {
        case .all: true
        case .only(let codes): codes.contains(code)
        }
    }

    package enum Target: Sendable, Hashable {
        case itemClass(ItemClass)
        case reference(PersistentReference)

        package var itemClass: ItemClass {
            switch self {
            case .itemClass(let itemClass): itemClass
            case .reference(let reference): reference.itemClass
            }
        }
    }

    package var itemClass: ItemClass { target.itemClass }
    package var schema: Schema { Schema.of(itemClass) }

    package var reference: PersistentReference? {
        if case .reference(let reference) = target { reference } else { nil }
    }
}

/// kSecAttrSynchronizable in a query: absent means local items only (spec section 6).
package enum SyncScope: Sendable, Hashable {
    case unspecified
    case only(Bool)
    case any
    /// A number but 0 and 1, or text that is none: kept as it is (spec section 2, "any other
    /// String is kept as a String"), and no item here has it.
    case noSuch
}

/// kSecMatchLimit. `one` gives an object, everything else an array.
package enum MatchLimit: Sendable, Hashable {
    case one
    case count(Int)
    case all

    package var maximum: Int {
        switch self {
        case .one: 1
        case .count(let number): number
        case .all: .max
        }
    }
}

/// kSecReturn….
package struct ReturnTypes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// As the standard library's, whose way through any sequence looks types up by
    /// name when it is first taken: a quarter of what `latchkey get` executes.
    package init(arrayLiteral elements: ReturnTypes...) {
        var bits: UInt8 = 0
        for element in elements { bits |= element.rawValue }
        rawValue = bits
    }

    package static let data = ReturnTypes(rawValue: 1)
    package static let attributes = ReturnTypes(rawValue: 2)
    package static let reference = ReturnTypes(rawValue: 4)
    package static let persistentReference = ReturnTypes(rawValue: 8)

    /// Whether attributes are in the answer: asked for, or implied by data beside
    /// a persistent reference (spec section 3.1).
    package var showsAttributes: Bool {
        contains(.attributes) || isSuperset(of: [.data, .persistentReference])
    }
}

/// kSecUseAuthenticationUI.
package enum Interaction: Sendable, Hashable {
    case allowed
    case failed
    case skipped
}

extension Query {
    /// All that match in one group, local ones alone where no reference names the item, and
    /// none that needs a person: what the Secret Service asks, which says it without a
    /// dictionary.
    ///
    /// - Parameter attributes: of the class, in their columns' kinds.
    package init(
        for target: Target, having attributes: AttributeMap, in group: AccessGroup, returning returns: ReturnTypes,
        tellingClosed tellsClosed: Bool, excludingLookups excludesLookups: Bool, showing shown: ShownAttributes
    ) {
        self.init(target: target)
        self.shown = shown
        self.excludesLookups = excludesLookups
        self.attributes = attributes
        self.returns = returns
        self.tellsClosed = tellsClosed
        explicitGroup = group
        limit = .all
        interaction = .skipped
    }

    /// Every item of a class, synchronizable or not, for a privileged purge.
    package init(everythingIn itemClass: ItemClass) {
        self.init(target: .itemClass(itemClass))
        synchronizable = .any
        limit = .all
        tombstones = false
    }
}
