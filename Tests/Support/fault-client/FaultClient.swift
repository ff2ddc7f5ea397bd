import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization

/// A client process for FaultTests: one thread, so that it may fork.
///
///     fault-client fork DATA RUN         both sides of a fork use the keychain
///     fault-client descriptors DATA RUN  no descriptor is left, then a few, then all
///     fault-client read DATA RUN         reads everything, over and over
///     fault-client add DATA RUN          adds a large value, over and over
///     fault-client check DATA RUN        says how many of those are there, whole
///
///     fault-client agree DATA RUN        adds an item that a person has to agree to, and
///                                        reads it, as long as that fails for no other reason
///
///     fault-client abandon DATA RUN      has a person asked through a context (LAContext),
///                                        which it ends at SIGUSR1; then it waits
///
///     fault-client deputy DATA RUN       reads every program's items in a person's name
///
///     fault-client stopped DATA RUN      on a line of input: three calls that need a key,
///                                        with the reason and the milliseconds of each
///
///     fault-client foreign DATA RUN      its connection's number is another socket's by now
///
///     fault-client threads DATA RUN      three hundred threads, with two calls each
///
/// The daemon has to run. Says "ok", or what was wrong.
///
///     fault-client store NAME COUNT      what SecItem stores (``SecItemWriter``)
///     fault-client list GROUP all        what SecItem finds
///
/// These two have the user's keychain, and start what does not run.
@main
struct FaultClient {
    let configuration: ClientConfiguration
    let client: DaemonConnectionPool

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { exit(2) }
        switch arguments[1] {
        case "store": return SecItemWriter(name: arguments[2]).store(Int(arguments[3]) ?? 0)
        case "list": return SecItemWriter(name: "").list(arguments[2])
        default: break
        }
        let locations = KeychainLocations(dataDirectory: arguments[2], runDirectory: arguments[3])
        // Who goes on at the next daemon starts it.
        let configuration = ClientConfiguration(
            target: .store(locations, autostart: arguments[1] == "again"),
            programDirectories: [ProcessEnvironment.executableDirectory].compactMap { $0 })
        let program = FaultClient(configuration: configuration, client: DaemonConnectionPool(configuration))
        do throws(KeychainError) {
            _ = try program.client.perform(KeychainRequest(.status))
            // Not through a buffer: whoever started us waits for it.
            FileHandle.standardOutput.write(Data("begun\n".utf8))
            switch arguments[1] {
            case "fork": try program.fork()
            case "descriptors": try program.descriptors()
            case "read": while true { _ = try program.client.perform(Self.everything) }
            case "add": try program.addForEver()
            case "check": try program.check()
            case "stopped": try program.callStopped()
            case "agree", "again": try program.useWithPerson()
            case "abandon": try program.abandon()
            case "deputy": try program.readInPersonsName()
            case "foreign": try program.callBesideForeignSocket()
            case "threads": try program.callFromManyThreads()
            default: exit(2)
            }
            print("ok")
        } catch {
            print("wrong: \(error)")
            exit(1)
        }
    }

    private static func selection(_ account: String) -> [(String, RawValue)] {
        [("class", .string("genp")), ("svce", .string("client")), ("acct", .string(account))]
    }

    private static var everything: KeychainRequest {
        KeychainRequest(
            .copy,
            query: QueryDictionary([
                ("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)),
                ("r_Attributes", .bool(true)),
            ]))
    }

    private func useWithPerson() throws(KeychainError) {
        let constraint = AccessControl(protection: "ak", flags: .userPresence).map { RawValue.accessControl($0) }
        let item = Self.selection("agree") + [("accc", constraint ?? .null), ("v_Data", .secret)]
        _ = try client.perform(
            KeychainRequest(
                .add, query: QueryDictionary(item), value: SharedSecret(SecretBytes(copying: Array("agree".utf8)))))
        let query = Self.selection("agree") + [("r_Data", .bool(true)), ("u_OpPrompt", .string("to test the prompt"))]
        let rows = try client.perform(KeychainRequest(.copy, query: QueryDictionary(query))).rows
        guard rows.first?.value?.bytes.insecureArray() == Array("agree".utf8) else {
            throw KeychainError(.internal, reason: .internalFault(what: "another value"))
        }
        print("the value was told")
    }

    private func abandon() throws(KeychainError) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGUSR1)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let session = client.authenticationSession()
        Thread.detachNewThread {
            do throws(KeychainError) {
                try session.evaluate(AuthenticationDemand(.policy(.deviceOwner), reason: "to test the prompt"))
                print("agreed")
            } catch { FileHandle.standardOutput.write(Data("abandoned: \(error.reason)\n".utf8)) }
        }
        var signal: Int32 = 0
        _ = unsafe sigwait(&signals, &signal)
        session.end()
        while true { pause() }
    }

    private func add(_ account: String) throws(KeychainError) {
        let item = QueryDictionary(Self.selection(account) + [("v_Data", .secret)])
        _ = try client.perform(
            KeychainRequest(.add, query: item, value: SharedSecret(SecretBytes(copying: Array("CANARY".utf8)))))
    }

    /// As a program does that closes all it has when it becomes a service, and goes on.
    private func callBesideForeignSocket() throws(KeychainError) {
        func wrong(_ what: String) -> KeychainError { KeychainError(.internal, reason: .internalFault(what: what)) }
        for number in Int32(3)..<64 { close(number) }
        var pairs: [(Int32, Int32)] = []
        while pairs.count < 16 {
            var pair: (Int32, Int32) = (-1, -1)
            let made = unsafe withUnsafeMutableBytes(of: &pair) { raw in
                unsafe socketpair(
                    AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, raw.baseAddress!.assumingMemoryBound(to: Int32.self))
            }
            guard made == 0 else { throw wrong("no socket") }
            pairs.append(pair)
        }
        try add("beside a foreign socket")
        var buffer = [UInt8](repeating: 0, count: 4096)
        for number in pairs.flatMap({ [$0.0, $0.1] }) {
            guard unsafe recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT)) < 0, errno == EAGAIN else {
                throw wrong("something was written into the program's own socket, or it was closed")
            }
        }
        guard try client.perform(Self.everything).rows.count == 1 else { throw wrong("it is not stored") }
    }

    private func callFromManyThreads() throws(KeychainError) {
        let group = DispatchGroup()
        let failures = Mutex<[String]>([])
        for number in 0..<300 {
            group.enter()
            Thread.detachNewThread {
                do throws(KeychainError) {
                    try add("thread \(number)")
                    _ = try client.perform(KeychainRequest(.status))
                } catch { failures.withLock { $0.append("\(error)") } }
                group.leave()
            }
        }
        group.wait()
        let all = failures.withLock { $0 }
        guard all.isEmpty, try client.perform(Self.everything).rows.count == 300 else {
            throw KeychainError(.internal, reason: .internalFault(what: "\(all.count) failed, \(all.first ?? "")"))
        }
    }

    private func readInPersonsName() throws(KeychainError) {
        var request = Self.everything
        request.behalf = .person
        print("\(try client.perform(request).rows.count) items")
    }

    private func add(_ account: String, _ bytes: [UInt8]) throws(KeychainError) {
        _ = try client.perform(
            KeychainRequest(
                .add, query: QueryDictionary(Self.selection(account) + [("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: bytes))))
    }

    private func value(_ account: String) throws(KeychainError) -> [UInt8]? {
        let query = QueryDictionary(Self.selection(account) + [("r_Data", .bool(true))])
        return try client.perform(KeychainRequest(.copy, query: query)).rows.first?.value?.bytes.insecureArray()
    }

    private func expect(_ account: String) throws(KeychainError) {
        guard try value(account) == Array(account.utf8) else {
            throw KeychainError(.internal, reason: .internalFault(what: "\(account) is another"))
        }
    }

    // MARK: fork

    private typealias Fork = @convention(c) () -> Int32

    /// Sixteen calls on each side at the same time, then each reads what the other wrote.
    private func fork() throws(KeychainError) {
        try add("parent", Array("parent".utf8))
        try expect("parent")
        guard let symbol = unsafe dlsym(nil, "fork") else { exit(3) }
        let child = unsafe unsafeBitCast(symbol, to: Fork.self)()
        let side = child == 0 ? "child" : "father"
        for number in 0..<16 {
            try add("\(side) \(number)", Array("\(side) \(number)".utf8))
            try expect("\(side) \(number)")
            try expect("parent")
        }
        if child == 0 { _exit(0) }
        var status: Int32 = 0
        _ = unsafe waitpid(child, &status, 0)
        guard status == 0 else {
            throw KeychainError(.internal, reason: .internalFault(what: "the child ended with \(status)"))
        }
        for number in 0..<16 { try expect("child \(number)") }
    }

    // MARK: descriptors

    /// With none left, one, two ... until a call is served: every other call says
    /// that the daemon cannot be reached.
    private func descriptors() throws(KeychainError) {
        let client = DaemonConnectionPool(configuration)
        var held: [Int32] = []
        while true {
            let one = unsafe open("/dev/null", O_RDONLY)
            if one < 0 { break }
            held.append(one)
        }
        var refused = 0
        while true {
            do throws(KeychainError) {
                _ = try client.perform(KeychainRequest(.status))
                break
            } catch {
                guard error.reason == .daemonUnreachable, error.status == .notAvailable else { throw error }
                refused += 1
            }
            guard let last = held.popLast() else {
                throw KeychainError(.internal, reason: .internalFault(what: "never served"))
            }
            close(last)
        }
        guard refused > 0 else {
            throw KeychainError(.internal, reason: .internalFault(what: "served without a descriptor"))
        }
        try add("descriptors", Array("descriptors".utf8))
        try expect("descriptors")
    }

    // MARK: stopped

    /// An item of its own that is there before, then a new one, a change and a read.
    private func callStopped() throws(KeychainError) {
        let name = "\(ProcessEnvironment.processID)"
        try add("mine \(name)", Array("value".utf8))
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = readLine()
        report { () throws(KeychainError) in try add("new \(name)", Array("value".utf8)) }
        report { () throws(KeychainError) in
            _ = try client.perform(
                KeychainRequest(
                    .update, query: QueryDictionary(Self.selection("mine \(name)")),
                    changes: QueryDictionary([("v_Data", .secret)]),
                    value: SharedSecret(SecretBytes(copying: Array("changed".utf8)))))
        }
        report { () throws(KeychainError) in _ = try value("mine \(name)") }
    }

    private func report(_ call: () throws(KeychainError) -> Void) {
        let clock = SystemClock()
        let began = clock.monotonic
        var outcome = "done"
        do throws(KeychainError) { try call() } catch { outcome = "\(error.status.rawValue) \(error.reason)" }
        print("\(Int((clock.monotonic - began).seconds * 1000)) \(outcome)")
    }

    // MARK: add

    /// All or nothing of each large value.
    private func check() throws(KeychainError) {
        var whole = 0
        for row in try client.perform(Self.everything).rows {
            let bytes = row.value?.bytes.insecureArray() ?? []
            guard bytes.count == 2 << 20, Set(bytes).count == 1 else {
                throw KeychainError(.internal, reason: .internalFault(what: "a large value is half there"))
            }
            whole += 1
        }
        print("\(whole) large values")
    }

    private func addForEver() throws(KeychainError) {
        let name = "\(ProcessEnvironment.processID)"
        var number = 0
        while true {
            try add("large \(name) \(number)", [UInt8](repeating: UInt8(number % 251), count: 2 << 20))
            number += 1
        }
    }
}
