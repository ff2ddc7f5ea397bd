internal import Foundation
internal import KeychainPlatform

package enum Waiting {
    /// Whether something comes true; other processes tell nobody when they are ready.
    package static func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
        try comesTrue(asking: 20, condition)
    }

    /// As ``eventually(_:)``, of what takes a moment only: asked again each millisecond.
    package static func soon(_ condition: () throws -> Bool) rethrows -> Bool {
        try comesTrue(asking: 1, condition)
    }

    private static func comesTrue(asking milliseconds: Int32, _ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        while !deadline.hasPassed {
            if try condition() { return true }
            var nothing = pollfd()
            _ = unsafe poll(&nothing, 0, milliseconds)
        }
        return try condition()
    }

    /// Beside the test: what a person does while it asks.
    package static func meanwhile(_ body: @escaping @Sendable () -> Void) { TestThread.start(body) }
}

extension ManualClock {
    /// Moves on once something waits and `condition` holds.
    package func advanceLater(by duration: Duration, once condition: @escaping @Sendable () -> Bool = { true }) {
        Waiting.meanwhile {
            _ = Waiting.eventually { self.waiterCount > 0 && condition() }
            self.advance(by: duration)
        }
    }
}
