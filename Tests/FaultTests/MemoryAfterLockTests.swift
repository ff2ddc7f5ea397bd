import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// What is left in the memory of the programs that are shipped once a person has
/// locked their keychain.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: ProcessMemory.obstacle == nil, "\(ProcessMemory.obstacle ?? "")"))
struct MemoryAfterLockTests {
    private static let passcode = "a passcode of this test alone"
    /// Open while unlocked, and no longer.
    private static let closing: [ProtectionClass] = [
        .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ]

    @Test func noKeyThatALockClosesIsLeftInDaemonOrEnclave() throws {
        let home = try FaultHome("memory")
        // Hidden memory nobody reads, this test included: what is shown here has to hold
        // without it.
        try home.start(without: "memfd_secret")
        let processes = try home.serving()
        let door = try RemotePersonDoor(
            runDirectory: home.locations.runDirectory, process: processes.enclave, clock: SystemClock())
        try door.setPasscode(.text(Self.passcode))
        try use(home, "first")
        try door.lock()
        try door.unlock(with: .passcode(.text(Self.passcode)))
        try use(home, "second")

        let keys = try knownKeys(of: home)
        let (closed, staying) = Self.split(keys)
        #expect(closed.count > 12 && staying.count > 12)
        let all = closed.merging(staying) { first, _ in first }
        var open = try scan(processes, all)
        // After a change of state the daemon opens its keys anew, once somebody needs them.
        _ = try eventually {
            _ = try home.client().perform(FaultItem.readAll(of: "memory"))
            open = try scan(processes, all)
            return closed.keys.allSatisfy { !$0.hasPrefix("metadata key") || open.daemon[$0] != nil }
        }
        #expect(open.enclave["bag key"] != nil && Self.classKeys(in: open.enclave, closed) >= Self.closing.count)
        for name in closed.keys where name.hasPrefix("metadata key") {
            #expect(open.daemon[name] != nil, "the scan does not find \(name) before the lock")
        }

        try door.lock()
        let locked = try scan(processes, all)
        for (name, places) in locked.enclave where closed[name] != nil {
            Issue.record("in the enclave: \(name) at \(places.joined(separator: ", "))")
        }
        for (name, places) in locked.daemon where closed[name] != nil {
            Issue.record("in the daemon: \(name) at \(places.joined(separator: ", "))")
        }
        // Those of ck, cku, dk and dku.
        #expect(Self.classKeys(in: locked.enclave, staying) >= 4)
        for places in [locked.enclave, locked.daemon] { #expect(places["index key"] != nil, "not all was read") }
        print(
            "MEMORY after a lock: looked for \(closed.count) keys in \(locked.byteCount >> 20) MiB of two processes; "
                + "before it \(open.enclave.keys.count { closed[$0] != nil }) of them in the enclave, "
                + "\(open.daemon.keys.count { closed[$0] != nil }) in the daemon; after it "
                + "\(locked.enclave.keys.count { closed[$0] != nil }) and \(locked.daemon.keys.count { closed[$0] != nil })"
        )
    }

    /// What a finger opens it again with stays, and nothing else, for as long as one may.
    @Test(.enabled(if: PrivateBus.isInstalled, "dbus, fprintd, python3-dbus or python3-gi is missing"))
    func whatAFingerOpensItWithGoesWhenNoneMay() throws {
        let (bus, programs) = (try PrivateBus(), try FingerPrograms())
        try #require(try bus.tell("enroll right") == "enroll-completed")
        try programs.name(bus)
        let home = try FaultHome("finger")
        try home.start(without: "memfd_secret", of: programs.folder)
        let processes = try home.serving()
        let door = try RemotePersonDoor(
            runDirectory: home.locations.runDirectory, process: processes.enclave, clock: SystemClock())
        let passcode = SharedSecret(SecretBytes(copying: Array(Self.passcode.utf8)))
        try door.setPasscode(passcode)
        try use(home, "first")
        let closed = Self.split(try knownKeys(of: home)).closed
        func left() throws -> Set<String> {
            let found = try scan(processes, closed)
            #expect(found.daemon.isEmpty, "in the daemon: \(found.daemon.keys)")
            return Set(found.enclave.keys)
        }

        _ = try door.addFingerSlot(passcode: passcode)
        try door.lock()
        #expect(try left() == ["bag key", "person key"])
        _ = try door.removeSlot(SlotState.fingerprintName, passcode: passcode, code: nil)
        #expect(try left() == [])

        _ = try door.addFingerSlot(passcode: passcode)
        try door.unlock(with: .passcode(passcode))
        try door.lock()
        #expect(try left() == ["bag key", "person key"])
        let refusal = try missing(bus, door)
        #expect(refusal == .biometryLockedOut)
        #expect(try left() == [])
    }

    /// Five fingers that are nobody's, each once the reader looks.
    private func missing(_ bus: PrivateBus, _ door: RemotePersonDoor) throws -> Reason? {
        let asked = try EventSignal()
        let refusal = Mutex<Reason?>(nil)
        Waiting.meanwhile {
            do throws(KeychainError) { while try door.unlockByFinger() != nil {} } catch {
                refusal.withLock { $0 = error.reason }
            }
            asked.signal()
        }
        for _ in 1...5 {
            #expect(try bus.tell("await-finger") == "needed")
            try bus.tell("reader SCAN wrong")
        }
        let soon = Deadline(after: .seconds(60), on: SystemClock())
        #expect(try waitForAny(of: [asked.descriptor], until: soon) == 0)
        return refusal.withLock { $0 }
    }

    /// The slab of keys and small values is out of root's reach, also while it is open.
    @Test(.enabled(if: RunningKernel.hasHiddenMemory, "no memfd_secret"))
    func hiddenMemoryIsNotReadByRoot() throws {
        let home = try FaultHome("hidden")
        let processes = try home.serving()
        let door = try RemotePersonDoor(
            runDirectory: home.locations.runDirectory, process: processes.enclave, clock: SystemClock())
        try door.setPasscode(.text(Self.passcode))
        try use(home, "first")
        let keys = try knownKeys(of: home)
        let (closed, staying) = Self.split(keys)
        let found = try scan(processes, closed.merging(staying) { first, _ in first })
        for (program, places) in [("enclave", found.enclave), ("daemon", found.daemon)] {
            for (name, where_) in places where where_.contains(where: { $0.contains("secretmem") }) {
                Issue.record("\(name) is read from the hidden memory of the \(program)")
            }
            #expect(places["index key"] == nil, "the index key of the \(program) lies elsewhere")
        }
    }

    /// An item of each class, written, changed and read.
    private func use(_ home: FaultHome, _ name: String) throws {
        let client = home.client()
        for named in ProtectionClass.allCases {
            let item = FaultItem(service: "memory", account: "\(name) \(named.rawValue)")
            let content = FaultContent(label: 1, value: 1)
            _ = try client.perform(item.add(content, protection: named.rawValue))
            _ = try client.perform(item.update(from: content, to: FaultContent(label: 2, value: 2)))
            let answer = try client.perform(item.read)
            #expect(answer.rows.count == 1)
        }
        #expect(try client.perform(FaultItem.readAll(of: "memory")).rows.count >= ProtectionClass.allCases.count)
    }

    private func knownKeys(of home: FaultHome) throws -> KnownKeys {
        let copy = home.folder.path("copy")
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in try FileManager.default.contentsOfDirectory(atPath: home.data)
        where name.hasPrefix("keychain.db") || name == "enclave" {
            try FileManager.default.copyItem(atPath: "\(home.data)/\(name)", toPath: "\(copy)/\(name)")
        }
        return try KnownKeys(of: copy, passcode: Self.passcode)
    }

    private static func split(_ keys: KnownKeys) -> (closed: [String: [UInt8]], staying: [String: [UInt8]]) {
        var (closed, staying) = (keys.ofBag, ["index key": keys.index])
        for (named, found) in keys.ofClass {
            if closing.contains(named) { closed.merge(found) { $1 } } else { staying.merge(found) { $1 } }
        }
        return (closed, staying)
    }

    private static func classKeys(in places: [String: [String]], _ wanted: [String: [UInt8]]) -> Int {
        places.keys.count { $0.hasPrefix("class key") && wanted[$0] != nil }
    }

    private typealias Scan = (enclave: [String: [String]], daemon: [String: [String]], byteCount: Int)

    private func scan(_ processes: (daemon: Int32, enclave: Int32), _ needles: [String: [UInt8]]) throws -> Scan {
        let enclave = try ProcessMemory(process: processes.enclave).places(of: needles)
        let daemon = try ProcessMemory(process: processes.daemon).places(of: needles)
        return (enclave.places, daemon.places, enclave.byteCount + daemon.byteCount)
    }
}
