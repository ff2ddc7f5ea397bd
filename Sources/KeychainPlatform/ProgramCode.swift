@_implementationOnly import CLatchkeyPlatform
internal import Synchronization

/// The code of this program, and of the libraries that it has loaded, in its own memory.
package enum ProgramCode {
    private static let calls = Atomic(0)
    /// By then the Swift runtime has looked up the types that calls go through, for which it goes
    /// through all of a program's.
    private static let settledAfter = 64

    /// Lets go of all of it, for a server that has started: most of what a start goes through is
    /// never called again, and counts as the process's memory for as long as it lives.
    ///
    /// What is called next comes back page by page, from the kernel's cache of files and, where
    /// that has let go of it as well, from the disk. No data is touched (madvise(2),
    /// MADV_DONTNEED, of mappings that are executable and not writable).
    package static func letGo() { lk_let_go_of_code() }

    /// A server has begun one more call: once more after the first of them.
    package static func noteCall() {
        if calls.add(1, ordering: .relaxed).newValue == settledAfter { letGo() }
    }
}
