import Foundation
import KeychainClient
import KeychainModel
import KeychainProtocol
import Testing

/// Reads a keychain back and holds it against the books.
struct Auditor {
    let ledger: Ledger

    /// Reads everything by one search and each item by its own name, compares
    /// every byte, and writes what it found into the books.
    ///
    /// - Parameter sample: how many items are looked up one by one.
    func audit(
        through client: some KeychainTransport, sample: Int = 6, damaged: Int = 0, _ note: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let rows = try allRows(client)
        var byAccount: [String: [AnswerRow]] = [:]
        for row in rows {
            guard case .string(let account) = row.attributes[.account] else {
                complain("a row without its account", \.halfThere, note, location)
                continue
            }
            byAccount[account, default: []].append(row)
        }
        let entries = ledger.entries
        for account in byAccount.keys where entries[account] == nil {
            complain("\(account) was never written", \.halfThere, note, location)
        }
        for (account, entry) in entries {
            judge(account, entry, byAccount[account] ?? [], note, location)
        }
        try lookUp(entries.keys.sorted().shuffled().prefix(sample), client, note, location)
        let status = try client.perform(KeychainRequest(.status)).status
        if status?.damaged != damaged {
            complain("\(status?.damaged ?? -1) rows set aside, not \(damaged)", \.halfThere, note, location)
        }
    }

    private func allRows(_ client: some KeychainTransport) throws -> [AnswerRow] {
        switch client.result(of: FaultItem.readAll(of: ledger.service)) {
        case .success(let answer): return answer.rows
        case .failure(let error) where error.reason == .nothingMatches: return []
        case .failure(let error): throw error
        }
    }

    private func judge(
        _ account: String, _ entry: Ledger.Entry, _ rows: [AnswerRow], _ note: String, _ location: SourceLocation
    ) {
        let item = ledger.item(account)
        ledger.count { $0.readBack += 1 }
        guard rows.count < 2 else { return complain("\(account) is there twice", \.halfThere, note, location) }
        let row = rows.first
        if let inFlight = entry.inFlight {
            let isMade: Bool
            let made: FaultContent?
            switch inFlight {
            case .becomes(let content):
                made = content
                isMade = row.map { item.isIn($0, as: content) } ?? false
            case .goes:
                made = nil
                isMade = row == nil
            }
            ledger.count { if isMade { $0.inFlightPresent += 1 } else { $0.inFlightAbsent += 1 } }
            if isMade { return ledger.found(account, made) }
        }
        switch (entry.settled, row) {
        case (nil, nil): ledger.found(account, nil)
        case (let content?, let row?) where item.isIn(row, as: content): ledger.found(account, content)
        case (_?, nil): complain("\(account) is lost", \.lost, note, location)
        case (nil, _?): complain("\(account) is there and should not be", \.lost, note, location)
        case (_?, _?):
            complain("\(account) is neither what it was nor what it was to be", \.halfThere, note, location)
        }
    }

    /// By service and account: another index than the search for all.
    private func lookUp(
        _ accounts: some Sequence<String>, _ client: some KeychainTransport, _ note: String, _ location: SourceLocation
    ) throws {
        for account in accounts {
            let item = ledger.item(account)
            let settled = ledger[account].settled
            switch client.result(of: item.read) {
            case .success(let answer):
                let isRight = answer.rows.count == 1 && settled.map { item.isIn(answer.rows[0], as: $0) } ?? false
                if !isRight { complain("\(account) by its name is another", \.wrongAnswers, note, location) }
            case .failure(let error) where error.reason == .nothingMatches:
                if settled != nil { complain("\(account) by its name: \(error)", \.wrongAnswers, note, location) }
            case .failure(let error): throw error
            }
        }
    }

    private func complain(
        _ what: String, _ count: any WritableKeyPath<FaultCounts, Int> & Sendable, _ note: String,
        _ location: SourceLocation
    ) {
        ledger.count { $0[keyPath: count] += 1 }
        Issue.record("\(what) \(note)", sourceLocation: location)
    }
}

extension KeychainTransport {
    func result(of request: KeychainRequest) -> Result<KeychainAnswer, KeychainError> {
        do throws(KeychainError) { return .success(try perform(request)) } catch { return .failure(error) }
    }

    func failure(of request: KeychainRequest) -> KeychainError? {
        if case .failure(let error) = result(of: request) { error } else { nil }
    }
}
