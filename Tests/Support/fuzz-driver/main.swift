// Coverage-guided fuzzing of one target (`make fuzz`): libFuzzer's own options
// follow its name. Without libFuzzer in the program it runs the files named.
//
//     fuzz-driver --list
//     fuzz-driver TARGET [libFuzzer's options, folders, files]
//     fuzz-driver --seeds TARGET FOLDER
internal import CFuzzer
internal import Foundation
internal import FuzzTargets

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "--list": for target in FuzzTarget.all { print(target.name) }
case "--seeds" where arguments.count == 4: try Driver(arguments[2]).writeSeeds(into: arguments[3])
case let name? where !name.hasPrefix("-"): exit(try Driver(name).run(Array(arguments.dropFirst(2))))
default:
    print("usage: fuzz-driver --list | --seeds TARGET FOLDER | TARGET [libFuzzer's options, folders, files]")
    exit(2)
}
