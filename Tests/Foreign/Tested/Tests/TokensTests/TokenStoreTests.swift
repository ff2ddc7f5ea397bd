import Foundation
import Testing

@testable import Tokens

@Test func remembersTheToken() {
    let store = TokenStore()
    #expect(store.load() == nil)
    #expect(store.save("secret") == errSecSuccess)
    #expect(store.save("secret") == errSecDuplicateItem)
    #expect(store.load() == "secret")
    #expect(Bundle.main.bundleIdentifier == "com.example.app")
}
