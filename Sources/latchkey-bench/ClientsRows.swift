/// Eight programs at once against one, wherever the scheduler puts them.
struct ClientsRows {
    private let size: BenchSize
    private let daemon: DaemonUnderBench

    init(_ size: BenchSize, _ daemon: DaemonUnderBench) {
        self.size = size
        self.daemon = daemon
    }

    func rows() throws -> [BenchRow] {
        let clients = ManyClients(data: size.store.data, items: size.store.items)
        let oneReads = try clients.run(.read, clients: 1, callsOfEach: 8000, daemon)
        let eightRead = try clients.run(.read, clients: 8, callsOfEach: 2000, daemon)
        let oneAdds = try clients.run(.add, clients: 1, callsOfEach: 800, daemon)
        let eightAdd = try clients.run(.add, clients: 8, callsOfEach: 300, daemon)
        var reads = row(
            "8 clients reading at once, reads/s", eightRead.rate, oneReads.rate, "reads/s", .gain, "one client")
        if Pinning.processorCount < 10 {
            reads.remark = "\(Pinning.processorCount) processors carry clients and servers alike: CPU per read counts"
        }
        return [
            reads,
            row(
                "8 clients reading at once, CPU per read", eightRead.processorTime, oneReads.processorTime, "µs",
                .ratio,
                "CPU per read of one client"),
            row("8 clients adding at once, adds/s", eightAdd.rate, oneAdds.rate, "adds/s", .gain, "one client"),
        ]
    }

    private func row(
        _ name: String, _ measured: Double, _ other: Double, _ unit: String, _ judgement: BenchRow.Judgement,
        _ floorIs: String
    ) -> BenchRow {
        var row = BenchRow(name, items: size.store.items, .free, measured: measured, unit: unit, judgement)
        row.floor = other
        row.floorIs = floorIs
        return row
    }
}
