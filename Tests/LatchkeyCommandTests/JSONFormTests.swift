import Foundation
import Testing

/// What --json of every command writes, against docs/json-forms.json, which programs
/// rely on: members, their order and their types.
@Suite struct JSONFormTests {
    let programs: BuiltPrograms
    private let text: String
    let forms: [String: Any]

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/json-forms.json")

    init() throws {
        programs = try BuiltPrograms()
        text = try String(contentsOf: Self.file, encoding: .utf8)
        forms = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Runs a command and compares what it wrote.
    func check(
        _ name: String, _ arguments: [String], input: String = "", status: Int32 = 0,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try programs.run(BuiltPrograms.latchkey, arguments + ["--json"], input: Data(input.utf8))
        try #require(outcome.status == status, "\(name): \(outcome.errors)", sourceLocation: location)
        for line in outcome.text.split(separator: "\n") {
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let form = try #require(forms[name], "\(name) has no form", sourceLocation: location)
            for difference in Self.differences(value, form, name) {
                Issue.record("\(difference)", sourceLocation: location)
            }
            expectOrder(String(line), of: form, name, location)
        }
    }

    /// Members stand as the form lists them: what a person reads stays put.
    func expectOrder(_ line: String, of form: Any, _ name: String, _ location: SourceLocation) {
        guard line.hasPrefix("{"), let start = text.range(of: "\n  \"\(name)\": ")?.upperBound else { return }
        let written = Self.topLevelMembers(line)
        let listed = Self.topLevelMembers(String(text[start...].prefix { $0 != "\n" })).map {
            $0.hasSuffix("+") ? String($0.dropLast()) : $0
        }
        #expect(written == listed.filter(written.contains), "\(name)", sourceLocation: location)
    }

    /// The names of an object's own members, in order.
    static func topLevelMembers(_ text: String) -> [String] {
        var names: [String] = []
        var (depth, isInString, isEscaped, word) = (0, false, false, "")
        for character in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isInString = false
                    continue
                }
                word.append(character)
                continue
            }
            switch character {
            case "\"": (isInString, word) = (true, "")
            case "{", "[": depth += 1
            case "}", "]":
                depth -= 1
                if depth == 0 { return names }
            case ":" where depth == 1: names.append(word)
            default: continue
            }
        }
        return names
    }

    /// Where a value is not of its form, in words.
    static func differences(_ value: Any, _ form: Any, _ path: String) -> [String] {
        switch form {
        case let members as [String: Any]:
            guard let object = value as? [String: Any] else { return ["\(path) is no object"] }
            let optional = Set(members.keys.filter { $0.hasSuffix("+") }.map { String($0.dropLast()) })
            let listed = Set(members.keys.map { $0.hasSuffix("+") ? String($0.dropLast()) : $0 })
            var found = Set(object.keys).subtracting(listed).map { "\(path).\($0) is not listed" }
            found += listed.subtracting(object.keys).subtracting(optional).map { "\(path).\($0) is missing" }
            for (key, value) in object {
                guard let member = members[key] ?? members["\(key)+"] else { continue }
                found += differences(value, member, "\(path).\(key)")
            }
            return found
        case let elements as [Any]:
            guard let array = value as? [Any] else { return ["\(path) is no array"] }
            return array.enumerated().flatMap { differences($1, elements[0], "\(path)[\($0)]") }
        case let type as String:
            return isOf(type, value) ? [] : ["\(path) is not \(type): \(value)"]
        default: return ["\(path): the form is no form"]
        }
    }

    static func isOf(_ type: String, _ value: Any) -> Bool {
        if type == "any" { return true }
        if type.hasSuffix("?") { return value is NSNull || isOf(String(type.dropLast()), value) }
        // A boolean of JSON is a number of its own kind.
        let isBoolean = (value as? NSNumber).map { unsafe String(cString: $0.objCType) == "c" } ?? false
        return switch type {
        case "string": value is String
        case "boolean": isBoolean
        case "integer":
            value is NSNumber && !isBoolean
                && (value as? NSNumber)?.doubleValue.rounded() == (value as? NSNumber)?.doubleValue
        case "object": value is [String: Any]
        default: false
        }
    }

    @Test func everyCommandWritesWhatItsFormSays() throws {
        try check("set", ["set", "mail", "alice"], input: "pw")
        try check("note", ["note", "codes"], input: "a\nb")
        try check("set", ["set", "--internet", "a.example", "bob"], input: "pw")
        try check("get", ["get", "mail", "alice"])
        try check("read", ["read", "mail/alice"])
        try check("inject", ["inject", "--out", programs.home + "/filled"], input: "{{ latchkey://mail/alice }}")
        try check("set", ["set", "totp", "--label", "x"], input: "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ")
        try check("get --otp", ["get", "--otp", "totp"])
        try check("read ?attribute=otp", ["read", "totp?attribute=otp"])
        try check("list", ["list"])
        try check("info", ["info", "mail", "alice"])
        try check("edit", ["edit", "mail", "alice", "--label", "Work", "--comment", "x"])
        try check("watch --position", ["watch", "--position"])
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        try check("rm", ["rm", "codes"])
        try check("watch", ["watch", "--after", position, "--count", "1"])
        try check("watch", ["watch", "--after", String(repeating: "0", count: 32) + "-7", "--count", "1"])
        try check("status", ["status"])
        try check("log", ["log"])
        try check("log --verify", ["log", "--verify"])
        try check("whocan", ["whocan", "mail", "alice"])
        try check("doctor", ["doctor"])
        try check("doctor --verify", ["doctor", "--verify"])
        try check("explain", ["explain"], input: "kSecClass: kSecClassGenericPassword\nkSecAttrService: \"mail\"\n")
        let csv = programs.home + "/in.csv"
        try Data("Title,URL,Username,Password,Notes,OTPAuth\nT,b.example,u,p,n,\nbroken\n,a.example,bob,other,,\n".utf8)
            .write(to: URL(fileURLWithPath: csv))
        try check("import", ["import", csv], status: 1)
        try check("export", ["export", "--insecure-plaintext", "--yes", programs.home + "/out.json"])
        try check("backup", ["backup", programs.home + "/b"])
        try check("restore", ["restore", "--replace", programs.home + "/b"])
        try check("app init", ["app", "init", "--identifier", "com.example.app", programs.home])
        try check("install", ["install", "--user"])
        try check("uninstall", ["uninstall", "--user"])
        try check("secret-service enable", ["secret-service", "enable"])
        try check("secret-service disable", ["secret-service", "disable"])
    }

    @Test func everyCommandOfAPersonWritesWhatItsFormSays() throws {
        try check("passcode set", ["passcode", "set"], input: "words")
        try check("autolock", ["autolock", "--after", "1h"], input: "words")
        try check("passcode change", ["passcode", "change"], input: "words\nother")
        try check("lock", ["lock"])
        try check("unlock", ["unlock"], input: "other")
        try check("status", ["status"])
        try check("passcode remove", ["passcode", "remove", "--yes"], input: "other")
        try check("erase", ["erase", "--yes"])
    }

    /// The forms name every command that takes --json.
    @Test func everyCommandHasAForm() throws {
        let commands = try programs.latchkey("--help").text.split(separator: "\n").drop { !$0.hasPrefix("SUBCOMMANDS") }
            .dropFirst().compactMap { line -> String? in
                guard line.hasPrefix("  "), !line.hasPrefix("   "), !line.hasPrefix("  See ") else { return nil }
                return line.split(separator: " ").first.map(String.init)
            }
        #expect(commands.count > 12)
        for command in commands
        where ![
            "temp", "completion", "app", "passcode", "recovery", "protector", "slot", "secret-service", "exec",
            "credential",
        ].contains(
            command)
        {
            #expect(forms[command] != nil, "\(command)")
            #expect(try programs.latchkey(command, "--help").text.contains("--json"), "\(command)")
        }
    }
}
