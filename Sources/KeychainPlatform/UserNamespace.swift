internal import Glibc

/// Which users of the machine have a number here (user_namespaces(7)).
struct UserNamespace: Sendable {
    /// What files show of an owner who has none: /proc/sys/kernel/overflowuid as the kernel sets it.
    private static let overflow: UInt32 = 65534

    /// /proc/self/uid_map: first number here, first outside, how many.
    private let map: [[UInt64]]

    init(map text: String) {
        map = text.split(separator: "\n").map { line in line.split(separator: " ").compactMap { UInt64($0) } }
    }

    /// This process's; where /proc does not say, everybody has a number.
    static var own: UserNamespace {
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: FilePath("/proc/self/uid_map"), .reading)
            return UserNamespace(map: String(decoding: try readAll(file, atMost: 1 << 16), as: UTF8.self))
        } catch { return UserNamespace(map: "0 0 4294967295") }
    }

    /// Whether that number stands for owners who have none here.
    func isUnmapped(_ uid: UInt32) -> Bool {
        uid == Self.overflow && !map.contains { $0.count == 3 && $0[0] <= UInt64(uid) && UInt64(uid) - $0[0] < $0[2] }
    }
}
