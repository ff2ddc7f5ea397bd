@_implementationOnly import CLatchkeySession
package import KeychainPlatform

/// What one thread waits for: connections of buses, and descriptors beside them.
@safe package final class BusLoop {
    private var connections: [SessionBus] = []
    private var watches: [(descriptor: Descriptor, body: () -> Void)] = []
    private var isEnded = false

    package init() {}

    /// Serves a connection from now on. It is let go once its other side ends it.
    package func add(_ bus: SessionBus) { connections.append(bus) }

    /// Runs `body` in the loop's thread whenever the descriptor is readable.
    package func watch(_ descriptor: Descriptor, _ body: @escaping () -> Void) {
        watches.append((descriptor, body))
    }

    package func endWatch(of descriptor: Descriptor) {
        watches.removeAll { $0.descriptor === descriptor }
    }

    /// Has ``run(until:)`` return.
    package func end() { isEnded = true }

    /// Serves until that connection ends, or nothing is left to wait for.
    ///
    /// - Parameter last: nil: whatever connections end.
    /// - Throws: what happens to `last`; another connection that fails is let go.
    package func run(until last: SessionBus?) throws(SessionBusFailure) {
        while !isEnded {
            guard try step(until: last) else { return }
            if connections.isEmpty, watches.isEmpty { return }
            try wait()
        }
    }

    /// Takes what has come on all connections; false once `last` has ended.
    private func step(until last: SessionBus?) throws(SessionBusFailure) -> Bool {
        for bus in connections {
            let isOpen: Bool
            do throws(SessionBusFailure) { isOpen = try bus.takeSome() } catch {
                guard bus !== last else { throw error }
                isOpen = false
            }
            if isOpen { continue }
            if bus === last { return false }
            connections.removeAll { $0 === bus }
            bus.tellThatItEnded()
        }
        return true
    }

    private func wait() throws(SessionBusFailure) {
        var ready = [UInt8](repeating: 0, count: watches.count)
        let buses = unsafe connections.map { unsafe Optional($0.raw) }
        let descriptors = watches.map(\.descriptor.raw)
        let next = connections.compactMap(\.callers.nextEnd).min()?.microseconds ?? .max
        let result = unsafe lk_session_wait(buses, buses.count, descriptors, descriptors.count, next, &ready)
        guard result >= 0 else { throw SessionBusFailure("poll", result) }
        // A body may end watches, also its own.
        let due = zip(watches, ready).filter { $0.1 != 0 }.map(\.0)
        for watch in due where watches.contains(where: { $0.descriptor === watch.descriptor }) { watch.body() }
    }
}
