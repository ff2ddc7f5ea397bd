internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyCommand
internal import Synchronization

/// The values of some items at a time, read by several threads: as many as fit
/// into memory whatever their size.
final class ValueWindow: Sendable {
    typealias Item = (kind: PasswordKind, attributes: AttributeMap)
    /// nil: the item is gone. nil inside: it has no data.
    typealias Outcome = Result<SharedSecret??, KeychainError>

    static let itemCount = 32

    private let items: [Item]
    private let outcomes: Mutex<[Outcome]>

    private init(_ items: [Item]) {
        self.items = items
        outcomes = Mutex([Outcome](repeating: .success(nil), count: items.count))
    }

    /// In the order of the items.
    static func read(_ items: [Item], _ shelves: [ItemShelf]) -> [Outcome] {
        let window = ValueWindow(items)
        Crew.run(shelves.count, over: items.count) { step, worker in window.read(step, shelves[worker]) }
        return window.outcomes.withLock { $0 }
    }

    private func read(_ step: Int, _ shelf: ItemShelf) {
        let item = items[step]
        let outcome: Outcome
        do throws(KeychainError) {
            outcome = .success(try shelf.value(item.kind, item.attributes))
        } catch {
            outcome = .failure(error)
        }
        outcomes.withLock { $0[step] = outcome }
    }
}
