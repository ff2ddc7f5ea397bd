internal import Glibc
internal import KeychainPlatform

/// What of this process's code is in its memory, as the kernel counts it (proc(5), smaps).
struct RunningCode {
    private let file: Descriptor

    init() throws {
        let raw = unsafe open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw SystemCallError("open", errno: errno) }
        file = Descriptor(owning: raw)
    }

    /// Of the mappings that are executable.
    func residentKibibytes() throws -> Int {
        guard lseek(file.raw, 0, SEEK_SET) == 0 else { throw SystemCallError("lseek", errno: errno) }
        var isCode = false
        var sum = 0
        for line in String(decoding: try readAll(file, atMost: 4 << 20), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count > 1, words[1].count == 4, words[0].contains("-") {
                isCode = words[1].hasPrefix("r-x")
            } else if isCode, words.count == 3, words[0] == "Rss:" {
                sum += Int(words[1]) ?? 0
            }
        }
        return sum
    }
}
