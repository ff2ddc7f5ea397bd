package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

extension KeychainEngine {
    /// Goes on bringing back what was locked, once it is open. To be called after each change of
    /// what ``deviceState()`` tells, on a thread that may take long.
    package func goOnSalvaging() throws(KeychainError) {
        guard let awaited = salvageAwaits.withLock({ $0 }), try deviceState().openClasses.contains(awaited)
        else { return }
        _ = try doctor(.salvage)
    }

    /// Whether what may come back is locked, so that waiting alone brings nothing.
    var lockedSalvage: KeychainError? {
        guard let awaited = salvageAwaits.withLock({ $0 }) else { return nil }
        do throws(KeychainError) {
            return try deviceState().openClasses.contains(awaited) ? nil : MetadataKeys.lockedError(awaited)
        } catch { return error }
    }

    /// Whether something was lost with a file, and nobody has accepted that.
    func lacksItems(_ reader: StoreReader) throws(KeychainError) -> Bool {
        if isBehindUnnoted.load(ordering: .acquiring) { return true }
        return try reader.lacksItems()
    }

    /// How long an opening may be held up; `latchkey doctor --salvage` does the rest.
    private static let patienceAtOpening: Duration = .seconds(3)

    /// A program that finds nothing makes new items in the old ones' place; so
    /// what opens comes back before the first call is answered.
    func salvageAfterSettingAside() {
        let isUnderWay: Bool
        do throws(KeychainError) {
            isUnderWay = try store.read { reader throws(KeychainError) in
                lacksItems.store(try lacksItems(reader), ordering: .releasing)
                return try reader.record(.salvaging) != nil
            }
        } catch {
            noteMalformation(error)
            return
        }
        guard isUnderWay else { return }
        mayBringBack.store(true, ordering: .releasing)
        var salvage = Salvage(self, .until(Deadline(after: Self.patienceAtOpening, on: clock)))
        // What is not done yet goes on while the store serves (``needsSalvage``).
        do throws(KeychainError) { try salvage.run() } catch { noteMalformation(error) }
        let counts = salvage.counts
        salvagedAtOpening.withLock { $0 = counts }
    }
}
