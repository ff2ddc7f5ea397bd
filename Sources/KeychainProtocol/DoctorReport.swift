package import KeychainModel

/// What `latchkey doctor` can be asked to do.
package enum DoctorTask: Sendable, Hashable, CaseIterable {
    /// Say how the store is, from what is known.
    case look
    /// Open every row.
    case verify
    /// Bring back what was set aside and opens.
    case salvage
    /// Set every row aside that does not open, and let the brake go.
    case acceptDamage
}

/// How the store is: counts over all groups, and never more than counts.
package struct DoctorReport: Sendable, Hashable {
    package var dataDirectory = ""
    package var storeFormat = 0
    package var items: [ItemClass: Int] = [:]
    package var tombstones = 0
    /// Rows in the table `damaged` whose place no newer item has taken.
    package var damaged = 0
    /// Some of them came after the last `--accept-damage`.
    package var hasNewDamage = false
    package var brakeIsOn = false
    /// Seconds since 2001; nil where it is off or could not be written down.
    package var brakeSince: Double?
    /// Names of malformed databases that were set aside.
    package var setAsideFiles: [String] = []
    /// What SQLite's own check says; nil where it was not asked.
    package var isIntact: Bool?
    package var inspection: InspectionCounts?
    package var salvage: SalvageCounts?
    /// Since when the audit record cannot be written, in seconds since
    /// 2001-01-01T00:00:00Z; nil: it can.
    package var auditFailedSince: Double?
    /// Whether the database that is open is no longer the one in its place; nil: it is.
    package var databaseFault: PlaceFault?
    /// Whether the next enclave would not find the files of the keys that are open; nil: it
    /// would.
    package var keysFault: PlaceFault?
    /// Names in the enclave's folder: what is gone or damaged, and could not be written again. The
    /// other copy counts; of `effacement` there is none.
    package var unrepairedFiles: [String] = []

    package init() {}
}

/// What a look at every row found.
package struct InspectionCounts: Sendable, Hashable {
    package var rows = 0
    /// Both seals open, the columns agree.
    package var sound = 0
    /// Nobody can look into them now.
    package var locked = 0
    /// A seal does not open; the row is where it was.
    package var unopened = 0
    /// Both seals open, the columns say something else.
    package var mismatched = 0
    /// Such columns that were written anew.
    package var mended = 0
    /// Rows that were moved to `damaged`.
    package var moved = 0

    package init() {}
}

/// What salvaging brought back.
package struct SalvageCounts: Sendable, Hashable {
    package var files = 0
    /// Files of which SQLite could not read everything.
    package var unreadableFiles = 0
    package var restored = 0
    /// A newer item has the place, or it was brought back before.
    package var present = 0
    package var unopened = 0
    package var locked = 0
    /// There was no time for everything.
    package var isCutShort = false

    package init() {}
}
