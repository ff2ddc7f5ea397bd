import KeychainPlatform

/// `loop WHERE CALL COUNT ITEMS DATA RUN GROUPS`: nothing but calls, for callgrind and
/// perf. WHERE is `embedded` (the engine in this process) or `daemon`.
enum CallLoop {
    static func main(_ arguments: [String]) throws {
        guard arguments.count == 7, let call = ClientProcess.Call(rawValue: arguments[1]),
            let count = Int(arguments[2]),
            let items = Int(arguments[3])
        else { throw BenchFailure("the arguments of a loop") }
        if arguments[0] == "daemon" {
            let calls = ClientCalls(data: arguments[4], run: arguments[5], items: items)
            for index in 0..<count { try calls.make(call, index) }
            return
        }
        let store = try EmbeddedStore(arguments[4], groups: arguments[6].split(separator: ",").map { String($0) })
        defer { store.close() }
        for index in 0..<count {
            switch call {
            case .add: try store.add()
            default: try BenchItem.readThroughDoor(BenchItem.scattered(index, of: items))
            }
        }
    }
}
