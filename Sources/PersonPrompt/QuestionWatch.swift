package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What becomes of a question while a person is asked, by a finger for one.
package protocol QuestionWatch: AnyObject {
    /// Readable once there is news that was waited for.
    var descriptor: Descriptor { get }

    /// Has ``news()`` come, whenever there is some.
    ///
    /// - Parameter number: of what is known; 0: nothing.
    func awaitNews(after number: UInt64) throws(KeychainError)

    /// What was waited for.
    func news() throws(KeychainError) -> QuestionNews
}

extension RemotePersonDoor: QuestionWatch {}
