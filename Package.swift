// swift-tools-version: 6.2
import PackageDescription

/// What generated code is built with: everything but the marking of unsafe storage.
let generated: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    // A plain client has no search path for our C modules; only
    // @_implementationOnly keeps them out of its build (ARCHITECTURE.md, "C modules").
    .treatWarning("ImplementationOnlyDeprecated", as: .warning),
]

/// The flags every room is built with (style: no unsafeFlags, so that other
/// packages can depend on this one).
let house: [SwiftSetting] =
    generated + [.strictMemorySafety(), .treatWarning("ExplicitSendable", as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
/// SQLite's own functions, as GRDB is linked with them.
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house)
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

let package = Package(
    name: "latchkey",
    products: [
        .library(name: "KeychainServices", targets: ["KeychainServices"]),
        .library(name: "KeychainAuthentication", targets: ["KeychainAuthentication"]),
        .library(name: "Keychain", targets: ["Keychain"]),
        .library(name: "KeychainDerivation", targets: ["KeychainDerivation"]),
        .library(name: "KeychainTesting", targets: ["KeychainTesting"]),
        .executable(name: "latchkey", targets: ["latchkey"]),
        .executable(name: "latchkeyd", targets: ["latchkeyd"]),
        .executable(name: "latchkey-enclave", targets: ["latchkey-enclave"]),
        .executable(name: "latchkey-prompt", targets: ["latchkey-prompt"]),
        .executable(name: "latchkey-hardware", targets: ["latchkey-hardware"]),
        .executable(name: "latchkey-bus", targets: ["latchkey-bus"]),
        .executable(name: "latchkey-secret-service", targets: ["latchkey-secret-service"]),
        .executable(name: "git-credential-latchkey", targets: ["git-credential-latchkey"]),
        .executable(name: "docker-credential-latchkey", targets: ["docker-credential-latchkey"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // Floor 0: ground
        .target(name: "CLatchkeyPlatform"),
        room("KeychainPlatform", ["CLatchkeyPlatform"]),
        room("KeychainModel"),

        // Floor 1: exchange
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        room("KeychainCrypto", ["KeychainPlatform", "CSodium", crypto]),
        // Generated code only, which does not mark its unsafe storage.
        .target(name: "KeychainMessages", dependencies: [protobuf], swiftSettings: generated),
        room("KeychainProtocol", ["KeychainMessages", "KeychainModel", "KeychainPlatform", protobuf]),

        // What other password managers export, as entries; knows nothing of the keychain.
        room("LatchkeyImport", ["KeychainPlatform"]),
        // The codes of a second factor; apart from KeychainCrypto, so that `latchkey`
        // does not load libsodium at each start.
        room("OneTimePasswords", ["KeychainPlatform", crypto]),

        // Floor 2: parts
        room(
            "KeychainStore",
            [
                "KeychainModel", "KeychainPlatform", "KeychainCrypto", "KeychainProtocol", "KeychainMessages", protobuf,
                grdb,
                sqlite,
            ]),
        room(
            "Enclave",
            ["KeychainModel", "KeychainPlatform", "KeychainCrypto", "KeychainProtocol", "KeychainMessages", protobuf]),
        room("PeerIdentity", ["KeychainModel", "KeychainPlatform"]),
        // tpm2-tss, which has no static archives and brings OpenSSL: in a process of its own.
        .target(
            name: "CLatchkeyTPM",
            linkerSettings: ["tss2-esys", "tss2-mu", "tss2-rc", "tss2-tctildr"].map { .linkedLibrary($0) }),
        // libfido2, which has no static archive and brings OpenSSL: in the same process.
        .target(name: "CLatchkeyFIDO", linkerSettings: [.linkedLibrary("fido2")]),
        room("SecurityHardware", ["KeychainPlatform", "KeychainProtocol", "CLatchkeyTPM", "CLatchkeyFIDO"]),

        // The parts of pam_latchkey.so that know no PAM, for the fuzzer; the module is
        // linked by scripts/build-pam.
        .target(name: "CLatchkeyPAM", exclude: ["module.c"]),

        // sd-bus, which comes as a shared library alone: in a process of its own.
        .target(name: "CLatchkeyBus", linkerSettings: [.linkedLibrary("systemd")]),
        room("SystemBus", ["KeychainPlatform", "KeychainProtocol", "CLatchkeyBus"]),

        // sd-bus on the session's bus, where Secret Service is; in a process of its own as well.
        .target(name: "CLatchkeySession", linkerSettings: [.linkedLibrary("systemd")]),
        room("MessageBus", ["KeychainPlatform", "CLatchkeySession"]),

        // Floor 3: policy
        room(
            "KeychainService",
            ["KeychainModel", "KeychainPlatform", "KeychainCrypto", "KeychainProtocol", "KeychainStore", "Enclave"]),
        room(
            "KeychainClient",
            ["KeychainModel", "KeychainPlatform", "KeychainProtocol", "KeychainMessages", protobuf]),

        // SQLite by its C functions, for what damages or measures a store from outside.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),

        // Floor 4: doors
        room("KeychainServices", ["KeychainModel", "KeychainClient", "KeychainProtocol", "KeychainPlatform"]),
        // Apart from KeychainServices, whose programs mostly ask nobody.
        room(
            "KeychainAuthentication",
            ["KeychainServices", "KeychainClient", "KeychainModel", "KeychainProtocol", "KeychainPlatform"]),
        room("Keychain", ["KeychainModel", "KeychainClient", "KeychainProtocol", "KeychainPlatform"]),
        // Apart from Keychain, which needs no crypto library.
        room("KeychainDerivation", ["Keychain", "KeychainModel", "KeychainCrypto", "KeychainPlatform"]),
        .target(name: "CKeychainTesting", dependencies: ["CLatchkeyPlatform"]),
        room(
            "KeychainTesting",
            [
                "CKeychainTesting", "KeychainServices", "KeychainClient", "KeychainService", "KeychainModel",
                "KeychainPlatform", "KeychainProtocol", "KeychainStore", "Enclave", "CSQLite",
            ]),
        room(
            "KeychainDaemon",
            [
                "KeychainService", "KeychainStore", "Enclave", "PeerIdentity", "KeychainProtocol", "KeychainModel",
                "KeychainPlatform", "KeychainCrypto", "KeychainMessages", logging,
            ]),

        // Asks a person, by pinentry, on behalf of the enclave.
        room("PersonPrompt", ["KeychainModel", "KeychainPlatform", "KeychainProtocol"]),

        // Who may reach what over the bus, and what collections and schemas are called: for the
        // service, and for what tells a person of it; knows no bus and loads no libsodium.
        room("SecretServiceReach", ["KeychainModel", "KeychainPlatform"]),
        // Where an item of the Secret Service stands among the keychain's: for the service, and
        // for the import of another one's; knows no bus.
        room("SecretServiceItems", ["KeychainCrypto", "KeychainModel", "SecretServiceReach"]),
        // What Linux programs already speak: org.freedesktop.secrets.
        room(
            "SecretService",
            [
                "KeychainCrypto", "KeychainModel", "KeychainPlatform", "KeychainProtocol", "MessageBus", "PersonPrompt",
                "SecretServiceItems", "SecretServiceReach",
            ]),
        // The other side of it: what gnome-keyring, KWallet and others give out over the bus.
        room("ForeignKeyrings", ["KeychainCrypto", "KeychainPlatform", "MessageBus"]),

        // What git and docker ask of their helpers, and secrets for commands and templates.
        room(
            "CredentialHelpers",
            ["KeychainClient", "KeychainModel", "KeychainPlatform", "KeychainProtocol", "LatchkeyImport"]),

        // Floor 5: executables
        // Started for each password: no argument parser.
        executable("git-credential-latchkey", ["CredentialHelpers", "KeychainPlatform"]),
        executable("docker-credential-latchkey", ["CredentialHelpers", "KeychainPlatform"]),
        executable(
            "latchkeyd",
            [
                "KeychainDaemon", "KeychainService", "KeychainModel", "KeychainPlatform", "KeychainProtocol",
                "PeerIdentity",
                arguments, logging,
            ]),
        executable("latchkey-enclave", ["Enclave", "KeychainModel", "KeychainPlatform", arguments]),
        executable(
            "latchkey-prompt",
            ["PersonPrompt", "KeychainModel", "KeychainPlatform", "KeychainProtocol", arguments]),
        executable("latchkey-hardware", ["SecurityHardware", "KeychainModel", "KeychainPlatform", arguments]),
        executable("latchkey-bus", ["SystemBus", "KeychainModel", "KeychainPlatform", "KeychainProtocol", arguments]),
        executable(
            "latchkey-secret-service",
            [
                "SecretService", "SecretServiceReach", "ForeignKeyrings", "MessageBus", "KeychainClient",
                "KeychainModel", "KeychainPlatform", arguments,
            ]),
        // What `latchkey` does, as a library so that tests can give it a keychain and a console.
        room(
            "LatchkeyCommand",
            [
                "CredentialHelpers", "KeychainClient", "KeychainModel", "KeychainPlatform", "KeychainProtocol",
                "OneTimePasswords", "SecretServiceItems", "SecretServiceReach", arguments,
            ]),
        // Import and export, apart from the commands that every script calls.
        room(
            "LatchkeyTransfer",
            [
                "LatchkeyCommand", "LatchkeyImport", "KeychainCrypto", "KeychainModel", "KeychainPlatform",
                "KeychainProtocol", "KeychainClient", "SecretServiceItems", "SecretServiceReach",
            ]),
        executable("latchkey", ["LatchkeyCommand", "LatchkeyTransfer"]),

        // Measures the whole beside its raw parts; not a product.
        executable(
            "latchkey-bench",
            [
                "KeychainServices", "KeychainClient", "KeychainDaemon", "KeychainService", "KeychainStore",
                "KeychainCrypto", "Enclave", "PeerIdentity", "KeychainProtocol", "KeychainModel", "KeychainPlatform",
                "LatchkeyCommand", "CSQLite", crypto, logging,
            ]),

        // Tests
        .target(
            name: "KeychainTestSupport", dependencies: ["CCallProbe", "CTestProcess", "KeychainPlatform"],
            path: "Tests/Support/KeychainTestSupport", swiftSettings: house),
        .target(name: "CTestProcess", path: "Tests/Support/CTestProcess"),
        // Displays without a screen, for tests of what people see.
        .target(
            name: "Displays", dependencies: ["KeychainPlatform", "KeychainTestSupport"],
            path: "Tests/Support/Displays", swiftSettings: house),
        .target(
            name: "Puppets", dependencies: ["KeychainPlatform", "KeychainModel", "KeychainProtocol"],
            path: "Tests/Support/Puppets", swiftSettings: house),
        .executableTarget(
            name: "enclave-probe", dependencies: ["Enclave", "KeychainModel", "KeychainPlatform", "KeychainProtocol"],
            path: "Tests/Support/enclave-probe", swiftSettings: house),
        // `latchkey-bus` on a bus of the test's own.
        .executableTarget(
            name: "bus-probe", dependencies: ["SystemBus", "KeychainPlatform", "KeychainProtocol"],
            path: "Tests/Support/bus-probe", swiftSettings: house),
        tests(
            "KeychainDaemonTests",
            [
                "KeychainDaemon", "KeychainClient", "KeychainService", "KeychainStore", "Enclave", "PeerIdentity",
                "KeychainProtocol", "KeychainMessages", "KeychainModel", "KeychainPlatform", "KeychainTestSupport",
                "CSQLite", "Puppets", "latchkey", "fault-client",
                protobuf, logging,
            ]),
        tests(
            "ShippedDaemonTests",
            [
                "Keychain", "KeychainClient", "KeychainModel", "KeychainPlatform", "KeychainProtocol",
                "KeychainTestSupport",
                "Puppets",
                "latchkeyd", "latchkey-enclave", "latchkey-hardware", "latchkey-bus", "confinement-probe",
            ]),
        .executableTarget(
            name: "fault-client",
            dependencies: [
                "KeychainClient", "KeychainModel", "KeychainPlatform", "KeychainProtocol", "KeychainServices",
            ],
            path: "Tests/Support/fault-client", swiftSettings: house),
        // As latchkey-hardware, with security keys of software.
        .target(name: "CSocketKeys", dependencies: ["CLatchkeyFIDO"], path: "Tests/Support/CSocketKeys"),
        .executableTarget(
            name: "security-key-hands", dependencies: ["CSocketKeys", "SecurityHardware", "KeychainPlatform"],
            path: "Tests/Support/security-key-hands", swiftSettings: house),
        // What a confined program of ours would be made to do, from within.
        .target(name: "CCallProbe", path: "Tests/Support/CCallProbe"),
        .executableTarget(
            name: "confinement-probe", dependencies: ["CCallProbe", "KeychainPlatform"],
            path: "Tests/Support/confinement-probe", swiftSettings: house),
        // What is broken on purpose, and what is left then (docs/faults.md).
        tests(
            "FaultTests",
            [
                "KeychainClient", "KeychainService", "KeychainStore", "Enclave", "KeychainCrypto", "KeychainModel",
                "KeychainPlatform", "KeychainProtocol", "KeychainTestSupport", "LatchkeyCommand", "fault-client",
                "latchkey", "latchkeyd", "latchkey-enclave", "enclave-probe", "confinement-probe", "latchkey-prompt",
                "bus-probe",
            ]),
        tests(
            "KeychainServiceTests",
            [
                "KeychainService", "KeychainStore", "Enclave", "KeychainCrypto", "KeychainProtocol", "KeychainModel",
                "KeychainPlatform", "KeychainMessages", "KeychainTestSupport", "CSQLite", "FuzzTargets",
                "SecretService", "SecretServiceReach", protobuf,
            ],
            resources: [.copy("Fixtures")]),
        tests(
            "EnclaveTests",
            [
                "Enclave", "KeychainTestSupport", "KeychainModel", "KeychainPlatform", "KeychainCrypto",
                "KeychainProtocol", "KeychainMessages", protobuf, "latchkey-enclave", "latchkey-hardware",
                "latchkey-bus", "enclave-probe", "security-key-hands", "bus-probe",
            ],
            resources: [.copy("Fixtures")]),
        tests(
            "PeerIdentityTests",
            ["PeerIdentity", "KeychainModel", "KeychainPlatform", "KeychainProtocol", "KeychainTestSupport", "Puppets"]),
        .target(
            name: "Conformance",
            dependencies: [
                "KeychainTesting", "KeychainServices", "KeychainAuthentication", "KeychainClient", "KeychainProtocol",
                "KeychainModel", "KeychainPlatform", "KeychainTestSupport",
            ],
            path: "Tests/Support/Conformance", swiftSettings: house),
        .executableTarget(
            name: "conformance",
            dependencies: ["Conformance", "KeychainPlatform", "latchkeyd-testing", "latchkey-enclave"],
            path: "Tests/Support/conformance-tool", swiftSettings: house),
        .executableTarget(
            name: "latchkeyd-testing",
            dependencies: [
                "Conformance", "KeychainTesting", "KeychainDaemon", "KeychainService", "Enclave", "PeerIdentity",
                "KeychainProtocol", "KeychainModel", "KeychainPlatform", logging,
            ],
            path: "Tests/Support/latchkeyd-testing", swiftSettings: house),
        // The bodies of `make fuzz` (scripts/fuzz) and of FuzzTests.
        .target(name: "CFuzzer", path: "Tests/Support/CFuzzer"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "KeychainDaemon", "KeychainService", "KeychainStore", "Enclave", "KeychainCrypto", "KeychainProtocol",
                "KeychainMessages", "KeychainModel", "KeychainPlatform", "KeychainTestSupport", "Conformance",
                "CSQLite", "LatchkeyImport", "LatchkeyTransfer", "PersonPrompt", "CredentialHelpers", "CLatchkeyPAM",
                "SecretService", "SecretServiceReach", protobuf,
            ],
            path: "Tests/Support/FuzzTargets", swiftSettings: house),
        .executableTarget(
            name: "fuzz-driver", dependencies: ["FuzzTargets", "CFuzzer"], path: "Tests/Support/fuzz-driver",
            swiftSettings: house),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets"], exclude: ["Corpus", "Regressions"], swiftSettings: house),
        // Load on the real programs (scripts/load).
        .executableTarget(
            name: "load",
            dependencies: [
                "KeychainClient", "KeychainProtocol", "KeychainMessages", "KeychainModel", "KeychainPlatform",
                "KeychainTestSupport", "latchkeyd", "latchkey-enclave",
            ],
            path: "Tests/Support/load", swiftSettings: house),
        tests(
            "KeychainTests",
            [
                "Keychain", "KeychainDerivation", "KeychainServices", "KeychainTesting", "KeychainClient",
                "KeychainModel", "KeychainPlatform", "KeychainProtocol",
            ]),
        tests(
            "KeychainAuthenticationTests",
            [
                "KeychainAuthentication", "KeychainServices", "KeychainTesting", "KeychainClient", "KeychainModel",
                "KeychainProtocol", "KeychainPlatform",
            ]),
        tests("KeychainServicesTests", ["KeychainServices", "KeychainTesting"]),
        tests("KeychainTestingTests", ["KeychainTesting", "KeychainServices", "KeychainPlatform"]),
        // The corpus is read where it lies, not copied into a bundle.
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "Conformance", "KeychainServices", "KeychainPlatform", "latchkeyd-testing", "latchkey-enclave",
            ],
            exclude: ["Corpus"], swiftSettings: house),
        tests(
            "HouseTests",
            [
                "KeychainModel", "KeychainPlatform", "latchkey", "latchkeyd", "latchkey-enclave", "latchkey-prompt",
                "latchkey-hardware", "latchkey-bus", "latchkey-secret-service", "git-credential-latchkey",
                "docker-credential-latchkey",
            ]),
        tests(
            "PersonPromptTests",
            [
                "PersonPrompt", "KeychainClient", "KeychainModel", "KeychainPlatform", "KeychainProtocol",
                "KeychainTestSupport", "Displays", "fault-client", "latchkey", "latchkey-prompt", "latchkeyd",
                "latchkey-enclave",
            ]),
        tests("OneTimePasswordsTests", ["OneTimePasswords", "KeychainPlatform"]),
        tests("KeychainModelTests", ["KeychainModel"]),
        tests("KeychainPlatformTests", ["KeychainPlatform", "KeychainTestSupport", "confinement-probe"]),
        tests(
            "LatchkeyCommandTests",
            [
                "LatchkeyCommand", "LatchkeyTransfer", "LatchkeyImport", "KeychainAuthentication", "KeychainCrypto",
                "KeychainClient",
                "KeychainModel", "KeychainPlatform", "KeychainProtocol", "KeychainServices", "KeychainTesting",
                "KeychainTestSupport", "SecretServiceItems", "Displays", "fault-client", "latchkey", "latchkeyd",
                "latchkey-enclave", "latchkey-prompt", "latchkey-hardware", "latchkey-secret-service",
                "confinement-probe", "security-key-hands", "bus-probe", "git-credential-latchkey",
                "docker-credential-latchkey",
            ],
            resources: [.copy("Fixtures")]),
        tests(
            "LatchkeyImportTests", ["LatchkeyImport", "KeychainPlatform", "KeychainTestSupport"],
            resources: [.copy("Fixtures")]),
    ]
)
