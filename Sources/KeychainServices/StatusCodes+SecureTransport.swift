// The result codes of SecureTransport (Apple, SecureTransport.h: open source up to -9851, the SDK's
// from -9852 on). Nothing here answers them; code for Apple's systems names them where it looks
// at the errors of a network. `SecCopyErrorMessageString` says "OSStatus N" for them.

/// The other side does not keep to the protocol. (-9800)
public var errSSLProtocol: OSStatus { -9800 }

/// The two sides have no cipher suite in common. (-9801)
public var errSSLNegotiation: OSStatus { -9801 }

/// The other side ended the connection with an alert. (-9802)
public var errSSLFatalAlert: OSStatus { -9802 }

/// Nothing to read or no room to write yet; not fatal. (-9803)
public var errSSLWouldBlock: OSStatus { -9803 }

/// The session to be resumed is not known. (-9804)
public var errSSLSessionNotFound: OSStatus { -9804 }

/// The connection was closed in good order. (-9805)
public var errSSLClosedGraceful: OSStatus { -9805 }

/// The connection was closed by an error. (-9806)
public var errSSLClosedAbort: OSStatus { -9806 }

/// The chain of certificates is not valid. (-9807)
public var errSSLXCertChainInvalid: OSStatus { -9807 }

/// A certificate is malformed. (-9808)
public var errSSLBadCert: OSStatus { -9808 }

/// A cryptographic operation failed. (-9809)
public var errSSLCrypto: OSStatus { -9809 }

/// An internal error. (-9810)
public var errSSLInternal: OSStatus { -9810 }

/// A module could not be attached. (-9811)
public var errSSLModuleAttach: OSStatus { -9811 }

/// The chain is valid, and its root is not trusted. (-9812)
public var errSSLUnknownRootCert: OSStatus { -9812 }

/// The chain leads to no root. (-9813)
public var errSSLNoRootCert: OSStatus { -9813 }

/// A certificate of the chain has expired. (-9814)
public var errSSLCertExpired: OSStatus { -9814 }

/// A certificate of the chain is not valid yet. (-9815)
public var errSSLCertNotYetValid: OSStatus { -9815 }

/// The other side closed the session without saying so. (-9816)
public var errSSLClosedNoNotify: OSStatus { -9816 }

/// The buffer is too small. (-9817)
public var errSSLBufferOverflow: OSStatus { -9817 }

/// There is no such cipher suite. (-9818)
public var errSSLBadCipherSuite: OSStatus { -9818 }

/// The peer received a message that it did not expect. (-9819)
public var errSSLPeerUnexpectedMsg: OSStatus { -9819 }

/// The peer received a record with a wrong MAC. (-9820)
public var errSSLPeerBadRecordMac: OSStatus { -9820 }

/// The peer could not decrypt a record. (-9821)
public var errSSLPeerDecryptionFail: OSStatus { -9821 }

/// The peer received a record that is too long. (-9822)
public var errSSLPeerRecordOverflow: OSStatus { -9822 }

/// The peer could not decompress a record. (-9823)
public var errSSLPeerDecompressFail: OSStatus { -9823 }

/// The peer could not finish the handshake. (-9824)
public var errSSLPeerHandshakeFail: OSStatus { -9824 }

/// The peer found something wrong with the certificate. (-9825)
public var errSSLPeerBadCert: OSStatus { -9825 }

/// The peer does not support that kind of certificate. (-9826)
public var errSSLPeerUnsupportedCert: OSStatus { -9826 }

/// The peer found the certificate revoked. (-9827)
public var errSSLPeerCertRevoked: OSStatus { -9827 }

/// The peer found the certificate expired. (-9828)
public var errSSLPeerCertExpired: OSStatus { -9828 }

/// The peer does not know the certificate. (-9829)
public var errSSLPeerCertUnknown: OSStatus { -9829 }

/// The peer was sent a parameter that is not allowed. (-9830)
public var errSSLIllegalParam: OSStatus { -9830 }

/// The peer does not know the authority. (-9831)
public var errSSLPeerUnknownCA: OSStatus { -9831 }

/// The peer denies access. (-9832)
public var errSSLPeerAccessDenied: OSStatus { -9832 }

/// The peer could not decode a message. (-9833)
public var errSSLPeerDecodeError: OSStatus { -9833 }

/// The peer could not decrypt or verify in the handshake. (-9834)
public var errSSLPeerDecryptError: OSStatus { -9834 }

/// The peer is under an export restriction. (-9835)
public var errSSLPeerExportRestriction: OSStatus { -9835 }

/// The peer does not take that version of the protocol. (-9836)
public var errSSLPeerProtocolVersion: OSStatus { -9836 }

/// The peer wants stronger ciphers. (-9837)
public var errSSLPeerInsufficientSecurity: OSStatus { -9837 }

