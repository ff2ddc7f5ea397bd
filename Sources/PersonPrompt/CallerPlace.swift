package import KeychainPlatform

/// Where a person can be asked on behalf of a process: its own login session, its
/// own terminal, and nowhere else.
package struct CallerPlace: Sendable {
    package let display: GraphicalSession?
    package let terminal: CallerTerminal?
    /// Why there is no terminal.
    package let noTerminal: NobodyToAsk?
    package let variables: SessionVariables

    /// - Parameter record: its `/proc/PID/stat`, open; nil: nobody held it open.
    /// - Throws: where the process has ended or is another user's.
    package init(
        of process: Int32, in places: PromptPlaces, record: Descriptor? = nil
    ) throws(NobodyToAsk) {
        let folder = try CallerFolder(of: process, in: places, held: record)
        variables = folder.environment.map(SessionVariables.init) ?? SessionVariables()
        display = GraphicalSession(variables, in: places)
        do throws(NobodyToAsk) {
            terminal = try Self.terminal(of: folder, in: places)
            noTerminal = nil
        } catch {
            terminal = nil
            noTerminal = error
        }
    }

    private static func terminal(
        of folder: CallerFolder, in places: PromptPlaces
    ) throws(NobodyToAsk) -> CallerTerminal {
        guard folder.record.terminal != 0 else { throw NobodyToAsk("it has neither a display nor a terminal") }
        guard folder.record.isInForeground else {
            throw NobodyToAsk("it runs in the background of its terminal")
        }
        guard folder.leaderSharesTerminal() else {
            throw NobodyToAsk("its terminal belongs to another container")
        }
        return try CallerTerminal(number: folder.record.terminal, in: places)
    }
}
