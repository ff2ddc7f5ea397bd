package import KeychainPlatform

/// Whose a connection is, as the bus or, where there is none, the kernel tells it.
package enum BusCaller: Sendable {
    /// A process that is held. It may have ended by now; no other is taken for it.
    case held(ProcessHandle, number: Int32)
    /// One that had ended when it was asked for; 0: whose number nobody tells any more.
    case ended(number: Int32)
    /// A bare number, which may be another process's by now.
    case numbered(Int32)
    /// Nobody tells, or what is told does not agree.
    case unknown

    /// The process at the other end of a connection that was accepted.
    package init(of connection: PacketSocket) {
        do throws(SystemCallError) {
            let number = try connection.peerCredentials().pid
            guard number > 0 else {
                self = .unknown
                return
            }
            do throws(SystemCallError) {
                self = try ProcessHandle.peer(of: connection).map { .held($0, number: number) } ?? .numbered(number)
            } catch { self = error.isOfEndedProcess ? .ended(number: number) : .unknown }
        } catch { self = .unknown }
    }

    /// The process to ask a person for; nil where it has ended, or nobody tells which it is.
    package var process: Int32? {
        switch self {
        case .held(let handle, let number): handle.isAlive ? number : nil
        case .numbered(let number): number
        case .ended, .unknown: nil
        }
    }

    /// The process, held from now on; nil where it has ended, or nobody tells which it is.
    package func hold() throws(SystemCallError) -> ProcessHandle? {
        switch self {
        case .held(let handle, _): handle.isAlive ? handle : nil
        case .numbered(let number): try ProcessHandle.ifThere(number)
        case .ended, .unknown: nil
        }
    }
}

extension SystemCallError {
    /// ESRCH, or EINVAL: what Linux 6.5 answers to SO_PEERPIDFD for one that has been waited for.
    fileprivate var isOfEndedProcess: Bool { errno == 3 || errno == 22 }
}

extension BusCaller {
    /// What a bus answers to GetConnectionCredentials (D-Bus Specification 0.43). Where it
    /// gives a process descriptor nothing but that counts: one that is none, or is of another
    /// process than the number, tells nothing, and neither does a descriptor that did not come.
    init(credentials: [BusValue]) {
        guard case .array(_, let entries)? = credentials.first, credentials.count == 1 else {
            self = .unknown
            return
        }
        var (number, descriptor): (BusValue?, BusValue?) = (nil, nil)
        for case .entry(.string(let name), .variant(let value)) in entries {
            switch name {
            case "ProcessID" where number == nil: number = value
            case "ProcessFD" where descriptor == nil: descriptor = value
            case "ProcessID", "ProcessFD":
                self = .unknown
                return
            default: break
            }
        }
        let process = number.flatMap(\.processNumber)
        switch descriptor {
        case nil: self = process.map { .numbered($0) } ?? .unknown
        case .descriptor(let given)?: self = Self.caller(by: given, process)
        default: self = .unknown
        }
    }

    private static func caller(by given: Descriptor, _ process: Int32?) -> BusCaller {
        do throws(SystemCallError) {
            guard let handle = try ProcessHandle.given(given) else { return .unknown }
            guard let number = try handle.number() else {
                return handle.isAlive ? .unknown : .ended(number: process ?? 0)
            }
            return process == nil || process == number ? .held(handle, number: number) : .unknown
        } catch { return .unknown }
    }

    /// What a bus answers to GetConnectionUnixProcessID.
    init(processID: [BusValue]) {
        self = processID.first.flatMap(\.processNumber).map { .numbered($0) } ?? .unknown
    }
}

extension BusValue {
    fileprivate var processNumber: Int32? {
        guard case .uint32(let number) = self, number > 0 else { return nil }
        return Int32(exactly: number)
    }
}
