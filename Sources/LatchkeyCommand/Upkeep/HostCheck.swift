internal import KeychainPlatform
internal import KeychainProtocol

/// What the kernel shows below /proc and /sys; tests have a folder of fixtures.
struct HostFiles: Sendable {
    /// Before each path; empty: the machine itself.
    let root: String

    /// nil where the file is not there or cannot be read, or is a pipe, say, that has nobody
    /// at its other end.
    func text(_ path: String) -> String? {
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: FilePath(root + path), .reading)
            guard try FileStatus(of: file).isRegularFile else { return nil }
            return String(decoding: try readAll(file, atMost: 1 << 20), as: UTF8.self)
        } catch {
            return nil
        }
    }

    /// Its first line.
    func line(_ path: String) -> String? {
        text(path)?.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
    }

    func has(_ path: String) -> Bool {
        do throws(SystemCallError) {
            return try FileLink.look(at: FilePath(root + path)) != .nothing
        } catch { return false }
    }

    func names(_ path: String) -> [String] { FolderContent.names(at: root + path) }
}

/// What of this machine undermines what the programs do to themselves.
struct HostCheck: Sendable {
    let files: HostFiles

    func findings(daemon: Int32) -> [MachineFinding] {
        swap() + [corePattern(), tracing(), lockdown(), memoryLimit(of: daemon)].compactMap { $0 }
    }

    // MARK: Swap

    /// Areas that are neither on an encrypted device nor in memory (proc(5), swaps).
    private func swap() -> [MachineFinding] {
        let areas = files.text("/proc/swaps")?.split(separator: "\n").dropFirst() ?? []
        return areas.compactMap { line in
            let fields = line.split(separator: " ").flatMap { $0.split(separator: "\t") }
            guard fields.count > 1 else { return nil }
            let (name, isFile) = (MountTable.unescaped(fields[0]), fields[1] == "file")
            guard !(isFile ? isEncrypted(device: device(of: name)) : isEncrypted(block: name)) else { return nil }
            return MachineFinding(
                what:
                    "the swap \(name) is not encrypted: names and attributes, values above 64 KiB and other programs' memory can be read from the disk later; keys are never swapped",
                command: "sudo swapoff '\(name)'   # then one with a key of its own at each start: crypttab(5), swap",
                mend: .byHand)
        }
    }

    /// MAJOR:MINOR of the file system that holds a swap file.
    private func device(of path: String) -> String? {
        files.text("/proc/self/mountinfo").flatMap { MountTable.device(of: path, in: $0) }
    }

    private func isEncrypted(device: String?) -> Bool {
        device.map { isEncrypted(folder: "/sys/dev/block/\($0)") } ?? false
    }

    private func isEncrypted(block path: String) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasPrefix("zram") {
            // Compressed memory; with a device behind it, what that is.
            let behind = files.line("/sys/class/block/\(name)/backing_dev") ?? "none"
            return behind == "none" || isEncrypted(block: behind)
        }
        return isEncrypted(folder: "/sys/class/block/\(name)")
    }

    /// A device of dm-crypt's, or one that lies on such devices alone (LVM on LUKS).
    private func isEncrypted(folder: String, depth: Int = 0) -> Bool {
        if files.line("\(folder)/dm/uuid")?.hasPrefix("CRYPT-") == true { return true }
        let below = files.names("\(folder)/slaves")
        guard !below.isEmpty, depth < 8 else { return false }
        return below.allSatisfy { isEncrypted(folder: "/sys/class/block/\($0)", depth: depth + 1) }
    }

    // MARK: The kernel

    private func corePattern() -> MachineFinding? {
        guard let pattern = files.line("/proc/sys/kernel/core_pattern"), pattern.hasPrefix("|") else { return nil }
        let program = pattern.dropFirst().split(separator: " ").first ?? ""
        return MachineFinding(
            what:
                "a program that crashes hands its memory, with the secrets that it was given, to \(program); latchkeyd and latchkey-enclave hand over nothing",
            command: "sudo sysctl kernel.core_pattern=core   # or Storage=none in coredump.conf(5)", mend: .byHand)
    }

    private func tracing() -> MachineFinding? {
        let scope = files.line("/proc/sys/kernel/yama/ptrace_scope")
        guard scope.flatMap({ Int($0) }) ?? 0 == 0 else { return nil }
        return MachineFinding(
            what:
                "any program of yours can read the memory of those that use the keychain (ptrace); latchkeyd and latchkey-enclave are closed",
            command: scope == nil
                ? "cat /sys/kernel/security/lsm   # yama is not in it: add it to lsm= of the kernel's command line"
                : "sudo sysctl kernel.yama.ptrace_scope=1", mend: .byHand)
    }

    /// kernel_lockdown(7).
    private func lockdown() -> MachineFinding? {
        guard files.line("/sys/kernel/security/lockdown")?.contains("[none]") == true else { return nil }
        return MachineFinding(
            what: "the kernel is not locked down: whoever becomes root can read all memory and change the kernel",
            command: "lockdown=confidentiality   # on the kernel's command line, with secure boot", mend: .byHand)
    }

    // MARK: Limits

    /// What the daemon may lock, with the slab and some large values.
    private static let enoughToLock = 4 << 20

    private func memoryLimit(of process: Int32) -> MachineFinding? {
        guard let limits = files.text("/proc/\(process)/limits"),
            let line = limits.split(separator: "\n").first(where: { $0.hasPrefix("Max locked memory") }),
            let soft = line.split(separator: " ").dropFirst(3).first.flatMap({ Int($0) }), soft < Self.enoughToLock
        else { return nil }
        return MachineFinding(
            what:
                "latchkeyd may lock \(soft / 1024) KiB of memory; with less than \(Self.enoughToLock / 1024) large values can reach the swap",
            command: "ulimit -l 8192   # or LimitMEMLOCK=8M in the unit; limits.conf(5), memlock", mend: .byHand)
    }
}
