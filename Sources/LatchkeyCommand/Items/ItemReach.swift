internal import ArgumentParser

/// Whose items a command works on. Beyond its own groups the command line is a
/// person's deputy: with a passcode the daemon has that person agree first.
package enum ItemReach: Sendable, Hashable {
    /// The command line's own, in the group `latchkey`: nobody is asked.
    case own
    /// Those of one access group.
    case group(String)
    /// Those of every group.
    case everyGroup
}

/// The option of commands that work in one group.
struct GroupOption: ParsableArguments {
    @Option(help: ArgumentHelp("Work in this access group instead of \"latchkey\".", valueName: "group"))
    var group: String?

    var reach: ItemReach { group.map { .group($0) } ?? .own }

    mutating func validate() throws {
        if group?.isEmpty == true { throw ValidationError("--group needs the name of an access group.") }
    }
}

/// The options of commands that look for items.
struct ReachOptions: ParsableArguments {
    @OptionGroup var place: GroupOption

    @Flag(
        name: [.customLong("all"), .customLong("all-groups")],
        help: "Look in the access groups of every program.")
    var everyGroup = false

    var reach: ItemReach { everyGroup ? .everyGroup : place.reach }

    mutating func validate() throws {
        if everyGroup, place.group != nil { throw ValidationError("--all is every group: leave out --group.") }
    }
}

extension GroupOption {
    /// What the help of each of these commands says of it.
    static let help = """
        --group names the access group of another program, as `info` and `list --all` show it. \(ReachOptions.presence)
        """
}

extension ReachOptions {
    static let help = """
        --group names the access group of another program, as `info` and `list --all` show it, and --all looks \
        in all of them. \(presence)
        """

    fileprivate static let presence = """
        With a passcode that needs a person who agrees, in the terminal (this program hides its surroundings, \
        so that no window is found to ask in); \
        an agreement counts for five minutes in the same terminal session, until the keychain is locked. \
        Without one nobody is asked.
        """
}
