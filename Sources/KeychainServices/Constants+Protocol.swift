public import Foundation

// Values of kSecAttrProtocol and kSecAttrAuthenticationType for internet
// passwords: four-character codes, Apple's (SecItem.h, SecItemConstants.c).
// Nothing changes the strings, so sharing them is safe.

// MARK: Protocols

/// FTP (`ftp` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "

/// An account on an FTP server (`ftpa`).
@safe nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"

/// HTTP (`http`).
@safe nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"

/// IRC (`irc` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "

/// NNTP (`nntp`).
@safe nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"

/// POP3 (`pop3`).
@safe nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"

/// SMTP (`smtp`).
@safe nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"

/// SOCKS (`sox` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "

/// IMAP (`imap`).
@safe nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"

/// LDAP (`ldap`).
@safe nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"

/// AFP over AppleTalk (`atlk`).
@safe nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"

/// AFP over TCP (`afp` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "

/// Telnet (`teln`).
@safe nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"

/// SSH (`ssh` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "

/// FTP over TLS (`ftps`).
@safe nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"

/// HTTP over TLS (`htps`).
@safe nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"

/// A proxy for HTTP (`htpx`).
@safe nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"

/// A proxy for HTTPS (`htsx`).
@safe nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"

/// A proxy for FTP (`ftpx`).
@safe nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"

/// SMB (`smb` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "

/// RTSP (`rtsp`).
@safe nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"

/// A proxy for RTSP (`rtsx`).
@safe nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"

/// DAAP (`daap`).
@safe nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"

/// Remote Apple Events (`eppc`).
@safe nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"

/// IPP (`ipp` and a blank).
@safe nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "

/// NNTP over TLS (`ntps`).
@safe nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"

/// LDAP over TLS (`ldps`).
@safe nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"

/// Telnet over TLS (`tels`).
@safe nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"

/// IMAP over TLS (`imps`).
@safe nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"

/// IRC over TLS (`ircs`).
@safe nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"

/// POP3 over TLS (`pops`).
@safe nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"

// MARK: Authentication types

/// Windows NT LAN Manager (`ntlm`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"

/// Microsoft Network default (`msna`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"

/// Distributed password authentication (`dpaa`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"

/// Remote password authentication (`rpaa`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"

/// HTTP Basic (`http`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"

/// HTTP Digest (`httd`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

/// A form on a web page (`form`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"

/// Whatever the server takes by default (`dflt`).
@safe nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
