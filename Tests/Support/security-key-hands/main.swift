@_implementationOnly import CSocketKeys
internal import KeychainPlatform
internal import SecurityHardware

// As latchkey-hardware, which it stands for in tests; but security keys are sockets, in
// the folder that is the one argument, or in `keys` beside the program.

let beside = "\(ProcessEnvironment.executableDirectory ?? ".")/keys"
let folder = CommandLine.arguments.dropFirst().first ?? beside
try Hardening.apply()
Hardening.ignoreBrokenPipes()
unsafe use_socket_keys(folder)
_ = Confinement.ofHardware.enter(.all)
try HardwareHands.inherited().serve()
