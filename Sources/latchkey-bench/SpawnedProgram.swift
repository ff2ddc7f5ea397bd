import Foundation
import KeychainPlatform

/// A program started again and again, from the start to the end of its process.
struct SpawnedProgram {
    let arguments: [String]
    let environment: [String]

    init(_ arguments: [String], environment: [String] = ProcessEnvironment.variables) {
        self.arguments = arguments
        self.environment = environment
    }

    /// Runs it once with standard output on /dev/null.
    ///
    /// - Throws: where it does not end with status 0.
    func run() throws {
        var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in 0..<arguments.count { unsafe free(argv[index]) }
            for index in 0..<environment.count { unsafe free(envp[index]) }
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var process: pid_t = 0
        guard unsafe posix_spawn(&process, arguments[0], &actions, nil, &argv, &envp) == 0 else {
            throw BenchFailure("starting \(arguments[0])")
        }
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, 0) == process, status == 0 else {
            throw BenchFailure(arguments.joined(separator: " "))
        }
    }
}
