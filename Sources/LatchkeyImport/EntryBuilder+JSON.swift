extension EntryBuilder {
    /// The text of a value where there should be one; anything else is named.
    mutating func text(_ field: String, _ node: JSONNode) -> SecretText? {
        if node.isBlank { return nil }
        if let text = node.secretText { return text }
        take(field, SecretText("…"), as: .notStored(why: "not text"))
        return nil
    }

    mutating func take(_ field: String, _ node: JSONNode, as destination: FieldDestination) {
        if let text = text(field, node) { take(field, text, as: destination) }
    }

    /// A value, or each of those in it, as lines of the note. The name of a line tells
    /// where it stood: `address / city`.
    mutating func take(leaves node: JSONNode, of field: String, as name: String = "") {
        if let text = node.secretText { return take(line: name.isEmpty ? field : name, of: field, text) }
        for member in node.members where !member.value.isBlank {
            let inner = name.isEmpty ? member.name : "\(name) / \(member.name)"
            take(leaves: member.value, of: "\(field).\(member.name)", as: inner)
        }
        for element in node.elements where !element.isBlank {
            take(leaves: element, of: field, as: name.isEmpty ? "field" : name)
        }
    }
}
