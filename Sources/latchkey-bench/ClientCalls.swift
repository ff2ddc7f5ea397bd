import KeychainClient
import KeychainPlatform
import KeychainProtocol

/// The calls of one client process.
struct ClientCalls {
    private let transport: DaemonConnectionPool
    private let items: Int

    init(data: String, run: String, items: Int) {
        self.items = items
        let locations = KeychainLocations(dataDirectory: data, runDirectory: run + "/run")
        transport = DaemonConnectionPool(
            ClientConfiguration(target: .store(locations, autostart: true), programDirectories: [BenchFolder.programs]))
    }

    func make(_ call: ClientProcess.Call, _ index: Int) throws {
        let item = BenchItem.scattered(index, of: items)
        let request =
            switch call {
            case .read: BenchItem.read(item, returning: "r_Data")
            case .attributes: BenchItem.read(item, returning: "r_Attributes")
            case .add: BenchItem.add(DaemonUnderBench.addedService, BenchItem.freshAccount())
            case .all: BenchItem.readAll
            }
        let answer = try transport.perform(request)
        guard call == .add || !answer.rows.isEmpty else { throw BenchFailure("a client's call") }
    }
}
