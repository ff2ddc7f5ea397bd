#if DEBUG
    internal import KeychainCrypto
    internal import KeychainModel
    internal import KeychainPlatform
    internal import KeychainProtocol
    @testable internal import Enclave

    extension FuzzTarget {
        static let keybag = FuzzTarget("keybag", seeds: { KeybagSeeds.keybags }) { bytes throws(Finding) in
            guard let body = KeybagBody(parsing: bytes) else { return }
            try claim(KeybagBody(parsing: body.encoded) == body, "a keybag that its encoding changes")
            guard let open = openClasses(body, KeybagSeeds.root()) else { return }
            // What opens was made under this root key: under no other, and not with a box that was changed.
            try claim(openClasses(body, .random()) == nil, "a keybag opened under another root key")
            var spoilt = body.classKeys
            let index = bytes.count % spoilt.count
            var box = spoilt[index].box
            box[bytes.count % box.count] ^= 1
            spoilt[index] = WrappedClassKey(
                protectionClass: spoilt[index].protectionClass, generation: spoilt[index].generation,
                parent: spoilt[index].parent, box: box)
            let other = KeybagBody(
                store: body.store, slots: body.slots, classKeys: spoilt, wrappedIndexKey: body.wrappedIndexKey)
            let isRefused = openClasses(other, KeybagSeeds.root()) == nil
            try claim(isRefused || !open.contains(spoilt[index].protectionClass), "a class key that was changed opened")
        }

        /// nil where it does not open.
        private static func openClasses(_ body: KeybagBody, _ root: consuming RootKey) -> Set<ProtectionClass>? {
            do throws(KeybagError) {
                var keybag = try Keybag(body, generation: 1, root: root)
                if body.slot(.open) != nil { try keybag.unlock(with: .open, effacement: nil) }
                return keybag.ring.openClasses
            } catch {
                return nil
            }
        }

        static let protectors = FuzzTarget("protectors", seeds: { [KeybagSeeds.protectors, KeybagSeeds.devices] }) {
            bytes throws(Finding) in
            guard let body = ProtectorsBody(parsing: bytes) else { return }
            try claim(ProtectorsBody(parsing: body.encoded) == body, "protectors that their encoding changes")
        }

        static let attempts = FuzzTarget("attempts", largestInput: 512, seeds: { KeybagSeeds.attempts }) {
            bytes throws(Finding) in
            guard let body = AttemptsBody(parsing: bytes) else { return }
            try claim(AttemptsBody(parsing: body.encoded) == body, "attempts that their encoding changes")
            guard let anchor = body.anchor else { return }
            // Whatever a file says, what the TPM has decides: not more, and one less at the most.
            for value in [anchor.count, anchor.count &+ 1, anchor.count &- 1, 0] {
                let isProved = isProved(anchor, by: value)
                let isCount = value == anchor.count || value < anchor.count && value + 1 == anchor.count
                try claim(isProved == isCount, "a count that the TPM does not have")
            }
            guard let next = anchor.next(least: anchor.least) else { return }
            try claim(!isProved(anchor, by: next.count), "a file from before the count")
        }

        private static func isProved(_ anchor: Anchor, by value: UInt64) -> Bool {
            do throws(CounterDoubt) {
                _ = try FolderCounter.prove(anchor, anchor.least, by: .success(value))
                return true
            } catch { return false }
        }

        static let softwareSecret = FuzzTarget(
            "software-secret", largestInput: 256, seeds: { [KeybagSeeds.secretFile] }
        ) { bytes throws(Finding) in
            guard case .secret(let secret) = SoftwareSecret.parse(SecretBytes(copying: bytes)) else { return }
            try secret.withFileBytes { file throws(Finding) in
                try claim(file == bytes, "accepted a file that is not its encoding")
            }
        }

        /// The frame of both files: whole, or with the input as its body.
        static let authenticatedFile = FuzzTarget(
            "authenticated-file",
            seeds: {
                [
                    KeybagSeeds.file(.keybag, KeybagSeeds.keybag.encoded),
                    KeybagSeeds.file(.protectors, KeybagSeeds.protectors),
                ]
            }
        ) { bytes throws(Finding) in
            for kind in [AuthenticatedFile.Kind.keybag, .protectors, .attempts] {
                try checkWhole(kind, bytes)
                try checkBody(kind, bytes)
            }
        }

        private static func checkWhole(_ kind: AuthenticatedFile.Kind, _ bytes: [UInt8]) throws(Finding) {
            guard let file = AuthenticatedFile.parse(kind, bytes) else { return }
            guard let verified = file.verified(by: KeybagSeeds.root()) else { return }
            try claim(verified.bytes == bytes, "other bytes")
            // A code cannot be guessed: it is one that was made with the key.
            let again = KeybagSeeds.file(kind, verified.body, generation: verified.generation)
            try claim(file.claimsNewer || again == bytes, "a file that nobody wrote is authentic")
        }

        private static func checkBody(_ kind: AuthenticatedFile.Kind, _ body: [UInt8]) throws(Finding) {
            let bytes = KeybagSeeds.file(kind, body, generation: 7)
            let file = try claimed(AuthenticatedFile.parse(kind, bytes), "a file of ours has no frame")
            let verified = try claimed(file.verified(by: KeybagSeeds.root()), "a file of ours is not authentic")
            try claim(
                verified.body == body && verified.generation == 7 && verified.version == kind.version, "another file")
            var spoilt = bytes
            spoilt[body.count % spoilt.count] ^= 1
            let other = AuthenticatedFile.parse(kind, spoilt)?.verified(by: KeybagSeeds.root())
            try claim(other == nil, "a changed file is authentic")
        }

        static let enclaveRendezvous = FuzzTarget(
            "enclave-rendezvous", largestInput: 512,
            seeds: { [EnclaveRendezvous(processID: 4711, runDirectory: "/run/user/1000/latchkey").encoded] }
        ) { bytes throws(Finding) in
            guard let rendezvous = EnclaveRendezvous(encoded: bytes) else { return }
            try claim(rendezvous.encoded == bytes, "accepted a text that is not its encoding")
            try claim(rendezvous.runDirectory.hasPrefix("/") && !bytes.contains(0), "a folder that is not absolute")
        }
    }

    /// Files under keys that are the same in every run, so that inputs can be kept.
    enum KeybagSeeds {
        static func root() -> RootKey { RootKey(SecretBytes(copying: Array(repeating: 0x42, count: 32))) }

        static let keybag = KeybagBody.new(for: StoreID(Array(repeating: 0x17, count: 16)) ?? .random(), root: root())

        /// Also one that TPMs still have something of.
        static let keybags: [[UInt8]] = {
            var left = keybag
            left.tpm.undefining = [HardwareSeeds.index]
            var counted = keybag
            counted.counter.begin(
                HardwareSeeds.index, password: SecretBytes(copying: [UInt8](repeating: 9, count: 32)), after: 7,
                under: root(), of: keybag.store)
            var uncounted = counted
            uncounted.counter.end()
            return [keybag.encoded, left.encoded, counted.encoded, uncounted.encoded]
        }()

        /// With what the counter of a TPM vouches for, and without.
        static let attempts: [[UInt8]] = {
            let least = FileGenerations(keybag: 3, protectors: 2)
            let anchor = Anchor(label: HardwareSeeds.index.label, count: 41, least: least)
            return [nil, anchor].map { AttemptsBody(store: keybag.store, failed: 4, anchor: $0).encoded }
        }()

        static let protectors: [UInt8] = {
            let bytes = Protectors.encodeNew(for: keybag.store, secret: secret)
            return AuthenticatedFile.parse(.protectors, bytes)?.uncheckedBody ?? []
        }()

        /// Bound to a TPM and to a security key.
        static let devices: [UInt8] = {
            let kinds = [
                (ProtectorKind.tpm2, HardwareSeeds.sealed.encoded), (.fido2, HardwareSeeds.keySealed.encoded),
            ]
            let protectors = kinds.enumerated().map { number, kind in
                root().protected(
                    by: kind.0, named: Array(repeating: UInt8(number), count: 16), under: .random(), of: keybag.store,
                    parameters: kind.1)
            }
            return ProtectorsBody(store: keybag.store, protectors: protectors).encoded
        }()

        private static let secret = SoftwareSecret.random()

        static let secretFile: [UInt8] = {
            var file: [UInt8] = []
            secret.withFileBytes { file = $0 }
            return file
        }()

        static func file(_ kind: AuthenticatedFile.Kind, _ body: [UInt8], generation: UInt64 = 1) -> [UInt8] {
            AuthenticatedFile.encode(kind, generation: generation, body: body, root: root())
        }
    }
#endif
