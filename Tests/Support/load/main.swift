// Load on the real daemon and its enclave (`make load`): what others do to it, and
// whether every answer is right meanwhile.
//
//     load PROGRAMS-FOLDER SECONDS CONNECTIONS
//
// Exit status 1 where an answer was wrong or none came, an acknowledged write is
// missing after the daemon was killed, or something grew that must not.
internal import Foundation

let arguments = CommandLine.arguments
do {
    if arguments.count == 6, arguments[1] == "--client" {
        try HonestClients(programs: arguments[2], folder: arguments[3], name: arguments[5])
            .run(seconds: Int(arguments[4]) ?? 1)
    } else if arguments.count == 6, arguments[1] == "--large" {
        try LargeValues(keychain: Keychain(programs: arguments[2], folder: arguments[3]))
            .run(seconds: Int(arguments[4]) ?? 1)
    } else if arguments.count == 6, arguments[1] == "--slow" {
        try SlowRequests(keychain: Keychain(programs: arguments[2], folder: arguments[3]))
            .run(seconds: Int(arguments[4]) ?? 1)
    } else if arguments.count == 4, let seconds = Int(arguments[2]), let connections = Int(arguments[3]) {
        try LoadRun(programs: arguments[1], seconds: seconds, connections: connections).run()
    } else {
        print("usage: load PROGRAMS-FOLDER SECONDS CONNECTIONS")
        exit(2)
    }
} catch {
    print("load: FAILED: \(error)")
    exit(1)
}
