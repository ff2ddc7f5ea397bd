package import KeychainModel

/// A server as docker's programs and people say it: `https://host:port/path`, of which all but the
/// host may be missing.
package struct ServerAddress {
    package let scheme: String?
    package let name: ServerName
    /// With its slash.
    package let path: String?

    package init(_ text: String) {
        var rest = Substring(text)
        if let end = text.range(ofText: "://") {
            scheme = String(text[..<end.lowerBound])
            rest = text[end.upperBound...]
        } else {
            scheme = nil
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        name = ServerName(String(rest[..<slash]))
        path = slash < rest.endIndex ? String(rest[slash...]) : nil
    }
}

extension String {
    fileprivate func range(ofText text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
