/// All that is measured at one number of items.
struct BenchSize {
    let store: FilledStore
    let floor: StoreFloor
    let crypto: CryptoFloor
    let oneHop: SocketFloor
    let twoHops: SocketFloor

    static let reads = 4000
    static let adds = 400

    init(_ items: Int, groups: [String], _ oneHop: SocketFloor, _ twoHops: SocketFloor) throws {
        store = try FilledStore(items: items, groups: groups)
        floor = try StoreFloor(path: store.floor, sample: Self.reads * 4)
        crypto = try CryptoFloor(floor.sizes)
        self.oneHop = oneHop
        self.twoHops = twoHops
    }

    func rows() throws -> [BenchRow] {
        var rows = try EmbeddedRows(self).rows()
        let daemon = try DaemonUnderBench(store.data)
        defer { daemon.stop() }
        for pinning in Pinning.possible { rows += try DaemonRows(self, daemon, pinning).rows() }
        try daemon.pin(.free)
        rows += try ClientsRows(self, daemon).rows()
        rows += try MemoryRows(self, daemon).rows()
        try daemon.tidy()
        try floor.tidy()
        return rows
    }

    // MARK: Floors

    var floors: [Work] {
        [
            Work("select", count: Self.reads, batch: 4) { [floor] in try floor.select($0) },
            Work("open one", count: Self.reads, batch: 16) { [crypto] _ in try crypto.openOne() },
            Work("open three", count: Self.reads, batch: 8) { [crypto] _ in try crypto.openThree() },
        ]
    }

    var decoding: Work { Work("decode", count: Self.reads, batch: 16) { [crypto] _ in try crypto.decode() } }

    var hops: [Work] {
        [
            Work("one hop", count: Self.reads) { [oneHop] _ in try oneHop.roundTrip() },
            Work("two hops", count: Self.reads) { [twoHops] _ in try twoHops.roundTrip() },
        ]
    }
}
