package import KeychainModel

/// What a person wrote down of who may reach what over the bus: a line for each collection
/// or schema that is not every program's (docs/secret-service-policy.md).
///
///     # comments and empty lines are nothing
///     collection work /usr/bin/evolution "/opt/an app/bin/app"
///     schema chrome_libsecret_os_crypt_password_v2 /usr/lib/chromium/chromium
///     schema com.example.Archive nobody
///
/// A program is the path of its executable as the kernel tells it of a bare process number.
/// That keeps out what does not try to get in: any program of the user can start an allowed
/// one and have it do its work, or have its number taken for another's. `nobody` holds
/// for all.
package struct SecretServicePolicy: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// By its name in object paths (`login` is the default one).
        case collection(String)
        /// By the attribute xdg:schema of its items.
        case schema(String)
    }

    /// By subject, the executables that may; what is not in it is everybody's.
    private let programs: [Subject: Set<String>]

    /// Nothing is written: everything is everybody's.
    package static let everybody = SecretServicePolicy(programs: [:])

    /// Bytes of a file at the most.
    package static let mostBytes = 64 * 1024
    private static let nobody = "nobody"

    private init(programs: [Subject: Set<String>]) { self.programs = programs }

    /// Why a policy is none.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let line: Int
        let what: String

        package var description: String { "line \(line): \(what)" }
    }

    package init(_ bytes: [UInt8]) throws(Fault) {
        var programs: [Subject: Set<String>] = [:]
        for (index, raw) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = PolicyLine(number: index + 1)
            guard let text = String(validating: raw, as: UTF8.self) else { throw line.fault("it is not UTF-8") }
            guard let (subject, allowed) = try line.rule(text) else { continue }
            guard programs.updateValue(allowed, forKey: subject) == nil else {
                throw line.fault("there is a line about that already")
            }
        }
        self.programs = programs
    }

    /// Whether a program may reach what the subject has; nil: nobody could tell which it is.
    package func admits(_ program: ServedProgram?, to subject: Subject) -> Bool {
        guard let allowed = programs[subject] else { return true }
        guard let path = program?.path, !path.isEmpty else { return false }
        return allowed.contains(path)
    }

    /// The executables that may reach what the subject has; nil: everybody.
    package func allowed(to subject: Subject) -> Set<String>? { programs[subject] }

    /// Every executable that is named, each once, in their order.
    package var namedPrograms: [String] { programs.values.reduce(into: Set()) { $0.formUnion($1) }.sorted() }

    /// Whether what items are has to be looked at before they are told of.
    package func limitsSchemas(of program: ServedProgram?) -> Bool {
        programs.keys.contains { subject in
            guard case .schema = subject else { return false }
            return !admits(program, to: subject)
        }
    }

    /// One line's words.
    private struct PolicyLine {
        let number: Int

        func fault(_ what: String) -> Fault { Fault(line: number, what: what) }

        /// nil where it says nothing.
        func rule(_ text: String) throws(Fault) -> (Subject, Set<String>)? {
            let words = try words(of: text)
            guard let kind = words.first else { return nil }
            guard words.count > 2 else {
                throw fault("it takes \"collection NAME PROGRAM...\" or \"schema NAME PROGRAM...\"")
            }
            return (try subject(kind, words[1]), try programs(words[2...]))
        }

        private func subject(_ kind: String, _ name: String) throws(Fault) -> Subject {
            switch kind {
            case "collection" where name == "default": throw fault("the default collection's name is login")
            case "collection" where CollectionName.isElement(name): return .collection(name)
            case "collection": throw fault("a collection's name has letters, digits and underscores alone")
            case "schema" where !name.isEmpty: return .schema(name)
            default: throw fault("it begins with neither \"collection\" nor \"schema\"")
            }
        }

        private func programs(_ words: ArraySlice<String>) throws(Fault) -> Set<String> {
            if words.elementsEqual([SecretServicePolicy.nobody]) { return [] }
            for word in words where !word.hasPrefix("/") {
                throw fault("a program is a path that begins with \"/\", and \"nobody\" stands alone")
            }
            return Set(words)
        }

        /// Between blanks, or in double quotes, in which a backslash takes the next character
        /// as it is.
        private func words(of text: String) throws(Fault) -> [String] {
            var words: [String] = []
            var rest = text[...].drop(while: Self.isBlank)
            while let first = rest.first, first != "#" {
                if first == "\"" {
                    words.append(try quoted(&rest))
                    guard rest.first.map(Self.isBlank) ?? true else { throw fault("a quote ends in a word") }
                } else {
                    let word = rest.prefix { !Self.isBlank($0) }
                    guard !word.contains("\"") else { throw fault("a quote begins in a word") }
                    words.append(String(word))
                    rest = rest.dropFirst(word.count)
                }
                rest = rest.drop(while: Self.isBlank)
            }
            return words
        }

        private func quoted(_ rest: inout Substring) throws(Fault) -> String {
            var word = ""
            rest = rest.dropFirst()
            while let character = rest.popFirst() {
                switch character {
                case "\"": return word
                case "\\":
                    guard let taken = rest.popFirst() else { throw fault("a quote has no end") }
                    word.append(taken)
                default: word.append(character)
                }
            }
            throw fault("a quote has no end")
        }

        private static func isBlank(_ character: Character) -> Bool {
            character == " " || character == "\t" || character == "\r"
        }
    }
}
