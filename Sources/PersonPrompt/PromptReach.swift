/// Whether anybody could be asked on behalf of a process.
package enum PromptReach {
    /// Whether there is a display, a terminal or an agent to ask on now. Nothing is shown.
    package static func canAsk(for process: Int32, in places: PromptPlaces = PromptPlaces()) -> Bool {
        do throws(NobodyToAsk) {
            let place = try CallerPlace(of: process, in: places)
            return try !PromptWays(from: place, in: places, calledOffBy: []).screens.isEmpty
        } catch { return false }  // why not is for the prompt to say
    }
}
