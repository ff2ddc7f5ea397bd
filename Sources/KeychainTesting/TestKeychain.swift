@_implementationOnly import CKeychainTesting
internal import KeychainClient
internal import KeychainModel
internal import KeychainProtocol

/// A keychain for tests: Latchkey's real engine in this process, over a
/// temporary folder of its own.
///
/// Give each test its own, and call the keychain inside a scope:
///
/// ```swift
/// @Test func remembersTheToken() throws {
///     let keychain = try TestKeychain()
///     try keychain.withScope {
///         try TokenStore().save("secret")          // calls SecItemAdd
///         #expect(try TokenStore().load() == "secret")
///     }
/// }
/// ```
///
/// A scope belongs to its task and the task's children, so tests that run at the
/// same time never see each other's items. Code that calls the keychain from
/// threads and queues of its own is out of the scope's reach: use ``install()``.
///
/// Once KeychainTesting is linked into a program, no call of that program can
/// reach the user's own keychain: a SecItem call outside any scope answers
/// errSecNotAvailable, and the first one says so on standard error.
///
/// Everything is as with the daemon, statuses included, except that keys live in
/// this process and nobody is asked for a passcode. What was stored is removed
/// when the keychain and its scopes are gone.
///
/// Each has about a dozen files open until it is gone or closed (``close()``). The first
/// one raises the number of files that the process may have open (the soft RLIMIT_NOFILE,
/// often 1 024) to the hard limit, 65 536 at the most.
public final class TestKeychain: Sendable {
    /// The program that calls where no other is named.
    public let entitlements: TestEntitlements
    /// The clock that dates items.
    public let clock: TestClock
    let machine: TestMachine

    /// An empty keychain.
    ///
    /// - Parameters:
    ///   - entitlements: what the calling program is entitled to.
    ///   - clock: dates items; stands until the test moves it.
    /// - Throws: ``TestKeychainError`` where the temporary folder cannot be used.
    public init(
        entitlements: TestEntitlements = .default, clock: TestClock = TestClock()
    ) throws(TestKeychainError) {
        precondition(lk_testing_anchor() == 1, "KeychainTesting is not linked whole")
        self.entitlements = entitlements
        self.clock = clock
        DescriptorLimit.raised
        do throws(KeychainError) { machine = try TestMachine(clock: clock) } catch {
            throw DescriptorLimit.explained(error)
        }
    }

    /// Where its files are.
    package var folder: String { machine.path }

    /// Removes what killed test processes left behind; done once in a process
    /// anyway.
    package static func sweep() { TestFolder.sweep() }

    func program(_ entitlements: TestEntitlements) -> ProgramKeychain { ProgramKeychain(machine, entitlements) }

    /// Stops the keychain: every later call answers errSecNotAvailable. Without
    /// it the keychain stops when nothing refers to it any more.
    public func close() {
        uninstall()
        machine.close()
    }

    // MARK: The whole process

    /// Makes this the keychain of every call outside a scope, on whatever thread,
    /// in place of the one that was installed before.
    ///
    /// For code that calls the keychain from threads of its own. Tests that
    /// install a keychain must not run at the same time.
    public func install() { install(as: entitlements) }

    /// As ``install()``, with the calls made by another program.
    public func install(as other: TestEntitlements) { CurrentKeychain.install(program(other)) }

    /// Takes this keychain away from calls outside a scope, if it was installed.
    public func uninstall() {
        CurrentKeychain.uninstall { ($0 as? ProgramKeychain)?.machine === machine }
    }
}

extension TestKeychainError {
    /// Gives the engine's failure its public form.
    static func translating<R>(_ body: () throws(KeychainError) -> R) throws(TestKeychainError) -> R {
        do throws(KeychainError) { return try body() } catch { throw TestKeychainError(error) }
    }
}
