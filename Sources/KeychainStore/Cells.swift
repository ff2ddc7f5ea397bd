internal import Foundation
internal import GRDB

/// The cells of one row, however they were fetched. Any cell may hold anything
/// where the file was damaged: what is of another type becomes a value that no
/// seal was bound to.
protocol Cells: ~Copyable {
    /// nil for NULL, nothing for what has no bytes.
    func bytes(_ column: Int32) -> [UInt8]?
    func number(_ column: Int32) -> Int64?
    func text(_ column: Int32) -> String?
}

extension PreparedStatement: Cells {}

extension Row: Cells {
    func bytes(_ column: Int32) -> [UInt8]? {
        let cell: DatabaseValue = self[Int(column)]
        return cell.isNull ? nil : Data.fromDatabaseValue(cell).map { Array($0) } ?? []
    }

    func number(_ column: Int32) -> Int64? {
        if case .int64(let number) = (self[Int(column)] as DatabaseValue).storage { number } else { nil }
    }

    func text(_ column: Int32) -> String? {
        if case .string(let text) = (self[Int(column)] as DatabaseValue).storage { text } else { nil }
    }
}
