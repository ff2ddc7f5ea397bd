internal import KeychainModel
internal import MessageBus

/// Items whose properties clients have read, and keep: they are told of a lock, and of what
/// they could not read while there was one. So that costs what was read, not what there is.
struct ToldItems {
    /// Whether it was closed when it was told.
    private var isClosed: [ObjectPath: Bool] = [:]

    /// More than that nobody is told of; the others show once they are read anew.
    private static let most = 1024

    mutating func note(_ item: ObjectPath, isClosed closed: Bool) {
        if isClosed.count >= Self.most, isClosed[item] == nil, let any = isClosed.keys.first { isClosed[any] = nil }
        isClosed[item] = closed
    }

    mutating func forget(_ item: ObjectPath) { isClosed[item] = nil }

    /// Those that were told as open, which are closed now, and the other way round.
    mutating func turn(toClosed closed: Bool) -> [ObjectPath] {
        let turned = isClosed.filter { $0.value != closed }.map(\.key)
        for item in turned { isClosed[item] = closed }
        return turned
    }
}
