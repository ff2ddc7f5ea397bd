@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// How much memory this process may still take, as far as the kernel says.
package enum AvailableMemory {
    /// False only where the kernel says that there is less (proc(5), MemAvailable;
    /// the memory controller's limit of our own control group): taking it all the
    /// same would end some process, ours maybe, without a word.
    package static func allows(kibibytes: Int) -> Bool {
        let limits = [machine(), controlGroup()].compactMap { $0 }
        return limits.allSatisfy { $0 >= kibibytes }
    }

    private static func machine() -> Int? {
        text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
            .flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
    }

    private static func controlGroup() -> Int? {
        guard let line = text("/proc/self/cgroup")?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        let folder = "/sys/fs/cgroup" + line.dropFirst(3)
        func number(_ name: String) -> Int? { text("\(folder)/\(name)").flatMap { Int($0.prefix { $0 != "\n" }) } }
        guard let most = number("memory.max"), let taken = number("memory.current") else { return nil }
        return max(0, most - taken) / 1024
    }

    private static func text(_ path: String) -> String? {
        let raw = unsafe lk_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        do throws(SystemCallError) {
            return String(validating: try readAll(Descriptor(owning: raw), atMost: 65_536), as: UTF8.self)
        } catch {
            return nil
        }
    }
}
