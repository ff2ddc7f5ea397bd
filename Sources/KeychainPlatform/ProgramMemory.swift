@_implementationOnly import CLatchkeyPlatform

/// What a server keeps in memory that it can do without: its own code and constants, those of the
/// libraries that it has loaded, and what its allocator holds for each thread.
package enum ProgramMemory {
    /// Lets go of all code, for a server that has started: most of what a start goes through is
    /// never called again, and counts as the process's memory for as long as it lives.
    ///
    /// What is called next comes back page by page, from the kernel's cache of files and, where
    /// that has let go of it as well, from the disk. No data is touched (madvise(2),
    /// MADV_DONTNEED, of segments that cannot be written).
    package static func letGoOfCode() { lk_let_go_of_code() }

    /// Has the kernel say later on which pages were written to: before a process hides
    /// (``Hardening/apply(_:)``), which is not let look at itself from then on.
    package static func openPageMap() { lk_open_page_map() }

    /// Lets go of what can be written and was not yet: constants that the loader may fill in, of
    /// which a start goes through most. For a server that has one thread, before it forks what
    /// would keep them too, once; it has opened its page map (``openPageMap()``). With other
    /// threads, and where the kernel does not say, nothing happens.
    package static func letGoOfUnwrittenData() { lk_let_go_of_unwritten_data() }

    /// Lets go of whole pages that the allocator has free between what is in use (malloc_trim(3)).
    package static func letGoOfFreePages() { lk_let_go_of_free_pages() }

    /// As many places to allocate from as there are processors, in place of one for nearly each
    /// thread, each of which keeps what its busiest moment took (mallopt(3), M_ARENA_MAX). Before
    /// the first thread.
    package static func shareArenas() { lk_share_arenas() }
}
