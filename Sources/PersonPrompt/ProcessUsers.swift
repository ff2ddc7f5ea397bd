/// The real and effective user of a process (`/proc/PID/status`, line "Uid:").
package enum ProcessUsers {
    package static func parse(_ text: [UInt8]) -> (real: UInt32, effective: UInt32)? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Uid:\t".utf8) {
            let numbers = line.dropFirst(5).split(separator: UInt8(ascii: "\t")).map {
                UInt32(String(decoding: $0, as: UTF8.self))
            }
            guard numbers.count == 4, let real = numbers[0], let effective = numbers[1] else { return nil }
            return (real, effective)
        }
        return nil
    }
}
