package import KeychainPlatform

/// What carries the two messages of a hello. The daemon makes one of its
/// message channel: the nonce is the tail of a frame without header.
package protocol HelloChannel {
    var socket: PacketSocket { get }

    func send(nonce: [UInt8], until deadline: Deadline) throws(PeerRefusal)

    /// The next message, or nil where the peer has closed.
    ///
    /// - Throws: ``PeerRefusal/tooLate``, ``PeerRefusal/tooManyDescriptors`` or
    ///   ``PeerRefusal/malformed``.
    func receiveAnswer(until deadline: Deadline) throws(PeerRefusal) -> HelloAnswer?
}

/// A peer that answered.
package struct GreetedPeer: Sendable {
    package let process: PeerProcess
    package let identity: PeerIdentity
    /// The client's hello, still to be decoded.
    package let header: [UInt8]
}

/// Greets connections: everything that has to happen, in its order, before a
/// request is read from one.
package struct HelloServer: Sendable {
    private let features: KernelFeatures
    private let proc: ProcRoot
    private let naming: AdHocNaming

    package init(features: KernelFeatures, proc: ProcRoot, naming: AdHocNaming) {
        self.features = features
        self.proc = proc
        self.naming = naming
    }

    /// Looks at the peer, then asks it and waits for its answer.
    ///
    /// - Throws: why the connection has to be closed. The caller closes it.
    package func greet(_ channel: some HelloChannel, until deadline: Deadline) throws(PeerRefusal) -> GreetedPeer {
        let process = try PeerProcess.identify(channel.socket, features: features, proc: proc)
        let identity = PeerIdentity(of: process, naming: naming)
        var exchange = HelloExchange(with: process, nonce: Random.bytes(HelloExchange.nonceByteCount))
        let hasSpoken = channel.socket.hasArrived
        var outcome = exchange.handle(.identified(hasSpoken: hasSpoken))
        while true {
            switch outcome {
            case .challenge(let nonce):
                try channel.send(nonce: nonce, until: deadline)
                let answer = try channel.receiveAnswer(until: deadline)
                outcome = exchange.handle(answer.map(HelloExchange.Event.answered) ?? .closed)
            case .accept(let header): return GreetedPeer(process: process, identity: identity, header: header)
            case .refuse(let refusal): throw refusal
            }
        }
    }
}
