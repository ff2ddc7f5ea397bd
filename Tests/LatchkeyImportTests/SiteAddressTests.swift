import LatchkeyImport
import Testing

@Suite struct SiteAddressTests {
    @Test(
        arguments: [
            ("https://example.com", SiteScheme.https, "example.com", nil, ""),
            ("https://Example.COM/", .https, "example.com", nil, ""),
            ("https://example.com:443/login", .https, "example.com", nil, "/login"),
            ("http://example.com:8080/a%20b/", .http, "example.com", 8080, "/a%20b/"),
            ("ssh://host:22", .ssh, "host", 22, ""),
            ("example.com", nil, "example.com", nil, ""),
            ("example.com:8443/x", nil, "example.com", 8443, "/x"),
            ("localhost", nil, "localhost", nil, ""),
            (" https://example.com/a\n", .https, "example.com", nil, "/a"),
            ("\texample.com ", nil, "example.com", nil, ""),
            ("https://example.com:65535", .https, "example.com", 65535, ""),
            ("https://example.com:0/", .https, "example.com", nil, ""),
            ("https://example.com:65536/", .https, "example.com", nil, ""),
            ("https://example.com:/", .https, "example.com", nil, ""),
            // The host stays as it is written: other programs ask for that, and a decoded one may be another host.
            ("https://XN--Bcher-KVA.ex/in", .https, "xn--bcher-kva.ex", nil, "/in"),
            ("xn--bcher-kva.ex", nil, "xn--bcher-kva.ex", nil, ""), ("b\u{fc}cher.ex", nil, "b\u{fc}cher.ex", nil, ""),
            ("https://B\u{dc}cher.ex:8443/in", .https, "b\u{fc}cher.ex", 8443, "/in"),
            ("https://a%2Fb.ex/in", .https, "a%2fb.ex", nil, "/in"),
            ("https://me:p@xn--bcher-kva.ex:8443?q", .https, "xn--bcher-kva.ex", 8443, ""),
            ("https://[::1]:8443/", .https, "[::1]", 8443, ""), ("[::1]", nil, "[::1]", nil, ""),
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
        "a%2Fb.ex", "a%2eex",
    ])
    func anythingElseIsAName(_ text: String) {
        #expect(SiteAddress(text) == nil)
    }
}
