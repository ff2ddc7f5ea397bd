internal import FoundationEssentials
package import KeychainMessages
package import KeychainModel

extension Latchkey_WireAttribute {
    package init(_ code: AttributeCode, _ value: AttributeValue) {
        self.init()
        self.code = code.rawValue
        switch value {
        case .string(let text): self.text = text
        case .data(let bytes): data = Data(bytes)
        case .integer(let number): integer = number
        case .real(let number): real = number
        case .date(let seconds): date = seconds
        }
    }

    /// nil where a newer program wrote a kind of value we do not know.
    package var attributeValue: AttributeValue? {
        switch value {
        case .text(let text): .string(text)
        case .data(let bytes): .data(Array(bytes))
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .date(let seconds): .date(seconds)
        case nil: nil
        }
    }
}
