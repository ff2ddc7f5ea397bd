// Coverage-guided fuzzing of one target (`make fuzz`): libFuzzer's own options
// stand beside its name. Without libFuzzer in the program it runs the files named.
//
//     fuzz-driver --list
//     fuzz-driver --target=NAME [libFuzzer's options, folders, files]
//     fuzz-driver --target=NAME --seeds FOLDER
internal import Foundation

// libFuzzer starts the program again with the same arguments and takes no notice
// of those with two dashes.
let arguments = CommandLine.arguments
if arguments.contains("--list") {
    for name in Driver.names { print(name) }
    exit(0)
}
guard let name = arguments.first(where: { $0.hasPrefix("--target=") })?.dropFirst("--target=".count) else {
    print("usage: fuzz-driver --list | --target=NAME [--seeds FOLDER | libFuzzer's options, folders, files]")
    exit(2)
}
let driver = try Driver(String(name))
if let index = arguments.firstIndex(of: "--seeds"), index + 1 < arguments.count {
    try driver.writeSeeds(into: arguments[index + 1])
} else {
    exit(try driver.run(arguments))
}
