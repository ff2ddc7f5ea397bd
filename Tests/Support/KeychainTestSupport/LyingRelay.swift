internal import Foundation

/// Sits between a software TPM and whoever talks to it, at the TPM's own address, and answers
/// one command with an error in its place: as somebody on the way can, because an error
/// carries no proof of who says it.
package final class LyingRelay: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let process = TestProcess()
    private let sockets: [String]
    private let hold = Pipe()

    private static let python = "/usr/bin/python3"
    package static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// - Parameters:
    ///   - command: TPM_CC (TPM 2.0 Library, Part 2, 6.5.2).
    ///   - code: TPM_RC that it is answered with.
    ///   - refusals: so many are answered so and not handed on, and all later ones are handed on
    ///     and answered by the TPM; nil: all are handed on, and answered so.
    package init(
        before tpm: SoftwareTPM, answering command: UInt32, with code: UInt32, refusing refusals: Int? = nil,
        isHolding: Bool = false
    ) throws {
        sockets = [tpm.socket, tpm.socket + ".ctrl"]
        for name in sockets { try FileManager.default.moveItem(atPath: name, toPath: name + ".real") }
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [
            "-c", Self.source, tpm.socket, "\(command)", "\(code)", "\(refusals ?? -1)", isHolding ? "1" : "0",
        ]
        process.standardInput = hold
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // It says so once it listens.
        guard try output.fileHandleForReading.read(upToCount: 1)?.isEmpty == false else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    /// A TPM that does one command after the other, and takes its time for the first of that
    /// sort: until ``release()``.
    package static func holding(_ command: UInt32, before tpm: SoftwareTPM) throws -> LyingRelay {
        try LyingRelay(before: tpm, answering: command, with: 0, refusing: 0, isHolding: true)
    }

    package func release() throws { try hold.fileHandleForWriting.close() }

    deinit { process.killNow() }

    /// The TPM answers itself again.
    package func end() throws {
        process.killNow()
        for name in sockets {
            try FileManager.default.removeItem(atPath: name)
            try FileManager.default.moveItem(atPath: name + ".real", toPath: name)
        }
    }

    private static let source = """
        import select, socket, struct, sys, threading

        path, command, code, refusals, holds = sys.argv[1], *map(int, sys.argv[2:6])
        turn = threading.Lock()


        def whole(end):
            # Commands and responses begin with tag, size of all, and a code (Part 1, 18).
            message = b''
            while len(message) < 10 or len(message) < struct.unpack('>I', message[2:6])[0]:
                more = end.recv(4096)
                if not more:
                    return None
                message += more
            return message


        def converse(one, other):
            while (asked := whole(one)) is not None:
                # Whoever asked may be gone by then: it is done all the same.
                with turn:
                    said = exchange(asked, other)
                if said is None:
                    return
                one.sendall(said)


        def exchange(asked, other):
            global refusals, holds
            isMeant = struct.unpack('>I', asked[6:10])[0] == command
            lie = struct.pack('>HII', 0x8001, 10, code)
            if isMeant and holds:
                holds = 0
                sys.stdin.read()
            if isMeant and refusals > 0:
                refusals -= 1
                return lie
            other.sendall(asked)
            said = whole(other)
            return lie if said and isMeant and refusals < 0 else said


        def pump(one, other):
            while True:
                for end in select.select([one, other], [], [])[0]:
                    said = end.recv(4096)
                    if not said:
                        return
                    (other if end is one else one).sendall(said)


        def serve(name, talk):
            door = socket.socket(socket.AF_UNIX)
            door.bind(name)
            door.listen(9)

            def answer(one):
                with one, socket.socket(socket.AF_UNIX) as other:
                    try:
                        other.connect(name + '.real')
                        talk(one, other)
                    except OSError:
                        pass

            def accept():
                while True:
                    threading.Thread(target=answer, args=(door.accept()[0],), daemon=True).start()

            return threading.Thread(target=accept)


        threads = [serve(path, converse), serve(path + '.ctrl', pump)]
        for thread in threads:
            thread.start()
        print('.', flush=True)
        """
}