/// The peer had an internal error. (-9838)
public var errSSLPeerInternalError: OSStatus { -9838 }

/// The person at the peer cancelled. (-9839)
public var errSSLPeerUserCancelled: OSStatus { -9839 }

/// The peer does not renegotiate. (-9840)
public var errSSLPeerNoRenegotiation: OSStatus { -9840 }

/// The peer's certificate is to be looked at now; not fatal. (-9841)
public var errSSLPeerAuthCompleted: OSStatus { -9841 }

/// The server asks for a certificate; not fatal. (-9842)
public var errSSLClientCertRequested: OSStatus { -9842 }

/// The certificate is for another host. (-9843)
public var errSSLHostNameMismatch: OSStatus { -9843 }

/// The peer went away before it answered. (-9844)
public var errSSLConnectionRefused: OSStatus { -9844 }

/// A record could not be decrypted. (-9845)
public var errSSLDecryptionFail: OSStatus { -9845 }

/// A record has a wrong MAC. (-9846)
public var errSSLBadRecordMac: OSStatus { -9846 }

/// A record is too long. (-9847)
public var errSSLRecordOverflow: OSStatus { -9847 }

/// The configuration is wrong. (-9848)
public var errSSLBadConfiguration: OSStatus { -9848 }

/// A record was not expected and was passed over (DTLS). (-9849)
public var errSSLUnexpectedRecord: OSStatus { -9849 }

/// The peer's ephemeral Diffie-Hellman key is weak. (-9850)
public var errSSLWeakPeerEphemeralDHKey: OSStatus { -9850 }

/// The client said hello, with the name of a server; not fatal. (-9851)
public var errSSLClientHelloReceived: OSStatus { -9851 }

/// The transport was reset. (-9852)
public var errSSLTransportReset: OSStatus { -9852 }

/// The network did not answer in time. (-9853)
public var errSSLNetworkTimeout: OSStatus { -9853 }

/// TLS could not be configured. (-9854)
public var errSSLConfigurationFailed: OSStatus { -9854 }

/// An extension of TLS is not supported. (-9855)
public var errSSLUnsupportedExtension: OSStatus { -9855 }

/// A message was not expected. (-9856)
public var errSSLUnexpectedMessage: OSStatus { -9856 }

/// A record could not be decompressed. (-9857)
public var errSSLDecompressFail: OSStatus { -9857 }

/// The handshake failed. (-9858)
public var errSSLHandshakeFail: OSStatus { -9858 }

/// A message could not be decoded. (-9859)
public var errSSLDecodeError: OSStatus { -9859 }

/// The client fell back to an older version without need. (-9860)
public var errSSLInappropriateFallback: OSStatus { -9860 }

/// An extension of TLS is missing. (-9861)
public var errSSLMissingExtension: OSStatus { -9861 }

/// The OCSP answer is wrong. (-9862)
public var errSSLBadCertificateStatusResponse: OSStatus { -9862 }

/// A certificate is required. (-9863)
public var errSSLCertificateRequired: OSStatus { -9863 }

/// The identity of a pre-shared key is not known. (-9864)
public var errSSLUnknownPSKIdentity: OSStatus { -9864 }

/// The name of the server is not known. (-9865)
public var errSSLUnrecognizedName: OSStatus { -9865 }

/// App Transport Security forbids it. (-9880)
public var errSSLATSViolation: OSStatus { -9880 }

/// App Transport Security forbids that version. (-9881)
public var errSSLATSMinimumVersionViolation: OSStatus { -9881 }

/// App Transport Security forbids that cipher suite. (-9882)
public var errSSLATSCiphersuiteViolation: OSStatus { -9882 }

/// App Transport Security forbids keys that short. (-9883)
public var errSSLATSMinimumKeySizeViolation: OSStatus { -9883 }

/// App Transport Security forbids the hash in the peer's certificate. (-9884)
public var errSSLATSLeafCertificateHashAlgorithmViolation: OSStatus { -9884 }

/// App Transport Security forbids the hash in a certificate. (-9885)
public var errSSLATSCertificateHashAlgorithmViolation: OSStatus { -9885 }

/// App Transport Security forbids the issuer of the certificate. (-9886)
public var errSSLATSCertificateTrustViolation: OSStatus { -9886 }

/// The peer rejected early data. (-9890)
public var errSSLEarlyDataRejected: OSStatus { -9890 }

/// The older name of ``errSSLPeerAuthCompleted``, -9841.
public var errSSLServerAuthCompleted: OSStatus { -9841 }

/// An older name of ``errSSLPeerAuthCompleted``, -9841.
public var errSSLClientAuthCompleted: OSStatus { -9841 }

/// The end of what were all of them once: ``errSSLUnexpectedRecord``, -9849.
public var errSSLLast: OSStatus { -9849 }
