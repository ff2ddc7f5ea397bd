internal import CFuzzer
internal import Foundation
internal import FuzzTargets
internal import Synchronization

/// Runs one target.
struct Driver {
    let target: FuzzTarget

    static var names: [String] { FuzzTarget.all.map(\.name) }

    init(_ name: String) throws {
        guard let found = FuzzTarget.named(name) else { throw UnknownTarget(name: name) }
        target = found
    }

    struct UnknownTarget: Error { let name: String }

    /// One file a seed, numbered.
    func writeSeeds(into folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (index, seed) in target.seeds().enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
        }
    }

    /// The exit status.
    ///
    /// - Parameter arguments: those of the process, its own name first.
    func run(_ arguments: [String]) throws -> Int32 {
        current.withLock { $0 = target }
        let options = arguments + ["-max_len=\(target.largestInput)"]
        var pointers = unsafe options.map { unsafe strdup($0) } + [nil]
        let status = unsafe lk_fuzz(Int32(options.count), &pointers) { bytes, count in
            unsafe Driver.one(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        guard status == LK_FUZZ_NOT_LINKED else { return status }
        for path in arguments.dropFirst() where !path.hasPrefix("-") {
            try target.run(Array(Data(contentsOf: URL(fileURLWithPath: path))))
        }
        return 0
    }

    /// A property that does not hold ends the process: libFuzzer keeps the input.
    private static func one(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard let target = current.withLock({ $0 }) else { return 0 }
        do throws(Finding) {
            try target.run(unsafe Array(bytes))
            return 0
        } catch {
            FileHandle.standardError.write(Data("finding: \(error)\n".utf8))
            abort()
        }
    }
}

private let current = Mutex<FuzzTarget?>(nil)
