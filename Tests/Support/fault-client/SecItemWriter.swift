import Foundation
import KeychainClient
import KeychainServices

/// A program that knows SecItem alone, beside others in the group of the command line. It says
/// each change before it makes it and once it is acknowledged, and goes on where one is not.
struct SecItemWriter {
    private static let group = "latchkey"

    private let name: String

    /// The daemon of the user's keychain is looked for beside this program, as one that is
    /// installed finds it where it is installed.
    init(name: String) {
        self.name = name
        CurrentKeychain.install(DaemonConnectionPool(.user(lookingBesideThisProgram: true)))
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Longer for some than for others; says whose it is.
    private func value(_ number: Int, version: Int) -> Data {
        let words = "v\(version) of \(name)-\(number)"
        return Data(Array(repeating: words, count: 1 + number % 40).joined(separator: " ").utf8)
    }

    /// Adds items, and changes every fourth.
    func store(_ count: Int) {
        for number in 0..<count {
            let item = "\(name)-\(number)"
            let place: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "reach", kSecAttrAccount: item,
                kSecAttrAccessGroup: Self.group,
            ]
            say("try \(item) 1")
            let new = [kSecAttrLabel: item, kSecValueData: value(number, version: 1)] as [CFString: Any]
            guard SecItemAdd(place.merging(new) { $1 } as CFDictionary, nil) == errSecSuccess else {
                waitUntilServed()
                continue
            }
            say("ack \(item) 1")
            guard number % 4 == 0 else { continue }
            say("try \(item) 2")
            let changes = [kSecValueData: value(number, version: 2)] as CFDictionary
            if SecItemUpdate(place as CFDictionary, changes) == errSecSuccess { say("ack \(item) 2") }
        }
    }

    /// Until something reads again: what is started anew takes longer than many calls that fail.
    private func waitUntilServed() {
        let query =
            [kSecClass: kSecClassGenericPassword, kSecAttrAccessGroup: Self.group, kSecReturnData: true]
            as [CFString: Any]
        let end = ProcessInfo.processInfo.systemUptime + 30
        var status = errSecNotAvailable
        while status == errSecNotAvailable, ProcessInfo.processInfo.systemUptime < end {
            status = SecItemCopyMatching(query as CFDictionary, nil)
        }
    }

    /// Label and value of everything in a group.
    func list(_ group: String) {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccessGroup: group, kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnAttributes: true, kSecReturnData: true,
        ]
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess, let items = result as? [[String: Any]] else {
            FileHandle.standardError.write(Data("list: \(status)\n".utf8))
            exit(1)
        }
        for item in items {
            let value = item[kSecValueData as String] as? Data ?? Data()
            say("\(item[kSecAttrLabel as String] as? String ?? "")\t\(String(decoding: value, as: UTF8.self))")
        }
    }
}
