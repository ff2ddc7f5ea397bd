/// A property that does not hold.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What must hold for every input.
func claim(_ condition: Bool, _ text: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(text()) }
}

/// What must be there for every input.
func claimed<T>(_ value: T?, _ text: @autoclosure () -> String) throws(Finding) -> T {
    guard let value else { throw Finding(text()) }
    return value
}
