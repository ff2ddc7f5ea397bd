/// Single calls to the daemon, beside the floors under the same pinning.
struct DaemonRows {
    private let size: BenchSize
    private let daemon: DaemonUnderBench
    private let pinning: Pinning

    init(_ size: BenchSize, _ daemon: DaemonUnderBench, _ pinning: Pinning) throws {
        self.size = size
        self.daemon = daemon
        self.pinning = pinning
        try daemon.pin(pinning)
        try size.oneHop.pin(pinning)
        try size.twoHops.pin(pinning)
    }

    private var items: Int { size.store.items }

    func rows() throws -> [BenchRow] { try reads() + (try adds()) + (try all()) }

    private func reads() throws -> [BenchRow] {
        let (daemon, items) = (daemon, items)
        func read(_ name: String, _ returning: String) -> Work {
            Work(name, count: BenchSize.reads) {
                try daemon.read(BenchItem.scattered($0, of: items), returning: returning)
            }
        }
        let door = Work("door", count: BenchSize.reads) {
            try BenchItem.readThroughDoor(BenchItem.scattered($0, of: items))
        }
        let missing = Work("missing", count: BenchSize.reads) { try daemon.readMissing($0, of: items) }
        let work = [read("read", "r_Data"), read("attributes", "r_Attributes"), missing, door]
        let measured = try Measurements(of: size.floors + size.hops + work)
        let value = measured["two hops"].median + measured["select"].median + measured["open three"].median
        let attributes = measured["one hop"].median + measured["select"].median + measured["open one"].median
        let valueIs = "2 hops + select + 3 opens"
        return [
            row("daemon read, value", measured["read"], value, valueIs),
            row("daemon read, value (SecItemCopyMatching)", measured["door"], value, valueIs),
            row("daemon read, attributes only", measured["attributes"], attributes, "1 hop + select + 1 open"),
            row(
                "daemon read, nothing matches", measured["missing"], measured["attributes"].median,
                "attributes of an item that is there"),
            floor("floor: one hop, 256 B", measured["one hop"]), floor("floor: two hops, 256 B", measured["two hops"]),
            floor("floor: select", measured["select"]), floor("floor: three opens", measured["open three"]),
        ]
    }

    private func adds() throws -> [BenchRow] {
        let (daemon, size) = (daemon, size)
        let measured = try Measurements(of: [
            Work("two hops", count: BenchSize.adds) { _ in try size.twoHops.roundTrip() },
            Work("insert", count: BenchSize.adds) { _ in try size.floor.insert() },
            Work("add", count: BenchSize.adds) { _ in try daemon.add() },
        ])
        let least = measured["insert"].median + measured["two hops"].median
        return [
            row("daemon add, durable", measured["add"], least, "raw insert + 2 hops"),
            floor("floor: insert, WAL, FULL", measured["insert"]),
        ]
    }

    /// Limit all, with values: a cost a row.
    private func all() throws -> [BenchRow] {
        let (daemon, size) = (daemon, size)
        let matching = Double(min(items, BenchItem.perService))
        let measured = try Measurements(
            of: size.floors + size.hops + [
                Work("listing", count: 20) { _ in _ = try size.floor.list() },
                Work("all", count: 20) { _ in
                    guard try daemon.readAll() == Int(matching) else { throw BenchFailure("reading all") }
                },
            ])
        let least =
            measured["listing"].median / matching + measured["open three"].median
            + measured["two hops"].median * 4 / matching
        var row = BenchRow(
            "limit-all with values, a row", items: items, pinning, measured: measured["all"].median / matching,
            unit: "µs", .excess)
        row.floor = least
        row.floorIs = "select of 1 000 rows + 3 opens, a row; 4 × 2 hops shared"
        return [row]
    }

    private func row(_ name: String, _ measured: Measurement, _ floor: Double, _ floorIs: String) -> BenchRow {
        BenchRow(name, items: items, pinning, measured, floor: floor, is: floorIs)
    }

    private func floor(_ name: String, _ measured: Measurement) -> BenchRow {
        BenchRow(name, items: items, pinning, measured: measured.median, unit: "µs", .figure)
    }
}
