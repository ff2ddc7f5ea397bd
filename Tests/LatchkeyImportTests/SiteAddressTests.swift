import LatchkeyImport
import Testing

@Suite struct SiteAddressTests {
    @Test(arguments: [
        ("https://example.com", SiteScheme.https, "example.com", nil, ""),
        ("https://Example.COM/", .https, "example.com", nil, ""),
        ("https://example.com:443/login", .https, "example.com", nil, "/login"),
        ("http://example.com:8080/a%20b/", .http, "example.com", 8080, "/a%20b/"),
        ("ssh://host:22", .ssh, "host", 22, ""),
        ("example.com", nil, "example.com", nil, ""),
        ("example.com:8443/x", nil, "example.com", 8443, "/x"),
        ("localhost", nil, "localhost", nil, ""),
        (" https://example.com/a\n", .https, "example.com", nil, "/a"), ("\texample.com ", nil, "example.com", nil, ""),
        ("https://example.com:65535", .https, "example.com", 65535, ""),
        ("https://example.com:0/", .https, "example.com", nil, ""),
        ("https://example.com:65536/", .https, "example.com", nil, ""),
        ("https://example.com:/", .https, "example.com", nil, ""),
    ] as [(String, SiteScheme?, String, Int?, String)])
    func addressOfASiteIsTakenApart(
        _ text: String, _ scheme: SiteScheme?, _ host: String, _ port: Int?, _ path: String
    ) throws {
        let site = try #require(SiteAddress(text))
        #expect(site.scheme == scheme)
        #expect(site.host == host)
        #expect(site.port == port)
        #expect(site.path == path)
    }

    @Test(arguments: [
        "", "a word", "Router", "androidapp://com.example.app", "chrome://FirefoxAccounts", "mailto:a@example.com",
        "https://", "me@example.com", "a b.com", "https:///path", ".", "..", "file:///etc/passwd",
    ])
    func anythingElseIsAName(_ text: String) {
        #expect(SiteAddress(text) == nil)
    }
}
