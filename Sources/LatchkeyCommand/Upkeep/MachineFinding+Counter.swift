internal import KeychainProtocol

extension MachineFinding {
    /// What it costs to have a TPM count, and what is wrong with it.
    static func ofCounter(_ state: CounterState) -> [MachineFinding] {
        var findings: [MachineFinding] = []
        if let tpm = state.tpm {
            findings.append(
                MachineFinding(
                    what: "the TPM at \(tpm) counts changes and attempts: without it no passcode is tried, and the "
                        + "recovery code alone opens the keychain",
                    command: "latchkey protector counter off", mend: .byHand))
        }
        if let fault = state.fault {
            findings.append(
                MachineFinding(
                    what: "the TPM has not counted the last attempt or change: \(fault). Until it has, a copy of the "
                        + "folder from before may pass for the newest",
                    command: "latchkey unlock   # counts again; where that TPM does not come back: latchkey protector "
                        + "counter accept --give-up",
                    mend: .byHand))
        }
        for place in state.left {
            findings.append(
                MachineFinding(
                    what: "\(place) may still have a counter that nobody uses; it holds no secret",
                    command: "latchkey unlock   # tries again to remove it", mend: .byHand))
        }
        return findings
    }
}
