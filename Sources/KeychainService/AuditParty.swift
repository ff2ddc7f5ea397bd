package import KeychainModel

/// Takes what is to be recorded. Returns at once: whoever reads a value does not wait
/// for the record of it.
package protocol AuditSink: AnyObject, Sendable {
    /// A value was handed to a program.
    func released(_ item: ReleasedItem, to party: AuditParty, inPersonsName: Bool)
}

/// An item whose value was handed out, as the engine opened it.
package struct ReleasedItem: Sendable {
    package let itemClass: ItemClass
    /// 16 bytes that no other item has.
    package let reference: [UInt8]
    /// The stored tag of its protection class.
    package let protection: String
    package let attributes: AttributeMap

    package init(itemClass: ItemClass, reference: [UInt8], protection: String, attributes: AttributeMap) {
        self.itemClass = itemClass
        self.reference = reference
        self.protection = protection
        self.attributes = attributes
    }
}

/// Who is recorded as the one that a call was made by, and where.
package final class AuditParty: Sendable {
    /// The strongest rung of its identity.
    package let program: String
    package let process: Int32
    package let strength: IdentityStrength
    package let isContained: Bool
    /// For whom it says that it calls; nil: for itself.
    package let served: ServedProgram?
    package let sink: any AuditSink

    package init(
        program: String, process: Int32, strength: IdentityStrength, isContained: Bool,
        served: ServedProgram? = nil, sink: any AuditSink
    ) {
        self.program = program
        self.process = process
        self.strength = strength
        self.isContained = isContained
        self.served = served
        self.sink = sink
    }

    func serving(_ served: ServedProgram) -> AuditParty {
        AuditParty(
            program: program, process: process, strength: strength, isContained: isContained, served: served,
            sink: sink)
    }
}
