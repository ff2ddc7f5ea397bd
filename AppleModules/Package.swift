// swift-tools-version: 6.2
import PackageDescription

// Apple's module names, in a package of their own (ARCHITECTURE.md, section 1):
// a module named Security turns on `#if canImport(Security)` in every package of
// the same build, so only a program that asks for a name gets it.
//
//     .package(path: "…/latchkey/AppleModules")
//     .product(name: "Security", package: "AppleModules")
//     .product(name: "LocalAuthentication", package: "AppleModules")

/// The flags every room is built with, as in the package above.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .treatWarning("ExplicitSendable", as: .error),
]

let package = Package(
    name: "AppleModules",
    products: [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    ],
    dependencies: [
        // The name is said because the clone may lie in a folder of any name.
        .package(name: "latchkey", path: "..")
    ],
    targets: [
        .target(
            name: "Security",
            dependencies: [.product(name: "KeychainServices", package: "latchkey")],
            swiftSettings: house),
        .target(
            name: "LocalAuthentication",
            dependencies: [.product(name: "KeychainAuthentication", package: "latchkey")],
            swiftSettings: house),
    ]
)
