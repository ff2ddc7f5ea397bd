internal import KeychainMessages
internal import KeychainModel
internal import KeychainProtocol
internal import KeychainStore
internal import SwiftProtobuf

extension FuzzTarget {
    /// One object has one encoding, since wrapped keys are bound to it.
    static let accessControl = FuzzTarget(
        "access-control", largestInput: 512, seeds: { ModelSeeds.accessControls }
    ) { bytes throws(Finding) in
        if let access = AccessControl(encoded: bytes) {
            try claim(access.encoded == bytes, "accepted \(bytes.count) bytes that are not its encoding")
        }
        var source = ByteSource(bytes)
        let made = source.accessControl()
        try claim(AccessControl(encoded: made.encoded) == made, "an access control that its encoding changes")
        let bound = made.bound(to: Array(bytes.prefix(255)))
        try claim(AccessControl(encoded: bound.encoded) == bound, "an enrolment that its encoding changes")
    }

    static let persistentReference = FuzzTarget(
        "persistent-reference", largestInput: 64, seeds: { ModelSeeds.references }
    ) { bytes throws(Finding) in
        guard let reference = PersistentReference(bytes: bytes) else { return }
        try claim(reference.bytes == bytes, "accepted bytes that are not its encoding")
    }

    /// What any program may say that an item is found by.
    static let lookupAttributes = FuzzTarget(
        "lookup-attributes", largestInput: 1024,
        seeds: {
            [[("server", "example.com"), ("user", "alice")], [("", "")], []].compactMap { pairs in
                LookupAttributes(pairs.map { .init(name: $0.0, value: $0.1) })?.encoded
            }
        }
    ) { bytes throws(Finding) in
        guard let attributes = LookupAttributes(encoded: bytes) else { return }
        try claim(attributes.encoded == bytes, "accepted bytes that are not its encoding")
        try claim(attributes.include(attributes) && attributes.include(.none), "it is no subset of itself")
        for pair in attributes.pairs {
            let one = try claimed(LookupAttributes([pair]), "one of several is none alone")
            try claim(attributes.include(one), "it does not answer to one of its own")
            try claim(LookupAttributes([pair, pair]) == nil, "a name is there twice")
        }
    }

    /// What a person or a program kept of the history.
    static let changePosition = FuzzTarget(
        "change-position", largestInput: 128,
        seeds: { [Array("\(ChangePosition(history: Array(0..<16), number: 4711))".utf8)] }
    ) { bytes throws(Finding) in
        guard let text = String(validating: bytes, as: UTF8.self), let position = ChangePosition(text) else { return }
        try claim(position.description == text, "accepted a text that is not its own")
        try claim(position.history.count == ChangePosition.historySize && position.number >= 0, "no position")
    }

    /// What stands in the daemon's lock file.
    static let rendezvous = FuzzTarget(
        "rendezvous", largestInput: 512,
        seeds: { [Rendezvous(processID: 4711, runDirectory: "/run/user/1000/latchkey").encoded] }
    ) { bytes throws(Finding) in
        guard let rendezvous = Rendezvous(encoded: bytes) else { return }
        try claim(rendezvous.encoded == bytes, "accepted a text that is not its encoding")
        try claim(rendezvous.runDirectory.hasPrefix("/"), "a folder that is not absolute")
        try claim(!bytes.contains(0), "a path that ends early")
    }

    /// What the metadata seal of a row holds.
    static let metadata = FuzzTarget("metadata", seeds: { ModelSeeds.metadata }) { bytes throws(Finding) in
        if let metadata = ItemMetadata(encoded: bytes) {
            let again = try claimed(ItemMetadata(encoded: metadata.encoded), "what was decoded does not decode again")
            try claim(again.encoded == metadata.encoded, "decoding again changes it")
            // Read by hand; the general decoder of the same format has to agree.
            do {
                let message = try Latchkey_SealedMetadata(serializedBytes: bytes)
                try claim(message.attributes.count == metadata.attributes.count, "another number of attributes")
            } catch let finding as Finding { throw finding } catch { throw Finding("the general decoder refuses it") }
        }
        var source = ByteSource(bytes)
        let made = ItemMetadata(
            attributes: source.attributes(), accessControl: source.flag() ? source.accessControl() : nil,
            sealID: source.string(of: 16), dataCode: source.data())
        let again = try claimed(ItemMetadata(encoded: made.encoded), "metadata of ours does not decode")
        try claim(
            Sameness.of(again.attributes, made.attributes) && again.accessControl == made.accessControl
                && again.sealID == made.sealID && again.dataCode == made.dataCode, "metadata that its encoding changes")
    }
}

enum ModelSeeds {
    static let accessControls: [[UInt8]] = [0, 1, 2, 8, 16, 1 << 14 | 3 << 4, 1 << 15 | 9 << 3, 1 << 30 | 1, 1 << 31]
        .compactMap { AccessControl(protection: "aku", flags: AccessControlFlags(rawValue: $0)) }
        .flatMap { [$0.encoded, $0.bound(to: Array(0..<32)).encoded] }

    static let references: [[UInt8]] = ItemClass.allCases.flatMap { itemClass in
        [
            PersistentReference(itemClass, .identifier(Array(0..<16))).bytes,
            PersistentReference(itemClass, .row(77)).bytes,
        ]
    }

    static let metadata: [[UInt8]] = {
        var attributes = AttributeMap()
        attributes.append(.account, .string("account"))
        attributes.append(.accessible, .string("ak"))
        attributes.append(.synchronizable, .integer(0))
        attributes.append(.creationDate, .date(8e8))
        attributes.append(.sha1, .data(Array(repeating: 7, count: 20)))
        let accesses = [nil, AccessControl(unconstrained: .whenUnlocked)]
        return accesses.map {
            ItemMetadata(
                attributes: attributes, accessControl: $0, sealID: Array(0..<16),
                dataCode: Array(repeating: 1, count: 32)
            ).encoded
        }
    }()
}
