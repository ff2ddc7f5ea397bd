internal import Glibc
internal import KeychainPlatform
@_implementationOnly import CCallProbe

// Confines itself as one of our programs does, then makes one call from within.
//
// `confinement-probe daemon|enclave|hardware|bus FEATURES FILES REMOVAL PLACE CALL`: FEATURES are all,
// none or one of landlock, mdwe, seccomp, hidden; FILES is the folder that an enclave keeps its
// keys in, REMOVAL that of its sockets, PLACE where the call is made. The exit status is
// the call's errno; where the kernel ends the process there is none. The call `measures`
// says which are in force: a bit each, in their order.
//
// `confinement-probe spawner QUESTION FOLDER`: see SpawnerProbe. Without a word: the peer that
// it starts. `confinement-probe try CALL`: makes the call as it is.
//
// `confinement-probe memory hidden|plain fork|proc`: how a forked child, or /proc/PID/mem,
// sees a secret: 0 where it reads it, 1 where it reads zeroes, else the errno, or 128 and
// the signal that ended the child.
//
// `confinement-probe code daemon|enclave`: 0 where the code of a process that is confined as they
// are takes less than half of its memory once it has let go of it, and goes on.
//
// `confinement-probe data alone|threads`: 0 where of its data what was written to stays, and the
// rest is let go of, but with another thread all of it stays.
//
// `confinement-probe without CALL,… PROGRAM ARGUMENT…`: becomes a program for which the
// kernel does not have these calls, as in a container that refuses them; with `ended-by` in
// place of `without` they end it, as under a unit's SystemCallFilter.
let words = CommandLine.arguments
if words.count == 4, words[1] == "memory" {
    Hardening.forbidCoreDumps()
    if words[2] == "hidden" { SecretArena.hide() }
    let secret = SecretBytes(copying: [0x5A])
    precondition(SecretArena.shared.isHidden == (words[2] == "hidden"))
    let seen = unsafe secret.withUnsafeBytes { bytes in
        unsafe words[3] == "fork" ? probe_child_sees(bytes.baseAddress) : probe_proc_sees(bytes.baseAddress)
    }
    ProcessEnvironment.exit(seen)
}
if words.count == 3, words[1] == "code" {
    try Hardening.apply()
    // From within it cannot be opened.
    let maps = try RunningCode()
    let confinement = words[2] == "daemon" ? Confinement.ofDaemon : .ofEnclave([])
    _ = confinement.enter(.all)
    let before = try maps.residentKibibytes()
    ProgramMemory.letGoOfCode()
    let after = try maps.residentKibibytes()
    ProcessEnvironment.exit(before > 0 && after * 2 < before ? 0 : 1)
}
if words.count == 3, words[1] == "data" {
    let hasThreads = words[2] == "threads"
    precondition(!hasThreads || probe_start_thread() == 0)
    probe_use_data()
    let before = probe_data_pages()
    // As a server does: it hides in between.
    ProgramMemory.openPageMap()
    try Hardening.apply()
    ProgramMemory.letGoOfUnwrittenData()
    let after = probe_data_pages()
    let isRight = before == Int32(probe_data_size) && after == (hasThreads ? before : 1)
    ProcessEnvironment.exit(isRight && probe_data_is_whole() == 1 ? 0 : 1)
}
if words.count > 3, words[1] == "without" || words[1] == "ended-by" {
    let ends: Int32 = words[1] == "ended-by" ? 1 : 0
    for call in words[2].split(separator: ",") { precondition(unsafe probe_refuse(String(call), ends) == 0) }
    ProcessEnvironment.exit(unsafe probe_become(CommandLine.unsafeArgv + 3))
}
if words.count == 1 {
    let socket = PacketSocket(owning: Descriptor(owning: 3))
    var byte: UInt8 = 0
    while try unsafe withUnsafeMutableBytes(of: &byte, { unsafe try socket.receive(into: $0) }) != nil {
        let open = (Int32(0)..<64).filter { fcntl($0, F_GETFD) >= 0 }.map { "\($0)" }
        let given = unsafe environ[0].map { unsafe String(cString: $0) } ?? ""
        try socket.send(Array("\(getpid())|\(([given] + open).joined(separator: " "))".utf8))
    }
    ProcessEnvironment.exit(0)
}
if words.count == 3, words[1] == "try" { ProcessEnvironment.exit(unsafe probe_call(words[2])) }
if words.count == 4, words[1] == "spawner" {
    try Hardening.apply()
    let answer =
        switch words[2] {
        case "orphaned": try SpawnerProbe.orphaned(in: words[3])
        case "peer of an enclave": try SpawnerProbe.peerOfEnclave(in: words[3])
        default: try SpawnerProbe(in: words[3]).answer(to: words[2])
        }
    ProcessEnvironment.exit(answer)
}
precondition(words.count == 7, "confinement-probe daemon|enclave|hardware|bus FEATURES FILES REMOVAL PLACE CALL")

var features = words[2] == "all" ? ConfinementFeatures.all : .none
switch words[2] {
case "landlock": features.hasLandlock = true
case "mdwe": features.hasMDWE = true
case "seccomp": features.hasSeccomp = true
case "hidden": features.hasHiddenMemory = true
default: break
}
try Hardening.apply(features)
let files = try PrivateDirectory(words[3], creating: false)
let removal = try PrivateDirectory(words[4], creating: false)
precondition(unsafe chdir(words[5]) == 0)
let confinement =
    switch words[1] {
    case "daemon": Confinement.ofDaemon
    case "hardware": Confinement.ofHardware
    case "bus": Confinement.ofBus
    default: Confinement.ofEnclave([.init(files, for: .files), .init(removal, for: .removal)])
    }
let confined = confinement.enter(features)
if words[6] == "measures" {
    var bits: Int32 = 0
    for measure in confined.measures where measure.isInForce {
        for (place, known) in HardeningMeasure.allCases.enumerated() where known.rawValue == measure.name {
            bits |= 1 << Int32(place)
        }
    }
    ProcessEnvironment.exit(bits)
}
ProcessEnvironment.exit(unsafe probe_call(words[6]))
