package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol

/// Puts a restored store in the place of the present one, all or nothing.
///
/// The new store lies complete and durable in `restore.new`; one rename to
/// `restore.ready` decides. What follows are renames that every later opening
/// carries on where a crash broke them off, under the store's lock. The present
/// store goes, whole, into a folder of its own.
package struct RestoreSwitch: Sendable {
    package static let stagingName = "restore.new"
    package static let readyName = KeychainLocations.restoredName
    package static let asidePrefix = "replaced-"
    /// In the new store's folder: where the present one is to go.
    package static let asideFile = "aside"
    private static let keybagFolder = "enclave"
    /// The record of what the former store's keys did: nothing of the new one opens it.
    private static let auditFolder = "audit"

    private let data: PrivateDirectory
    private let ready: PrivateDirectory
    /// Name of the folder for what is replaced.
    package let asideName: String
    private let aside: PrivateDirectory

    // MARK: Deciding

    /// Chooses where the present store will go and notes it in the staging folder.
    package static func prepare(
        _ staging: PrivateDirectory, in data: PrivateDirectory, at moment: Double
    ) throws(KeychainError) {
        let bytes = Array(try freeName(in: data, at: moment).utf8)
        try translatingFiles { () throws(SystemCallError) in try staging.replace(asideFile, with: bytes) }
    }

    private static func freeName(in data: PrivateDirectory, at moment: Double) throws(KeychainError) -> String {
        let taken = Set(try data.names())
        let stamp = asidePrefix + Timestamp(secondsSince2001: moment).compactText
        var name = stamp
        var number = 1
        while taken.contains(name) {
            number += 1
            name = "\(stamp)-\(number)"
        }
        return name
    }

    /// The rename that decides: before it the old store, from it on the new one.
    package static func commit(in data: PrivateDirectory) throws(KeychainError) {
        try translatingFiles { () throws(SystemCallError) in
            try data.move(stagingName, to: readyName)
            try data.synchronize()
        }
    }

    /// Carries a decided restore to its end; nil where there is none. What has its name and is
    /// none that we prepared gets another one, as what a restore replaced.
    ///
    /// - Returns: the folder into which the former store went, empty where there
    ///   was none.
    @discardableResult
    package static func finish(in data: PrivateDirectory, at moment: Double) throws(KeychainError) -> String? {
        guard let pending = try RestoreSwitch(pendingIn: data, at: moment) else {
            dropStaging(in: data)
            return nil
        }
        for step in try pending.steps() { try pending.perform(step) }
        try pending.clear()
        return try pending.dropEmptyAside() ? "" : pending.asideName
    }

    /// What a restore left that was broken off before it was decided: a whole copy of the
    /// backup, which opens as the backup does. Where it cannot be removed the store opens all
    /// the same.
    private static func dropStaging(in data: PrivateDirectory) {
        do throws(KeychainError) {
            let isThere = try translatingFiles { () throws(SystemCallError) in try data.holds(stagingName) }
            guard isThere else { return }
            let staging = try folder(stagingName, in: data)
            try translatingFiles { () throws(SystemCallError) in try staging.removeWithContents() }
        } catch { return }
    }

    package init?(pendingIn data: PrivateDirectory, at moment: Double) throws(KeychainError) {
        let kind = try looking(at: Self.readyName, in: data) { () throws(SystemCallError) -> FileStatus? in
            guard try data.holds(Self.readyName) else { return nil }
            return try FileStatus(at: FilePath(Self.readyName), in: data.descriptor, followingLink: false)
        }
        guard let kind else { return nil }
        guard kind.isDirectory else {
            try Self.leave(in: data, at: moment)
            return nil
        }
        self.data = data
        ready = try Self.folder(Self.readyName, in: data)
        let folder = ready
        let bytes = try looking(at: Self.asideFile, in: folder) { () throws(SystemCallError) in
            try folder.read(Self.asideFile, atMost: 256)
        }
        guard let bytes, let name = String(validating: bytes, as: UTF8.self), name.hasPrefix(Self.asidePrefix),
            !name.contains("/")
        else {
            // Done, and its clearing broke off.
            guard try ready.names().allSatisfy({ $0 != Store.fileName && $0 != Self.keybagFolder }) else {
                try Self.leave(in: data, at: moment)
                return nil
            }
            try translatingFiles { () throws(SystemCallError) in try folder.removeWithContents() }
            return nil
        }
        asideName = name
        aside = try Self.folder(name, in: data)
    }

    /// Has what nobody prepared out of the way.
    ///
    /// - Throws: `storeUnreadable` where there is no database beside it: it may be the one that is
    ///   wanted there.
    private static func leave(in data: PrivateDirectory, at moment: Double) throws(KeychainError) {
        let name = try freeName(in: data, at: moment)
        let isBesideOne = try translatingFiles { () throws(SystemCallError) in
            guard try data.holds(Store.fileName) else { return false }
            try data.move(readyName, to: name)
            try data.synchronize()
            return true
        }
        if !isBesideOne { throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: readyName) }
    }

    private static func folder(_ name: String, in data: PrivateDirectory) throws(KeychainError) -> PrivateDirectory {
        do throws(DirectoryRefusal) { return try PrivateDirectory("\(data.path)/\(name)", creating: true) } catch {
            if case .system(_, let below) = error { throw KeychainError(files: below) }
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }

    // MARK: Steps

    /// One rename.
    package struct Step: Sendable, Hashable {
        package enum Direction: Sendable {
            case out
            case into
        }

        package let direction: Direction
        package let name: String
    }

    /// What is left to do, in order: everything old goes out, the keybag comes
    /// in, the database last. While the new database waits, whatever is called
    /// like one in the data folder is old.
    package func steps() throws(KeychainError) -> [Step] {
        let data = data
        let ready = ready
        let names = try data.names()
        return try translatingFiles { () throws(SystemCallError) in
            guard try ready.holds(Store.fileName) else { return [] }
            let old = names.filter { $0.hasPrefix(Store.fileName) }.sorted().reversed()
            var steps = old.map { Step(direction: .out, name: $0) }
            if try data.holds(Self.auditFolder) { steps.append(Step(direction: .out, name: Self.auditFolder)) }
            if try ready.holds(Self.keybagFolder) {
                if try data.holds(Self.keybagFolder) { steps.append(Step(direction: .out, name: Self.keybagFolder)) }
                steps.append(Step(direction: .into, name: Self.keybagFolder))
            }
            return steps + [Step(direction: .into, name: Store.fileName)]
        }
    }

    package func perform(_ step: Step) throws(KeychainError) {
        let (data, ready, aside) = (data, ready, aside)
        try translatingFiles { () throws(SystemCallError) in
            switch step.direction {
            case .out: try data.move(step.name, to: step.name, in: aside)
            case .into: try ready.move(step.name, to: step.name, in: data)
            }
            try aside.synchronize()
            try data.synchronize()
        }
    }

    private func dropEmptyAside() throws(KeychainError) -> Bool {
        guard try aside.names().isEmpty else { return false }
        let aside = aside
        try translatingFiles { () throws(SystemCallError) in try aside.removeWithContents() }
        return true
    }

    private func clear() throws(KeychainError) {
        let (data, ready) = (data, ready)
        try translatingFiles { () throws(SystemCallError) in
            try ready.removeWithContents()
            try data.synchronize()
        }
    }
}
