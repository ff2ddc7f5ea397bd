/// Where a TPM has something of ours, as a person names it.
package struct TPMPlace: Hashable, Sendable, CustomStringConvertible {
    package let address: TPMAddress
    package let handle: UInt32

    package init(address: TPMAddress, handle: UInt32) {
        self.address = address
        self.handle = handle
    }

    /// As tpm2-tools write it.
    package var handleText: String { "0x" + String(handle, radix: 16, uppercase: true) }

    package var description: String { "index \(handleText) of the TPM at \(address)" }

    /// What the TPM's owner removes it with, by hand: the name of the program in tpm2-tools
    /// with its arguments.
    package var removal: String {
        switch address {
        case .device(let path): "tpm2_nvundefine --tcti=device:\(path) \(handleText)"
        case .socket(let path): "tpm2_nvundefine --tcti=swtpm:path=\(path) \(handleText)"
        }
    }
}
