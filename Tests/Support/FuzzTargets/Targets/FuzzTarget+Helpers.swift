#if DEBUG
    @testable internal import CredentialHelpers
    internal import KeychainModel
    internal import KeychainPlatform
    internal import LatchkeyImport

    extension FuzzTarget {
        /// What docker, or whoever runs its helper, writes to it.
        static let dockerCredential = FuzzTarget("docker-credential", seeds: { HelperSeeds.docker }) {
            bytes throws(Finding) in
            var urls: [String] = []
            do throws(DockerCredentialRequest.Flaw) {
                let input = SecretBytes(copying: bytes)
                urls.append(try DockerCredentialRequest.server(input).url)
                let request = try DockerCredentialRequest(SourceText(input))
                urls.append(request.server.url)
            } catch {}
            for url in urls {
                let server = DockerServer(url)
                guard let place = server.place else { continue }
                let again = (place.scheme.map { "\($0)://" } ?? "") + place.server.text + (place.path ?? "")
                try claim(again.utf8.elementsEqual(url.utf8), "a place that is another server's")
                try claim(place.attributes != nil, "a place where no item can stand")
            }
        }

        /// What git, or whoever runs its helper, writes to it; and what it says of that.
        static let gitCredential = FuzzTarget("git-credential", seeds: { HelperSeeds.git }) { bytes throws(Finding) in
            guard let request = HelperSeeds.request(bytes) else { return }
            try claim(request.place.scheme == request.scheme && !request.scheme.isEmpty, "a place without a protocol")
            guard let name = request.username, !name.isEmpty, let secret = request.secret else { return }
            let answer = GitAnswer(username: name, secret: secret, extras: request.extras).text
            let place = Array("protocol=https\nhost=h\ncapability[]=authtype\n".utf8)
            let again = try claimed(
                HelperSeeds.request(place + answer.bytes.insecureArray()), "an answer that git could not read")
            let heard = try claimed(again.secret, "an answer without the secret")
            try claim(again.username == name && heard.kind == secret.kind, "another name or type")
            try claim(heard.value.bytes.isEqual(to: secret.value.bytes), "another secret")
            try claim(again.extras.isEqual(to: request.extras), "another end or token")
            try claim(again.place.server.host == "h" && again.scheme == "https", "an answer that moves")
        }
    }

    private enum HelperSeeds {
        static func request(_ bytes: [UInt8]) -> GitCredentialRequest? {
            do throws(CredentialLines.Flaw) {
                return try GitCredentialRequest(try CredentialLines(SharedSecret(SecretBytes(copying: bytes))))
            } catch { return nil }
        }

        static let docker = [
            #"{"ServerURL":"https://index.docker.io/v1/","Username":"<token>","Secret":"a\"\u00e9b"}"#,
            "registry.example:5000\n", "https://[::1]:5000/v2", "ftp://a:021/x", "https://a:0443", "HTTPS://a",
        ].map { Array($0.utf8) }

        static let git = [
            "protocol=https\nhost=git.example:8443\npath=a/b.git\nusername=alice\npassword=p=w\n\nignored\n",
            "capability[]=authtype\ncapability[]=\ncapability[]=state\nprotocol=https\nhost=[::1]:1\nusername=a\n"
                + "authtype=Bearer\ncredential=x\nephemeral=1\nstate[]=a:b\nwwwauth[]=Basic realm=\"x\"\n",
            "protocol=cert\npath=/a\nusername=\npassword=p\npassword_expiry_utc=99\noauth_refresh_token=t\n",
        ].map { Array($0.utf8) }
    }
#endif
