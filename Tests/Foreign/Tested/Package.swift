// swift-tools-version: 6.0
import PackageDescription

// A package whose tests call SecItem…, for docs/templates/keychain-tests-on-linux.yml.
let package = Package(
    name: "tokens",
    targets: [.target(name: "Tokens"), .testTarget(name: "TokensTests", dependencies: ["Tokens"])])
