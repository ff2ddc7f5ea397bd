internal import KeychainModel

/// A registry as docker names it: "https://index.docker.io/v1/", "registry.example:5000".
package struct DockerServer: Sendable, Hashable {
    let url: String
    /// Where its item stands as an internet password; nil where the URL could not be put
    /// together again from that, so that it is the service of a generic one.
    let place: ServerPlace?

    package init(_ url: String) {
        self.url = url
        let parts = Self.parts(url)
        place = parts.attributes != nil && Self.url(of: parts) == url ? parts : nil
    }

    private static func parts(_ url: String) -> ServerPlace {
        var rest = url[...]
        var scheme: String?
        if let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") {
            scheme = String(url[..<colon])
            rest = url[colon...].dropFirst(3)
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        return ServerPlace(
            scheme: scheme, server: ServerName(String(rest[..<slash])), path: String(rest[slash...]))
    }

    private static func url(of place: ServerPlace) -> String {
        (place.scheme.map { "\($0)://" } ?? "") + place.server.text + (place.path ?? "")
    }

    /// The URL that an item of docker's is for.
    static func url(of item: HelperItem) -> String {
        if let url = item.attributes.lookup?["server"] { return url }
        guard item.itemClass == .internetPassword else { return item.service }
        return url(
            of: ServerPlace(
                scheme: item.scheme, server: ServerName(host: item.server, port: item.port), path: item.path))
    }

    func isPath(of item: HelperItem) -> Bool {
        ServerPlace.plain(item.path).utf8.elementsEqual(ServerPlace.plain(place?.path ?? "").utf8)
    }

    /// Whether what a person stored for a server is meant: over https, which docker speaks
    /// where no scheme is said, and for all of it or this very address.
    func isMeant(by item: HelperItem) -> Bool {
        guard item.origin == .person, !item.isNegative, let place, place.scheme ?? "https" == "https" else {
            return false
        }
        guard item.itemClass == .internetPassword else {
            return [url, place.server.text].contains { item.service.hasSameBytes(as: $0) }
        }
        return (!item.hasProtocol || item.scheme == "https") && (item.path.isEmpty || isPath(of: item))
            && ServerPlace.isSamePort(item.port, place.server.port, scheme: "https")
    }
}
