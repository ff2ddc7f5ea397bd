import Foundation

/// What /proc says about a process.
enum ProcessFigures {
    static func threads(of process: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return names.compactMap { Int32($0) }
    }

    /// Seconds on a processor so far, all threads (proc(5), schedstat: nanoseconds).
    static func processorTime(of process: Int32) -> Double {
        threads(of: process).reduce(0) { sum, thread in
            let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/schedstat", encoding: .utf8)) ?? ""
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }
    }

    /// Resident memory in MiB: `VmRSS`, or of it `RssAnon`, `RssFile`, `RssShmem`.
    static func residentMemory(of process: Int32, _ part: String = "VmRSS") throws -> Double {
        guard let kibibytes = try status(of: process, part).split(separator: " ").first.flatMap({ Double($0) })
        else {
            throw BenchFailure("\(part) of \(process)")
        }
        return kibibytes / 1024
    }

    /// The processors that it may use: "0-1,4".
    static func processors(of process: Int32) -> [Int] {
        guard let list = try? status(of: process, "Cpus_allowed_list") else { return [0] }
        return list.split(separator: ",").flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            return ends.first.map { Array($0...(ends.last ?? $0)) } ?? []
        }
    }

    /// A line of proc(5), status.
    private static func status(of process: Int32, _ name: String) throws -> String {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }) else {
            throw BenchFailure("\(name) of \(process)")
        }
        return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
    }
}
