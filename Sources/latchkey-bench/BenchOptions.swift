/// What a run is asked for.
struct BenchOptions {
    var sizes = [1000, 100_000]
    var withPeers = false

    /// `--full`: also a million items. `--sizes 1000,10000`: these. `--peers`: the
    /// same work through gnome-keyring as well.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--full": sizes = [1000, 100_000, 1_000_000]
            case "--peers": withPeers = true
            case "--sizes":
                let given = (rest.popFirst() ?? "").split(separator: ",").compactMap { Int($0) }.filter { $0 >= 1000 }
                guard !given.isEmpty else { throw BenchFailure("--sizes (each at least 1000)") }
                sizes = given
            default: throw BenchFailure("the argument \(argument)")
            }
        }
    }
}
