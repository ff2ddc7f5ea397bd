internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainPlatform

/// The results of a batch as the daemon reads them: nothing is taken on trust.
enum EnclaveResults {
    /// nil unless there are exactly `count` results, each of a known kind, and
    /// the tail holds exactly the keys that they announce.
    static func parse(
        _ results: [WrapFields.Result], _ tail: borrowing SecretBytes, count: Int,
        _ sent: (Int) -> WrappedKey?
    ) -> [KeyOutcome]? {
        let size = EnclaveProtocol.keyByteCount
        let keys = results.reduce(0) { $0 + ($1.outcome == .key ? 1 : 0) }
        guard results.count == count, tail.count == keys * size else { return nil }
        var outcomes: [KeyOutcome] = []
        outcomes.reserveCapacity(count)
        var start = 0
        for (index, result) in results.enumerated() {
            if result.outcome == .key {
                guard let wrapped = wrapped(result, sent(index)) else { return nil }
                outcomes.append(.key(SharedSecret(tail.copy(start..<(start + size))), wrapped))
                start += size
            } else {
                guard let refusal = refusal(result) else { return nil }
                outcomes.append(refusal)
            }
        }
        return outcomes
    }

    /// The outcomes of keys that were to be opened: one for each row, of a known
    /// kind, and exactly as many keys as they announce.
    static func parse(
        outcomes: [UInt8], _ tail: borrowing SecretBytes, of rows: ArraySlice<(binding: RowBinding, wrapped: WrappedKey)>
    ) -> [KeyOutcome]? {
        let size = EnclaveProtocol.keyByteCount
        var results: [KeyOutcome] = []
        results.reserveCapacity(rows.count)
        guard outcomes.count == rows.count else { return nil }
        var start = 0
        for (number, row) in zip(outcomes, rows) {
            switch Latchkey_EnclaveReply.Outcome(rawValue: Int(number)) {
            case .key:
                guard tail.count - start >= size else { return nil }
                results.append(.key(SharedSecret(tail.copy(start..<(start + size))), row.wrapped))
                start += size
            case .locked: results.append(.locked)
            case .needs: results.append(.needsAuthentication)
            case .damaged: results.append(.damaged)
            case .noClassKey: results.append(.noClassKey)
            case .effaced: results.append(.effaced)
            case .applicationPassword: results.append(.wrongApplicationPassword)
            case .unspecified, .UNRECOGNIZED, nil: return nil
            }
        }
        return start == tail.count ? results : nil
    }

    /// Keys that were wrapped anew; nil unless each is of a known kind.
    static func parse(rewrapped results: [WrapFields.Result], count: Int) -> [RewrapOutcome]? {
        guard results.count == count else { return nil }
        var outcomes: [RewrapOutcome] = []
        for result in results {
            switch result.outcome {
            case .key:
                guard let wrapped = wrapped(result, nil) else { return nil }
                outcomes.append(.wrapped(wrapped))
            case .locked: outcomes.append(.locked)
            case .damaged: outcomes.append(.damaged)
            case .noClassKey: outcomes.append(.noClassKey)
            case .effaced: outcomes.append(.effaced)
            case .needs: outcomes.append(.needsAuthentication)
            case .applicationPassword, .unspecified, .UNRECOGNIZED: return nil
            }
        }
        return outcomes
    }

    /// A new box, or the one that was sent where the answer brings none.
    private static func wrapped(_ result: WrapFields.Result, _ sent: WrappedKey?) -> WrappedKey? {
        if let sent { return result.generation == 0 && result.wrapped.isEmpty ? sent : nil }
        guard result.generation > 0,
            [WrappedKey.boxByteCount, WrappedKey.layeredBoxByteCount].contains(result.wrapped.count)
        else { return nil }
        return WrappedKey(generation: result.generation, box: result.wrapped)
    }

    private static func refusal(_ result: WrapFields.Result) -> KeyOutcome? {
        guard result.generation == 0, result.wrapped.isEmpty else { return nil }
        switch result.outcome {
        case .locked: return .locked
        case .needs: return .needsAuthentication
        case .damaged: return .damaged
        case .noClassKey: return .noClassKey
        case .effaced: return .effaced
        case .applicationPassword: return .wrongApplicationPassword
        case .key, .unspecified, .UNRECOGNIZED: return nil
        }
    }
}
