@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// How much memory this process may still take, as far as the kernel says.
///
/// What it reads is opened when it is made: an enclave opens no file outside its own
/// folder later.
package struct AvailableMemory: Sendable {
    /// proc(5), meminfo.
    private let machine: Descriptor?
    /// The memory controller's limit of our own control group, and what is taken of it.
    private let limit: Descriptor?
    private let taken: Descriptor?

    package init() {
        machine = Self.open("/proc/meminfo")
        let own = Self.open("/proc/self/cgroup").flatMap(Self.text)?.split(separator: "\n")
            .first { $0.hasPrefix("0::/") }
        let folder = own.map { "/sys/fs/cgroup" + $0.dropFirst(3) }
        limit = folder.flatMap { Self.open($0 + "/memory.max") }
        taken = folder.flatMap { Self.open($0 + "/memory.current") }
    }

    /// False only where the kernel says that there is less: taking it all the same would
    /// end some process, ours maybe, without a word.
    package func allows(kibibytes: Int) -> Bool {
        [ofMachine, ofControlGroup].compactMap { $0 }.allSatisfy { $0 >= kibibytes }
    }

    private var ofMachine: Int? {
        machine.flatMap(Self.text)?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
            .flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
    }

    private var ofControlGroup: Int? {
        guard let most = Self.number(limit), let now = Self.number(taken) else { return nil }
        return max(0, most - now) / 1024
    }

    private static func number(_ file: Descriptor?) -> Int? {
        file.flatMap(text).flatMap { Int($0.prefix { $0 != "\n" }) }
    }

    private static func open(_ path: String) -> Descriptor? {
        let raw = unsafe lk_open(path, O_RDONLY, 0)
        return raw < 0 ? nil : Descriptor(owning: raw)
    }

    /// From its beginning, which the kernel writes anew then.
    private static func text(_ file: Descriptor) -> String? {
        guard lseek(file.raw, 0, SEEK_SET) == 0 else { return nil }
        do throws(SystemCallError) {
            return String(validating: try readAll(file, atMost: 65_536), as: UTF8.self)
        } catch {
            return nil
        }
    }
}
