import Foundation
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt
import Testing

/// What a pinentry may do to us. None is asked for longer than the deadline allows.
@Suite struct PinentryTests {
    private let clock = ManualClock()
    private let form = PromptForm(description: "First\nSecond 100%", error: "Wrong.", okay: "Allow")

    private var deadline: Deadline { Deadline(after: .seconds(60), on: clock) }

    private func typed(_ screen: Pinentry) throws -> [UInt8] {
        let secret = try screen.ask(form, until: deadline)
        return secret.insecureArray()
    }

    private func failure(_ screen: Pinentry) -> PromptFailure? {
        do throws(PromptFailure) {
            _ = try screen.ask(form, until: deadline)
            return nil
        } catch { return error }
    }

    @Test func formIsSpelledOutAndTheAnswerUnescaped() throws {
        let fake = try FakePinentry(getPin: "printf 'S BUTTON\\nD pa%%25ss\\nD %%0Aword\\nOK\\n'")
        let screen = fake.screen()
        #expect(try typed(screen) == Array("pa%ss\nword".utf8))
        #expect(
            fake.heard == [
                "OPTION grab", "SETTIMEOUT 60", "SETTITLE Latchkey", "SETOK Allow", "SETCANCEL Cancel",
                "SETERROR Wrong.", "SETDESC First%0ASecond 100%25", "SETPROMPT Passcode:", "GETPIN",
            ])
        screen.close()
        #expect(fake.isGone)
    }

    @Test func oneProgramAsksAgain() throws {
        let fake = try FakePinentry(getPin: "n=x$n; echo D $n; echo OK")
        let screen = fake.screen()
        #expect(try typed(screen) == Array("x".utf8))
        #expect(try typed(screen) == Array("xx".utf8))
        screen.close()
    }

    @Test func unknownCommandsAreNoHarm() throws {
        let fake = try FakePinentry(
            getPin: "echo D a; echo OK",
            other: "case $line in SETDESC*) echo OK;; *) echo ERR 536871187 Unknown IPC command;; esac")
        #expect(try typed(fake.screen()) == Array("a".utf8))
    }

    @Test(arguments: [
        ("echo ERR 83886179 canceled", PromptFailure.canceled), ("echo ERR 83886278 fully", .canceled),
        ("echo ERR 83886194 no", .canceled), ("echo ERR 83886142 late", .timedOut),
        ("exit 1", .broken(.ended)), ("kill -SEGV $$", .broken(.ended)), ("echo D a; exit", .broken(.ended)),
        ("echo Hello", .broken(.unknownLine)), ("echo 'D %4'", .broken(.badEscape)), ("echo ERR x", .broken(.badCode)),
        ("yes '#'", .broken(.tooManyLines)), ("tr '\\0' x < /dev/zero", .broken(.lineTooLong)),
        ("cat /dev/urandom", .broken(.lineTooLong)),
    ])
    func hostileAnswerIsAFailure(_ script: String, _ expected: PromptFailure) throws {
        let fake = try FakePinentry(getPin: script)
        let failure = failure(fake.screen())
        // Noise is nonsense of one kind or another.
        if script.contains("urandom") {
            guard case .broken = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        } else {
            #expect(failure == expected)
        }
        #expect(fake.isGone)
    }

    @Test func otherErrorSaysThatItCannotAsk() throws {
        let fake = try FakePinentry(getPin: "echo ERR 83886381 Window too small")
        #expect(failure(fake.screen()) == .unable(why: "\(fake.path) cannot ask here (GnuPG's error 301)"))
    }

    @Test func programThatCannotBeStartedIsSaid() {
        let program = Pinentry.Program(
            path: "/nowhere/pinentry", environment: [], options: [], repertoire: .ascii, width: .columns(80))
        guard case .unable = failure(Pinentry(program, calledOffBy: [])) else {
            Issue.record("it started")
            return
        }
    }

    @Test func passcodeOfTenMegabytesIsRefused() throws {
        let fake = try FakePinentry(
            getPin: "head -c 10000000 /dev/zero | tr '\\0' a | fold -w 900 | sed 's/^/D /'; echo; echo OK")
        #expect(failure(fake.screen()) == .broken(.tooManyLines))
        #expect(fake.isGone)
    }

    @Test func passcodeThatIsTooLongMayBeTypedAgain() throws {
        let fake = try FakePinentry(
            getPin:
                "if [ \"$again\" ]; then echo D short; else head -c 4000 /dev/zero | tr '\\0' a | fold -w 900 | sed 's/^/D /'; echo; again=1; fi; echo OK"
        )
        let screen = fake.screen()
        #expect(failure(screen) == .tooLong)
        #expect(try typed(screen) == Array("short".utf8))
    }

    @Test(arguments: ["", "echo OK"])
    func programThatHangsEndsWithTheTime(greeting: String) throws {
        let fake = try FakePinentry(greeting: greeting, getPin: "trap '' TERM; sleep 1000 & wait")
        if greeting.isEmpty {
            clock.advanceLater(by: .seconds(61))
        } else {
            let folder = fake.folder
            clock.advanceLater(by: .seconds(61)) {
                FileManager.default.contents(atPath: folder.path("heard")).map {
                    String(decoding: $0, as: UTF8.self).contains("GETPIN")
                } ?? false
            }
        }
        #expect(failure(fake.screen()) == .timedOut)
        #expect(fake.isGone)
    }

    @Test func answerThatNobodyAskedForIsNonsense() throws {
        let fake = try FakePinentry(greeting: "printf 'OK\\nD other\\nOK\\n'", getPin: "echo D a; echo OK")
        #expect(failure(fake.screen()) == .broken(.unknownLine))
        #expect(fake.isGone)
    }

    @Test func programThatTakesNothingIsNotWaitedForBeyondItsTime() throws {
        let fake = try FakePinentry(greeting: "echo OK; exec sleep 1000", getPin: "")
        clock.advanceLater(by: .seconds(61))
        #expect(failure(fake.screen()) == .timedOut)
        #expect(fake.isGone)
    }

    @Test func whoeverCallsItOffIsHeard() throws {
        let fake = try FakePinentry(getPin: "sleep 1000 & wait")
        let signal = try EventSignal()
        let folder = fake.folder
        Waiting.meanwhile {
            _ = Waiting.eventually { FileManager.default.fileExists(atPath: folder.path("heard")) }
            signal.signal()
        }
        #expect(failure(fake.screen(calledOffBy: [signal.descriptor])) == .calledOff)
        #expect(fake.isGone)
    }

    @Test func nothingIsLeftOfAPromptThatIsDropped() throws {
        let fake = try FakePinentry(getPin: "echo D a; echo OK")
        do {
            let screen = fake.screen()
            _ = try typed(screen)
        }
        #expect(fake.isGone)
    }

    @Test func programGetsNothingOfOurs() throws {
        let fake = try FakePinentry(
            getPin: "echo D $(ls /proc/self/fd | tr '\\n' ,) $(env | cut -d= -f1 | sort | tr '\\n' ,) $(pwd); echo OK")
        #expect(try String(decoding: typed(fake.screen()), as: UTF8.self) == "0,1,2,3, LANG,PATH,PWD, /")
    }
}
