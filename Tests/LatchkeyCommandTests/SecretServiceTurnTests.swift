import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

/// `latchkey secret-service enable` and `disable` at the same time, in processes of their own.
struct SecretServiceTurnTests {
    private let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private var file: String { programs.home + "/data/dbus-1/services/org.freedesktop.secrets.service" }
    private var lock: String { programs.home + "/data/\(SecretServiceEnabling.lockName)" }

    private func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func start(_ verb: String) throws -> TestProcess { try start([verb]) }

    private func start(_ arguments: [String]) throws -> TestProcess {
        let process = programs.start(BuiltPrograms.latchkey, ["secret-service"] + arguments)
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Whether somebody waits for the lock on that file (proc_locks(5): "->").
    private func isWaitedFor() throws -> Bool { try isWaitedFor(lock) }

    private func isWaitedFor(_ lock: String) throws -> Bool {
        let inode = try FileStatus(at: FilePath(lock), followingLink: false).identity.inode
        let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
        return locks.contains { $0.contains("->") && $0.contains(":\(inode) ") }
    }

    private func held() throws -> NamedLock { try held(lock) }

    private func held(_ lock: String) throws -> NamedLock {
        try #require(
            try NamedLock.take(FilePath(lock), until: Deadline(after: .seconds(10), on: SystemClock())))
    }

    @Test func enableWaitsForWhoeverChangesItNow() throws {
        var turn: NamedLock? = try held()
        let enable = try start("enable")
        #expect(try BuiltPrograms.eventually(isWaitedFor))
        #expect(enable.isRunning && !has(file))
        withExtendedLifetime(turn) {}
        turn = nil
        enable.waitUntilExit()
        #expect(enable.terminationStatus == 0 && has(file) && !has(lock))
    }

    @Test func disableWaitsForWhoeverChangesItNow() throws {
        #expect(try programs.latchkey("secret-service", "enable").status == 0)
        var turn: NamedLock? = try held()
        let disable = try start("disable")
        #expect(try BuiltPrograms.eventually(isWaitedFor))
        #expect(disable.isRunning && has(file))
        withExtendedLifetime(turn) {}
        turn = nil
        disable.waitUntilExit()
        #expect(disable.terminationStatus == 0 && !has(file) && !has(lock))
    }

    /// Of two data folders with one folder of units, which have a file of ours by then.
    @Test(arguments: [["enable", "--replace"], ["disable"]])
    func whoeverChangesTheSameUnitsWaits(_ arguments: [String]) throws {
        let config = programs.home + "/config"
        let lock = "\(config)/\(SecretServiceEnabling.unitLockName)"
        let unit = "\(config)/systemd/user/\(SecretServiceUnits.service)"
        try FileManager.default.createDirectory(atPath: "\(config)/systemd/user", withIntermediateDirectories: true)
        try Data("\(SecretServiceUnits.mark)\n".utf8).write(to: URL(filePath: unit))
        var turn: NamedLock? = try held(lock)
        let change = try start(arguments)
        #expect(try BuiltPrograms.eventually { try isWaitedFor(lock) })
        let waiting = try String(contentsOfFile: unit, encoding: .utf8)
        #expect(change.isRunning && waiting == "\(SecretServiceUnits.mark)\n")
        withExtendedLifetime(turn) {}
        turn = nil
        change.waitUntilExit()
        #expect(change.terminationStatus == 0 && has(unit) == (arguments[0] == "enable") && !has(lock))
    }

    @Test func allThatAreStartedAtOnceSucceed() throws {
        for verb in ["enable", "disable", "enable"] {
            let processes = try (0..<6).map { _ in try start(verb) }
            for process in processes {
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
            }
            #expect(has(file) == (verb == "enable") && !has(lock))
        }
    }

    /// What says whose a mask is becomes longer once the link is there, and does not fit any more.
    @Test func anEnableThatFailsBehindAMaskLeavesNone() throws {
        let units = programs.home + "/config/systemd/user"
        let unit = "\(units)/\(SecretServiceUnits.service)"
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
        // No manager answers: with a unit of ours it is still systemd's to start the service.
        try Data("\(SecretServiceUnits.mark)\n".utf8).write(to: URL(filePath: unit))
        #expect(try programs.latchkey("secret-service", "enable", "--replace").status == 0)
        let masks = UnitMask.ofGnomeKeyring.map { UnitMask(name: $0, folder: units) }
        let size = try Data(contentsOf: URL(filePath: "\(masks[0].path).masked-by-latchkey")).count
        for mask in masks { #expect(try mask.remove()) }
        let before = FolderContent.names(at: units)
        #expect(before == [SecretServiceUnits.service])
        for limit in [size - 1, size] {
            // SIGXFSZ would end it.
            let enabled = try programs.run(
                "/bin/sh",
                [
                    "-c", "trap '' XFSZ; exec prlimit --fsize=$0: \"$@\" >/dev/null 2>&1", "\(limit)",
                    BuiltPrograms.latchkey, "secret-service", "enable",
                ])
            let isWhole = limit == size
            #expect((enabled.status == 0) == isWhole)
            #expect(FolderContent.names(at: units).count == before.count + (isWhole ? 4 : 0))
        }
    }

    /// One that was killed leaves its file, and keeps nobody.
    @Test func aLockOfNobodysIsTakenAway() throws {
        try Data().write(to: URL(filePath: lock))
        #expect(try programs.latchkey("secret-service", "enable").status == 0)
        #expect(has(file) && !has(lock))
    }
}
