package import KeychainCrypto
internal import KeychainPlatform
package import LatchkeyCommand
internal import LatchkeyImport

/// Import and export, done here.
package struct KeychainTransfer: Transfer {
    private let cost: PassphraseCost

    /// - Parameter cost: what a guess at the passphrase of a new file costs.
    package init(cost: PassphraseCost) { self.cost = cost }

    package static var usual: KeychainTransfer { KeychainTransfer(cost: .usual) }

    /// A dry run makes none.
    private static func keychains(
        for job: ImportJob, _ surroundings: Surroundings
    ) throws(CommandFailure) -> [CommandKeychain] {
        guard job.isDryRun, surroundings.missingKeychain(job.dataDirectory) != nil else {
            return try CommandKeychain.open(Importer.workers, dataDirectory: job.dataDirectory, in: surroundings)
        }
        return [try CommandKeychain.open(in: surroundings) { AbsentKeychain() }]
    }

    package func perform(_ job: ImportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        // First, so that nobody looks into this process once it holds a secret.
        let keychains = try Self.keychains(for: job, surroundings)
        var plan = try ImportPlan.read(job, surroundings)
        let shelves = keychains.map { ItemShelf(keychain: $0) }
        let services = ServiceItemPlan(plan.services, plan.collections)
        let held = try HeldItems(shelves[0], in: [nil] + services.groups)
        let items = plan.items + services.items(held, shelves[0], &plan.flaws)
        if !job.isDryRun { try services.addCollections(to: shelves[0]) }
        let bar = ProgressBar(job.isDryRun ? "Comparing" : "Storing", on: console)
        let importer = Importer(items, job, shelves, held)
        let count = items.count
        let outcomes = importer.run { bar.show($0, of: count) }
        bar.clear()
        let report = ImportReport(
            format: plan.format, isDryRun: job.isDryRun, flaws: plan.flaws, fields: plan.fields,
            items: Array(zip(items, outcomes)))
        let text = job.json ? report.json.text + "\n" : report.text
        try printing { () throws(SystemCallError) in try console.write(text) }
        // What a person reads last is what to do about it; a second run stores the rest.
        if let outage = report.outage { throw CommandFailure(outage) }
        return report.isComplete ? .done : .noMatch
    }

    package func perform(_ job: ExportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try Exporter(job, surroundings, cost).run()
    }
}
