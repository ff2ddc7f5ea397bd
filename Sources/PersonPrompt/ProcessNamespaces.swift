/// In how many process namespaces a process has a number, of those that whoever reads it sees
/// (`/proc/PID/status`, line "NSpid:", pid_namespaces(7)): one more for each container that
/// it is in and the reader is not.
package enum ProcessNamespaces {
    package static func depth(_ text: [UInt8]) -> Int? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "NSpid:\t".utf8) {
            return line.dropFirst(7).split(separator: UInt8(ascii: "\t")).count
        }
        return nil
    }
}
