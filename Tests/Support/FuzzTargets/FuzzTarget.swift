/// One place where bytes of others come in, and what must hold of it for every input.
package struct FuzzTarget: Sendable {
    package let name: String
    /// Real encodings, made by our own encoders.
    package let seeds: @Sendable () -> [[UInt8]]
    /// Longer inputs show nothing more.
    package let largestInput: Int
    /// How many times as long one input takes as that of a plain decoder.
    package let weight: Int
    private let body: @Sendable ([UInt8]) throws(Finding) -> Void

    init(
        _ name: String, largestInput: Int = 4096, weight: Int = 1, seeds: @escaping @Sendable () -> [[UInt8]] = { [] },
        body: @escaping @Sendable ([UInt8]) throws(Finding) -> Void
    ) {
        self.name = name
        self.largestInput = largestInput
        self.weight = weight
        self.seeds = seeds
        self.body = body
    }

    /// - Throws: ``Finding`` where a property does not hold. A trap is a finding as well.
    package func run(_ bytes: [UInt8]) throws(Finding) { try body(bytes) }
}

extension FuzzTarget {
    /// Every target; the name is that of its folder in Tests/FuzzTests/Corpus.
    package static let all: [FuzzTarget] =
        [
            .query, .changes, .request, .frame, .answer, .rows, .hello, .failure, .accessControl, .persistentReference,
            .lookupAttributes, .changePosition,
            .rendezvous, .metadata, .propertyList, .engine, .sealedRow, .importCSV, .importJSON, .exportFile,
            .keyringFile, .keyringText, .keyringLines,
            .assuan, .foreignText, .hardware, .systemBus, .sealedByTPM, .sealedByFIDO2, .auditFile, .auditBlock,
            .pamModule, .secretReference, .secretTemplate, .databasePages, .logFrames,
        ] + internals

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    /// Those that look into a room; a release build has no `@testable`.
    #if DEBUG
        private static let internals: [FuzzTarget] = [
            .payload, .keybag, .protectors, .softwareSecret, .authenticatedFile, .enclaveRequest, .enclaveResults,
            .packedRows, .enclaveOutcomes, .enclaveRendezvous, .personCall, .auditHead, .gitCredential,
            .dockerCredential, .attempts, .secretServicePolicy, .controlRequest, .witness,
        ]
    #else
        private static let internals: [FuzzTarget] = []
    #endif
}
