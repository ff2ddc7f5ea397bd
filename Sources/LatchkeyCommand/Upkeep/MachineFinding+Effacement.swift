internal import KeychainProtocol

extension MachineFinding {
    /// What it costs to have a TPM keep what goes with the passcode, and what is wrong
    /// with it.
    static func ofEffacement(_ device: DeviceState, _ status: KeychainStatus) -> [MachineFinding] {
        let state = device.effacement
        var findings: [MachineFinding] = []
        if let tpm = state.tpm {
            findings.append(
                MachineFinding(
                    what: "the TPM at \(tpm) alone has what opens items that last as long as the passcode: "
                        + "where it is cleared or breaks they are lost, and the recovery code brings back all others",
                    command: "latchkey passcode effacement file   # a copy of the folder then has it too",
                    mend: .byHand))
        }
        if let fault = state.fault {
            findings.append(
                MachineFinding(
                    what: "items that last as long as the passcode are closed: \(fault); where that TPM does not come "
                        + "back, `latchkey passcode effacement file --give-up` gives them up for good",
                    command: "latchkey unlock   # tries again", mend: .byHand))
        }
        for place in state.left {
            findings.append(
                MachineFinding(
                    what: "\(place) may still have a secret that went with a passcode, because it does not answer, or "
                        + "another one does in its place, or the keychain's files could not all be written: a copy of "
                        + "the folder from before may open with it",
                    command: device.hasPasscode
                        ? "latchkey unlock   # tries again to destroy them"
                        : "kill \(status.enclaveProcess)   # the next start tries again to destroy them",
                    mend: .byHand))
        }
        return findings
    }
}
