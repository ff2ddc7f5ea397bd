internal import KeychainPlatform

/// Waits until a program has said something.
enum OutputWait {
    /// - Throws: `timedOut`; `calledOff` where one of `calledOffBy` is readable.
    static func words(
        on output: Descriptor, orUntil calledOffBy: [Descriptor], until deadline: Deadline
    ) throws(PromptFailure) {
        let ready: Int?
        do throws(SystemCallError) {
            ready = try waitForAny(of: calledOffBy + [output], until: deadline)
        } catch { throw .broken(.deaf) }
        guard let ready else { throw .timedOut }
        if ready < calledOffBy.count { throw .calledOff }
    }
}
