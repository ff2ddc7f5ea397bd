internal import Synchronization

/// How far a search came: one that told items before it met the first that a person
/// has to agree to goes on behind them once somebody has. Of one call.
package final class SearchProgress: Sendable {
    /// Behind which row, and what was counted up to it.
    struct Point: Sendable {
        let rowid: Int64
        let matched: Int
        let found: Int
    }

    private let state = Mutex<Point?>(nil)

    package init() {}

    /// Whether something was told that must not be told again.
    package var hasBegun: Bool { state.withLock { $0 != nil } }
    var point: Point? { state.withLock { $0 } }
    func reach(_ point: Point) { state.withLock { $0 = point } }
}
