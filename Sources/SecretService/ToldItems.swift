internal import KeychainModel
internal import MessageBus

/// Items whose properties clients have read, and keep: they are told of a lock, of what they
/// could not read while there was one, and of what others change. So that costs what was read,
/// not what there is.
struct ToldItems {
    private struct Told {
        /// Whether it was closed when it was told.
        var isClosed: Bool
        /// When it had been changed last (seconds since 2001-01-01T00:00:00Z); nil: not known, or
        /// this service has changed it since, and has told that.
        var modified: Double?
    }

    private var items: [ObjectPath: Told] = [:]

    /// More than that nobody is told of; the others show once they are read anew.
    private static let most = 1024

    mutating func note(_ item: SecretItem) {
        let path = item.path
        if items.count >= Self.most, items[path] == nil, let any = items.keys.first { items[any] = nil }
        items[path] = Told(isClosed: item.isClosed, modified: item.isClosed ? nil : item.exactlyModified)
    }

    func has(_ item: ObjectPath) -> Bool { items[item] != nil }

    mutating func forget(_ item: ObjectPath) { items[item] = nil }

    /// This service has changed it, and has told so; how it is now it could not read.
    mutating func toldChange(of item: ObjectPath) { items[item]?.modified = nil }

    /// Those below a collection.
    func paths(below collection: ObjectPath) -> [ObjectPath] {
        items.keys.filter { $0.elements(below: collection) != nil }
    }

    /// Whether it is another than it was when it was told; from now on it was told as it is.
    @discardableResult
    mutating func renew(_ item: SecretItem) -> Bool {
        guard let told = items[item.path], !item.isClosed else { return false }
        items[item.path]?.modified = item.exactlyModified
        return told.modified.map { $0 != item.exactlyModified } ?? false
    }

    /// Those that were told as open, which are closed now, and the other way round.
    mutating func turn(toClosed closed: Bool) -> [ObjectPath] {
        let turned = items.filter { $0.value.isClosed != closed }.map(\.key)
        for item in turned { items[item]?.isClosed = closed }
        return turned
    }

    /// It could not be told that it turned.
    mutating func turnBack(_ item: ObjectPath, toClosed closed: Bool) { items[item]?.isClosed = closed }
}
