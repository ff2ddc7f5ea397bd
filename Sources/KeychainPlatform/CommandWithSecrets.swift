@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A command that this process becomes, with secrets in its environment or in files
/// without a name.
package struct CommandWithSecrets {
    /// How a secret reaches the command.
    package enum Way: Sendable, Hashable {
        /// As the variable itself.
        case variable
        /// In a sealed memfd; the variable has the descriptor's number.
        case descriptor
        /// In a sealed memfd; the variable has a path that opens it.
        case file
    }

    package struct Binding: Sendable {
        package let name: String
        package let way: Way
        package let secret: SharedSecret

        package init(name: String, way: Way, secret: SharedSecret) {
            (self.name, self.way, self.secret) = (name, way, secret)
        }
    }

    private let bindings: [Binding]

    package init(_ bindings: [Binding]) { self.bindings = bindings }

    /// Becomes the command, which is looked for in PATH (execvpe(3)): same process, no
    /// other in between, so that its status and its signals are its own. Returns only
    /// where that fails.
    ///
    /// - Precondition: no variable's secret has a byte 0.
    package func become(_ arguments: [String]) throws(SystemCallError) -> Never {
        var files: [Descriptor] = []
        var entries: [SharedSecret] = []
        for binding in bindings {
            switch binding.way {
            case .variable: entries.append(Self.entry(binding.name, binding.secret.bytes))
            case .descriptor, .file:
                let file = try Self.file(binding.secret.bytes)
                files.append(file)
                let place = binding.way == .file ? "/proc/\(Self.ownNumber)/fd/\(file.raw)" : "\(file.raw)"
                entries.append(Self.entry(binding.name, SecretBytes(copying: Array(place.utf8))))
            }
        }
        // Whatever is mapped for secrets is gone with this program.
        let whole = try SecretBytes.joined(entries)
        var starts: [Int] = []
        var at = 0
        for entry in entries {
            starts.append(at)
            at += entry.bytes.count
        }
        throw Self.replace(arguments, whole, starts, files)
    }

    /// Our number, which becomes the command's: what it starts without the descriptor (Python's
    /// subprocess closes what it may) opens the file as well. As /proc counts, which may be of
    /// an outer namespace.
    private static var ownNumber: String {
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe readlink("/proc/self", &text, text.count - 1)
        return count > 0 ? String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : "self"
    }

    /// NAME=value, and the byte 0 that ends it.
    private static func entry(_ name: String, _ value: borrowing SecretBytes) -> SharedSecret {
        precondition(value.count(of: 0, in: 0..<value.count) == 0, "a variable has no byte 0")
        var writer = SecretWriter(byteCount: name.utf8.count + value.count + 2)
        writer.append("\(name)=")
        writer.append(value)
        writer.append(0)
        return SharedSecret(writer.finish())
    }

    /// Read from its beginning, by whoever gets the number.
    private static func file(_ secret: borrowing SecretBytes) throws(SystemCallError) -> Descriptor {
        let file = try unsafe secret.withUnsafeBytes { bytes throws(SystemCallError) in
            try unsafe SealedMemory.make(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        // As a file of secrets has to be for ssh, psql, msmtp and others; a memfd is made 0777, or 0666 where
        // it may not be run.
        guard fchmod(file.raw, 0o600) == 0 else { throw SystemCallError("fchmod", errno: errno) }
        guard lseek(file.raw, 0, SEEK_SET) == 0 else { throw SystemCallError("lseek", errno: errno) }
        _ = try checked("fcntl F_SETFD", lk_keep_on_exec(file.raw))
        return file
    }

    private static func replace(
        _ arguments: [String], _ entries: borrowing SecretBytes, _ starts: [Int], _ files: [Descriptor]
    ) -> SystemCallError {
        let result = withExtendedLifetime(files) {
            unsafe withCStrings(arguments) { argv in
                unsafe entries.withUnsafeBytes { bytes in
                    var pointers: [UnsafePointer<CChar>?] = unsafe starts.map {
                        unsafe bytes.baseAddress!.advanced(by: $0).assumingMemoryBound(to: CChar.self)
                    }
                    unsafe pointers.append(nil)
                    return unsafe lk_become(argv, &pointers)
                }
            }
        }
        return SystemCallError("start", errno: -result)
    }
}
