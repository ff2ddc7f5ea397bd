internal import KeychainPlatform
internal import KeychainProtocol
internal import SystemBus

/// `latchkey-bus` on a bus of a test's own, whose fprintd and logind run as the test's
/// user: the same program but for these two. PROBE_BUS is the path of the bus's socket,
/// behind `as:UID:` where another user is to be trusted; where an enclave of its own starts
/// it, which gives it no variable, the file `bus` beside the program has the same.
@main
struct BusProbe {
    static func main() throws {
        let words = try ProcessEnvironment.variable("PROBE_BUS") ?? placeBeside()
        var (path, trusted) = (words[...], ProcessEnvironment.effectiveUserID)
        if words.hasPrefix("as:") {
            let parts = words.split(separator: ":", maxSplits: 2)
            (path, trusted) = (parts[2], UInt32(parts[1]) ?? .max)
        }
        try Hardening.apply()
        Hardening.ignoreBrokenPipes()
        let bus = Result { () throws(BusFailure) in try BusConnection.connect(to: String(path)) }
        _ = Confinement.ofBus.enter(.all)
        try BusHands.serve(bus, trusting: trusted)
    }

    private static func placeBeside() throws -> String {
        let path = "\(ProcessEnvironment.executableDirectory ?? ".")/bus"
        guard case .file(let content) = try NamedSource.read(path, atMost: 4096) else { return "" }
        return String(decoding: content.insecureArray(), as: UTF8.self)
    }
}
