/// A server as programs write it: "host", "host:port", "[address]:port".
package struct ServerName: Sendable, Hashable {
    /// With its brackets, where it is an address of IPv6.
    package let host: String
    /// nil: none is said, or what follows the colon is none and belongs to the host.
    package let port: UInt16?

    package init(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), text[..<colon].last == "]" || !text[..<colon].contains(":"),
            let port = UInt16(text[text.index(after: colon)...])
        else {
            (host, self.port) = (text, nil)
            return
        }
        (host, self.port) = (String(text[..<colon]), port)
    }

    package init(host: String, port: UInt16?) { (self.host, self.port) = (host, port) }

    package var text: String { host + (port.map { ":\($0)" } ?? "") }
}
