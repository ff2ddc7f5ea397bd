/// Names out of a source, as a message may show them.
enum PrintableName {
    /// Cut, and without what moves a terminal's cursor: a heading that is none may be anything.
    static func shown(_ name: String, atMost length: Int = 24) -> String {
        let short = name.unicodeScalars.prefix(length).map { scalar -> String in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{fffd}"
            default: String(scalar)
            }
        }
        return short.joined() + (name.unicodeScalars.count > length ? "…" : "")
    }
}
