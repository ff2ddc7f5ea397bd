package import KeychainPlatform

/// The terminal that a process has, as a device that may be asked on.
package struct CallerTerminal: Sendable {
    package let path: String
    /// Held open, so that its number is not given to another terminal meanwhile.
    package let device: TerminalDevice

    /// - Parameter number: of `/proc/PID/stat`.
    init(number: UInt64, in places: PromptPlaces) throws(NobodyToAsk) {
        guard let name = Self.name(of: number) else {
            throw NobodyToAsk("its terminal is of a kind that is not asked on")
        }
        let path = "\(places.terminals)/\(name)"
        do throws(SystemCallError) { device = try TerminalDevice(FilePath(path)) } catch {
            throw NobodyToAsk("its terminal \(path) cannot be used (\(error))")
        }
        // What lies at the path must be that terminal, and ours to type at.
        guard device.status.isCharacterDevice, device.status.deviceNumber == number,
            device.status.userID == ProcessEnvironment.effectiveUserID
        else { throw NobodyToAsk("\(path) is not its terminal, or is another user's") }
        self.path = path
    }

    /// Documentation/admin-guide/devices.txt of Linux: 136 pseudo-terminals, 4 the
    /// machine's own (1 to 63 virtual consoles, from 64 serial lines).
    static func name(of number: UInt64) -> String? {
        // gnu_dev_major and gnu_dev_minor of glibc, for what fits 32 bits.
        let (major, minor) = (number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xfff00)
        switch major {
        case 136: return "pts/\(minor)"
        case 4 where (1...63).contains(minor): return "tty\(minor)"
        case 4 where (64...255).contains(minor): return "ttyS\(minor - 64)"
        default: return nil
        }
    }
}
