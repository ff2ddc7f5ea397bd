@_implementationOnly import CCallProbe

/// What the machine that runs the tests has to confine a process with. An older kernel,
/// or a container's policy, takes some of it away, and with it the tests of that.
package enum RunningKernel {
    /// The version of Landlock, 0 for none: 4 restricts the network, 6 signals.
    package static let landlock = probe_landlock()
    package static let hasMDWE = probe_has_mdwe() == 1
    package static let hasHiddenMemory = probe_has_hidden_memory() == 1
    package static let hasFilters = probe_has_filters() == 1

    /// Root, where a container does not forbid it.
    package static let mayMount = probe_may_mount() == 1

    /// Everything that Linux 6.12 has.
    package static let confines = landlock >= 6 && hasMDWE && hasHiddenMemory && hasFilters
}
