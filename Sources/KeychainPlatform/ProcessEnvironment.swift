@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What this process was given by whoever started it.
package enum ProcessEnvironment {
    /// Whether the kernel started this program with more rights than its
    /// starter's (getauxval(3), AT_SECURE): nothing from outside is to be believed.
    package static var isSecureExecution: Bool { lk_at_secure() != 0 }

    /// A variable, ignored under AT_SECURE.
    package static func variable(_ name: String) -> String? {
        // Lent as it is: an argument that Swift converts goes through an array, whose type is
        // looked up by its name when a program starts.
        guard !isSecureExecution, let value = unsafe name.withCString({ unsafe getenv($0) }) else { return nil }
        return unsafe String(cString: value)
    }

    /// The user's home as the password database says, never `$HOME`.
    package static var passwdHome: String? { UserDatabase.machine[.userID(geteuid())]?.home }

    /// Every variable as NAME=value.
    package static var variables: [String] {
        var all: [String] = []
        guard var next = unsafe lk_environment() else { return [] }
        while let entry = unsafe next.pointee {
            unsafe all.append(String(cString: entry))
            unsafe next += 1
        }
        return all
    }

    /// The absolute path of a program in PATH; folders that depend on where we are
    /// do not count.
    package static func program(_ name: String) -> String? {
        for folder in (variable("PATH") ?? "").split(separator: ":") where folder.hasPrefix("/") {
            let path = "\(folder)/\(name)"
            if unsafe access(path, X_OK) == 0 { return path }
        }
        return nil
    }

    /// nil where it was removed.
    package static var currentDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        let folder = unsafe String(cString: path)
        return folder.hasPrefix("/") ? folder : nil
    }

    /// Whether KeychainTesting is part of this program.
    package static var isTestingLinked: Bool { lk_testing_is_linked() != 0 }

    package static var effectiveUserID: UInt32 { geteuid() }
    package static var processID: Int32 { getpid() }
    package static var parentProcessID: Int32 { getppid() }

    /// The folder of this executable as the kernel knows it.
    package static var executableDirectory: String? {
        executablePath.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
    }

    /// This executable as the kernel knows it.
    package static var executablePath: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Ends this process.
    package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }

    /// Puts /dev/null in a descriptor's place, so that nobody reads what it was again.
    package static func empty(_ descriptor: Int32) throws(SystemCallError) {
        _ = try checked("dup2", lk_empty_descriptor(descriptor))
    }

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }
}

/// What a process of ours does to itself before it holds a secret.
package enum Hardening {
    /// No core dump and no backtrace, no new privileges, and nobody of the same user may attach
    /// or read our memory (prctl(2) PR_SET_DUMPABLE). Files that we make are ours
    /// alone, whoever started us (umask(2)). The slab of secrets is hidden, where the
    /// features allow it and the kernel has it.
    package static func apply(_ features: ConfinementFeatures = .all) throws(SystemCallError) {
        _ = try checked("setrlimit RLIMIT_CORE", lk_no_core_dumps())
        _ = try checked("prctl PR_SET_NO_NEW_PRIVS", lk_no_new_privileges())
        _ = try checked("prctl PR_SET_DUMPABLE", lk_not_dumpable())
        lk_keep_files_private()
        if features.hasHiddenMemory { SecretArena.hide() }
    }

    /// As many open descriptors as the hard limit allows: a connection takes three.
    package static func raiseDescriptorLimit() { lk_raise_descriptor_limit() }

    /// How many descriptors this process may have open; nil where the kernel does not say.
    package static var descriptorLimit: Int64? {
        let limit = lk_descriptor_limit()
        return limit < 0 ? nil : limit
    }

    /// A crash ends the process and leaves nothing behind: no core dump, and none of the
    /// Swift runtime's backtraces, which show memory and for which it starts a program.
    package static func forbidCoreDumps() { _ = lk_no_core_dumps() }
    package static func becomeNotDumpable() { _ = lk_not_dumpable() }
    package static var isDumpable: Bool { lk_is_dumpable() == 1 }
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
    /// A file beyond RLIMIT_FSIZE is then a write that fails (EFBIG), not the end
    /// of the process (setrlimit(2)).
    package static func ignoreFileSizeSignal() { _ = signal(SIGXFSZ, SIG_IGN) }
}

/// Starts one of our own programs as a daemon.
package enum DaemonStarter {
    /// Double fork, new session, cwd /, standard descriptors on /dev/null, all
    /// others closed but `keeping` (which the program finds as descriptor 3).
    package static func start(
        _ path: String, arguments: [String], environment: [String], keeping: Descriptor? = nil
    ) throws(SystemCallError) {
        var argv = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for unsafe pointer in unsafe argv { unsafe free(pointer) }
            for unsafe pointer in unsafe envp { unsafe free(pointer) }
        }
        let result = unsafe lk_spawn_daemon(path, &argv, &envp, keeping?.raw ?? -1)
        _ = try checked("start \(path)", result)
    }
}
