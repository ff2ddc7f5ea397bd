import Foundation

/// Everything that can be read of a process's memory: heap, stacks, slabs, libraries.
struct ProcessMemory {
    private typealias Find = @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?

    /// Why it cannot be read here, or nil.
    static let obstacle: String? = geteuid() == 0 ? nil : "only root reads a process that forbids it (PR_SET_DUMPABLE)"

    struct Unreadable: Error, CustomStringConvertible { let description: String }

    let process: Int32

    private struct Region {
        let start: UInt64
        let count: Int
        let name: String
    }

    /// Where each of these was found, by its name; nothing for what is not there.
    func places(of needles: [String: [UInt8]]) throws -> (places: [String: [String]], byteCount: Int) {
        let file = unsafe open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Unreadable(description: "/proc/\(process)/mem: errno \(errno)") }
        defer { close(file) }
        let find = try unsafe Self.finder()
        var places: [String: [String]] = [:]
        var byteCount = 0
        for region in try regions() {
            let bytes = Self.content(of: region, from: file)
            byteCount += bytes.count
            for (name, needle) in needles {
                for offset in unsafe Self.offsets(of: needle, in: bytes, find) {
                    let address = String(region.start + UInt64(offset), radix: 16)
                    places[name, default: []].append("\(region.name) \(address)")
                }
            }
        }
        return (places, byteCount)
    }

    private func regions() throws -> [Region] {
        let maps = try map()
        return maps.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // The kernel's own pages are not read this way.
            guard ends.count == 2, words[1].hasPrefix("r"), !line.hasSuffix("[vvar]"), !line.hasSuffix("[vsyscall]")
            else { return nil }
            return Region(
                start: ends[0], count: Int(ends[1] - ends[0]),
                name: words.count > 5 ? words[5].trimmingCharacters(in: .whitespaces) : "anonymous")
        }
    }

    /// The kernel gives a page at a time; Foundation takes the first for all there is.
    private func map() throws -> String {
        let file = unsafe open("/proc/\(process)/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Unreadable(description: "/proc/\(process)/maps: errno \(errno)") }
        defer { close(file) }
        var all: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(file, &page, page.count)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += page[..<count]
        }
    }

    /// Up to the first byte that is not there.
    private static func content(of region: Region, from file: Int32) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: region.count) { buffer, filled in
            while filled < region.count {
                let count = unsafe pread(
                    file, buffer.baseAddress! + filled, region.count - filled, off_t(region.start) + off_t(filled))
                guard count > 0 else { return }
                filled += count
            }
        }
    }

    private static func offsets(of needle: [UInt8], in bytes: [UInt8], _ find: Find) -> [Int] {
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress else { return [] }
            var offsets: [Int] = []
            var at = 0
            while at < all.count, let found = unsafe find(base + at, all.count - at, needle, needle.count) {
                let offset = unsafe found - base
                offsets.append(offset)
                at = offset + 1
            }
            return offsets
        }
    }

    /// memmem(3) is hidden behind a feature macro that Swift's Glibc module does not set.
    private static func finder() throws -> Find {
        guard let symbol = unsafe dlsym(nil, "memmem") else { throw Unreadable(description: "no memmem(3)") }
        return unsafe unsafeBitCast(symbol, to: Find.self)
    }
}
