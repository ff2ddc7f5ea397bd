internal import Foundation

/// A thread of its own for what blocks, so that the pool of Swift's tasks stays free.
package enum TestThread {
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 1 << 20
        thread.start()
    }
}
