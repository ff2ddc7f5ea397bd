internal import LatchkeyImport
package import KeychainPlatform

/// What `credential_process` of the AWS command line and its SDKs read (AWS SDKs and Tools
/// Reference Guide, "Process credential provider", Version 1).
package struct AWSCredential {
    package var keyID: String
    package var secretKey: SharedSecret
    package var sessionToken: SharedSecret?
    /// RFC 3339; nil: they do not end.
    package var expiration: String?

    package init(keyID: String, secretKey: SharedSecret, sessionToken: SharedSecret?, expiration: String?) {
        (self.keyID, self.secretKey) = (keyID, secretKey)
        (self.sessionToken, self.expiration) = (sessionToken, expiration)
    }

    /// nil where a secret is no text.
    package var object: SecretObject? {
        var members: [(String, SecretObject.Value)] = [
            ("Version", .number(1)), ("AccessKeyId", .text(keyID)), ("SecretAccessKey", .secret(secretKey)),
        ]
        if let sessionToken { members.append(("SessionToken", .secret(sessionToken))) }
        if let expiration { members.append(("Expiration", .text(expiration))) }
        return SecretObject(members)
    }
}

/// What a Kubernetes client reads from its exec plugin (Kubernetes, "Client Authentication
/// (v1)", ExecCredential).
package struct KubernetesCredential {
    package enum Proof {
        case token(SharedSecret)
        /// Both in PEM.
        case certificate(SharedSecret, key: SharedSecret)
    }

    /// Names the request, as the client that runs the plugin says it.
    package static let variable = "KUBERNETES_EXEC_INFO"
    private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

    private let version: String
    private let proof: Proof
    private let expiration: String?

    /// nil for a request of a version that there is not: the answer has to have the same.
    ///
    /// - Parameter request: the variable's value; nil: the newest version.
    package init?(_ proof: Proof, expiration: String?, for request: String?) {
        (self.proof, self.expiration) = (proof, expiration)
        guard let request else {
            version = Self.versions[0]
            return
        }
        let text = SourceText(SecretBytes(copying: Array(request.utf8)))
        do throws(JSONNode.Flaw) {
            let named = try JSONNode.parse(text)["apiVersion"]?.text
            guard let version = Self.versions.first(where: { $0 == named }) else { return nil }
            self.version = version
        } catch { return nil }
    }

    /// nil where a secret is no text.
    package var object: SecretObject? {
        var status: [(String, SecretObject.Value)]
        switch proof {
        case .token(let token): status = [("token", .secret(token))]
        case .certificate(let certificate, let key):
            status = [("clientCertificateData", .secret(certificate)), ("clientKeyData", .secret(key))]
        }
        if let expiration { status.insert(("expirationTimestamp", .text(expiration)), at: 0) }
        return SecretObject([
            ("apiVersion", .text(version)), ("kind", .text("ExecCredential")), ("status", .object(status)),
        ])
    }
}
