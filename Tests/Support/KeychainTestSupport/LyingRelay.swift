internal import Foundation

/// Sits between a software TPM and whoever talks to it, at the TPM's own address, and answers
/// one command with an error in its place: as somebody on the way can, because an error
/// carries no proof of who says it.
package final class LyingRelay: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let process = Process()
    private let sockets: [String]

    private static let python = "/usr/bin/python3"
    package static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// - Parameters:
    ///   - command: TPM_CC (TPM 2.0 Library, Part 2, 6.5.2).
    ///   - code: TPM_RC that it is answered with.
    package init(before tpm: SoftwareTPM, answering command: UInt32, with code: UInt32) throws {
        sockets = [tpm.socket, tpm.socket + ".ctrl"]
        for name in sockets { try FileManager.default.moveItem(atPath: name, toPath: name + ".real") }
        process.executableURL = URL(filePath: Self.python)
        process.arguments = ["-c", Self.source, tpm.socket, "\(command)", "\(code)"]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // It says so once it listens.
        guard try output.fileHandleForReading.read(upToCount: 1)?.isEmpty == false else {
            throw CocoaError(.fileReadUnknown)
        }
    }

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

        path, command, code = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


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
                other.sendall(asked)
                said = whole(other)
                if said is None:
                    return
                if struct.unpack('>I', asked[6:10])[0] == command:
                    said = struct.pack('>HII', 0x8001, 10, code)
                one.sendall(said)


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
