internal import KeychainMessages
package import KeychainModel
internal import SwiftProtobuf

/// What a program that runs under `latchkey explain` says of one of its calls
/// (FORMATS.md, "Explained calls"). Attributes that the caller wrote are in it,
/// values of items are not.
package struct CallRecord: Sendable {
    package let request: KeychainRequest
    /// nil: the call succeeded.
    package let error: KeychainError?
    package let rows: Int
    package let groups: [String]
    package let nameableGroups: [String]
    /// Path of the program.
    package let program: String

    package init(
        request: KeychainRequest, error: KeychainError?, rows: Int, groups: [String], nameableGroups: [String],
        program: String
    ) {
        self.request = request
        self.error = error
        self.rows = rows
        self.groups = groups
        self.nameableGroups = nameableGroups
        self.program = program
    }

    package var encoded: [UInt8] {
        var message = Latchkey_CallRecord()
        message.request = request.message(number: 0)
        if let error { message.failure = Latchkey_Failure(error) }
        message.rows = UInt64(rows)
        message.groups = groups
        message.nameableGroups = nameableGroups
        message.program = program
        return message.wireBytes
    }

    package init(encoded bytes: [UInt8]) throws(WireFault) {
        let message: Latchkey_CallRecord = try decodeMessage(bytes)
        let fields = try RequestFields(message.request)
        request = KeychainRequest(fields.operation, query: fields.query, changes: fields.changes)
        error = message.hasFailure ? message.failure.keychainError : nil
        rows = Int(clamping: message.rows)
        groups = message.groups
        nameableGroups = message.nameableGroups
        program = message.program
    }
}
