package import Logging
internal import FoundationEssentials
package import KeychainPlatform
internal import Synchronization

/// Writes log lines to a file in the data directory (0600), or to standard
/// error; a file that has grown to 1 MiB is replaced.
///
/// Lines are `time level message key=value …`. What goes in is names of
/// processes, statuses and reasons; no value, no query, no attribute.
package struct DaemonLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level = .info
    private let sink: LogSink

    package init(_ sink: LogSink) { self.sink = sink }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let tail = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        sink.write("\(Date.now.formatted(.iso8601)) \(event.level) \(event.message)\(tail)\n")
    }
}

/// Where lines go.
package final class LogSink: Sendable {
    private static let largest = 1 << 20
    static let fileName = "latchkeyd.log"

    private struct State {
        var file: Descriptor?
        var written = 0
    }

    private let directory: PrivateDirectory?
    private let state: Mutex<State>

    /// Standard error.
    package init() {
        directory = nil
        state = Mutex(State())
    }

    package init(in directory: PrivateDirectory) {
        self.directory = directory
        state = Mutex(State())
    }

    func write(_ line: String) {
        let bytes = Array(line.utf8)
        state.withLock { state in
            do throws(SystemCallError) {
                guard let directory else { return StandardError.write(line) }
                if state.file == nil || state.written > Self.largest {
                    if state.written > Self.largest { try directory.remove(Self.fileName) }
                    let file = try directory.openFile(Self.fileName, creating: true)
                    state.written = try seekToEnd(file)
                    state.file = file
                }
                if let file = state.file { try writeAll(file, bytes) }
                state.written += bytes.count
            } catch {
                // A log that cannot be written must not stop the keychain.
                state.file = nil
            }
        }
    }
}
