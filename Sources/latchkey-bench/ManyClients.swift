import Foundation
import KeychainPlatform

/// Several programs that call at once, each a process with a connection of its own.
struct ManyClients {
    let data: String
    let items: Int

    /// What came of one run.
    struct Outcome {
        /// Calls in a second, all clients together.
        let rate: Double
        /// Microseconds on a processor for a call: clients, daemon and enclave.
        let processorTime: Double
    }

    /// Starts the clients, lets all go at the same moment, waits for the last.
    func run(_ call: ClientProcess.Call, clients: Int, callsOfEach: Int, _ daemon: DaemonUnderBench) throws -> Outcome {
        let all = try (0..<clients).map { number in
            try ClientProcess(call, count: callsOfEach, seed: number * 1_000_003, items: items, data: data)
        }
        try all.forEach { try $0.waitUntilReady() }
        let before = daemon.processorTime
        let start = SystemClock().monotonic
        all.forEach { $0.go() }
        let used = try all.map { try $0.processorTime() }.reduce(0, +)
        let seconds = (SystemClock().monotonic - start).seconds
        let calls = Double(clients * callsOfEach)
        return Outcome(rate: calls / seconds, processorTime: (used + daemon.processorTime - before) / calls * 1e6)
    }
}
