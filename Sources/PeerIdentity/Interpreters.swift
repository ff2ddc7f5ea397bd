internal import KeychainPlatform

/// Executables that do what somebody else's file or arguments say. To know that
/// one of them is calling is to know nothing about the program.
enum Interpreters {
    static func contains(_ path: FilePath) -> Bool {
        let name = Array(path.name)
        return stems.contains { stem in
            guard name.starts(with: stem) else { return false }
            return name.count == stem.count || isVersionByte(name[stem.count])
        }
    }

    /// What may follow the stem in `python3.11`, `perl5.36`, `ld-linux.so.2`, `qemu-arm`.
    private static func isVersionByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }

    private static let stems: [[UInt8]] = (shells + languages + machines + launchers + inspectors).map {
        Array($0.utf8)
    }

    private static let shells = [
        "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "lksh", "posh", "yash", "csh", "tcsh",
        "fish", "elvish", "nu", "pwsh", "busybox", "toybox", "sash", "screen", "tmux", "expect",
    ]

    private static let languages = [
        "python", "pypy", "perl", "ruby", "jruby", "node", "nodejs", "deno", "bun", "java", "javaw", "lua", "luajit",
        "luatex", "php", "php-fpm", "tclsh", "wish", "guile", "racket", "sbcl", "clisp", "ecl", "gjs", "qjs", "mono",
        "dotnet", "electron", "beam.smp", "erl", "escript", "raku", "moar", "R", "Rscript", "julia", "octave", "ocaml",
        "ocamlrun", "runghc", "ghc", "swift", "swift-frontend", "groovy", "scala", "awk", "gawk", "mawk", "nawk",
        "original-awk", "emacs", "vim", "nvim", "gst",
    ]

    private static let machines = [
        "qemu", "box64", "box86", "FEXInterpreter", "wine", "wine64", "wineserver", "ld", "ld64", "ld.so",
        "proot", "bwrap", "runc", "crun", "fakeroot", "faked",
    ]

    private static let launchers = [
        "env", "nice", "ionice", "nohup", "timeout", "setsid", "stdbuf", "xargs", "find", "flock", "time", "chroot",
        "chrt", "taskset", "prlimit", "setarch", "linux32", "linux64", "setpriv", "unshare", "nsenter", "sudo", "doas",
        "su", "runuser", "pkexec", "start-stop-daemon", "systemd-run", "run-parts", "script", "watch", "parallel",
        "make", "gmake", "ninja", "socat", "nc", "ncat",
    ]

    private static let inspectors = [
        "gdb", "gdbserver", "lldb", "lldb-server", "strace", "ltrace", "valgrind", "rr", "perf",
    ]
}
