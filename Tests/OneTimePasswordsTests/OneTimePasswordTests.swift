import KeychainPlatform
import OneTimePasswords
import Testing

@Suite struct OneTimePasswordTests {
    private func bytes(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    private func code(_ password: borrowing OneTimePassword, _ seconds: Int64) -> String {
        String(decoding: password.code(at: seconds).characters.bytes.insecureArray(), as: UTF8.self)
    }

    private func code(of address: String, at seconds: Int64 = 59) throws -> String {
        code(try OneTimePassword(address: bytes(address)), seconds)
    }

    private func fault(_ address: String) -> OneTimePassword.Fault? {
        do throws(OneTimePassword.Fault) {
            _ = try OneTimePassword(address: bytes(address))
            return nil
        } catch {
            return error
        }
    }

    /// RFC 6238 appendix B; the keys are as long as the digest (errata 2866).
    @Test(
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ] as [(Int64, String, String, String)])
    func vectorsOfTheStandard(seconds: Int64, sha1: String, sha256: String, sha512: String) {
        let digits = String(repeating: "1234567890", count: 7)
        for (algorithm, length, expected) in [
            (OneTimePassword.Algorithm.sha1, 20, sha1), (.sha256, 32, sha256), (.sha512, 64, sha512),
        ] {
            let password = OneTimePassword(
                key: bytes(String(digits.prefix(length))), algorithm: algorithm, form: .decimal(8))
            let shown = code(password, seconds)
            #expect(shown == expected)
        }
    }

    @Test(arguments: [
        "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8",
        "OTPAUTH://TOTP/a?digits=8&secret=gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
        "otpauth://totp/E:a%40b?issuer=E&secret=GEZD-GNBV%20GY3TQOJQ%47EZDGNBVGY3TQOJQ&digits=8&algorithm=SHA1&period=30",
        "otpauth://totp/?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ%3D&digits=8&algorithm=sha-1#x?secret=A",
        "otpauth://totp?Secret=gezd+gnbvgy3tqojqgezdgnbvgy3tqojq&Digits=8&period=",
        "otpauth://totp/a?digits=8&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ%0D%0A",
    ])
    func addressesAreReadInTheirForms(address: String) throws {
        #expect(try code(of: address) == "94287082")
    }

    @Test func algorithmsDigitsAndPeriodsAreTaken() throws {
        let key32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA"
        #expect(try code(of: "otpauth://totp/a?secret=\(key32)&algorithm=SHA256&digits=8") == "46119246")
        #expect(try code(of: "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ") == "287082")
        #expect(
            try code(of: "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=7&period=60", at: 119)
                == "4287082")
    }

    /// What Steam's own program showed for this secret at these times (KeePassXC, tests/TestTotp.cpp).
    @Test(arguments: [
        "otpauth://totp/a?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&algorithm=SHA1&digits=5&period=30&encoder=steam",
        "otpauth://totp/a?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&encoder=Steam&issuer=Valve",
        "otpauth://steam/Steam:a?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&digits=5",
        "steam://63BEDWCQZKTQWPESARIERL5DTTQFCJTK", "STEAM://63bedwcqzktqwpesarierl5dttqfcjtk",
    ])
    func codesOfSteamAreSteams(address: String) throws {
        #expect(try code(of: address, at: 1_511_200_518) == "FR8RV")
        #expect(try code(of: address, at: 1_511_200_714) == "9P3VP")
    }

    @Test(
        arguments: [
            ("hunter2", .notAnAddress), ("", .notAnAddress), ("otpauth://yaotp/a?secret=AA", .notAnAddress),
            ("otpauth://hotp/a?secret=GEZDGNBV&counter=1", .counterBased), ("otpauth://totp/a", .secretMissing),
            ("otpauth://totp/a?issuer=b", .secretMissing), ("otpauth://totp/a?secret=", .secretMissing),
            ("otpauth://totp/a?secret=1089", .secretMalformed), ("otpauth://totp/a?secret=A", .secretMissing),
            ("otpauth://hotp?secret=GEZDGNBV", .counterBased), ("steam://1089", .secretMalformed),
            ("steam:", .secretMalformed), ("otpauth://totp/a?secret=AAAAAAAA&encoder=roman", .encoderUnknown),
            ("otpauth://totp/a?secret=AAA=AAAA", .secretMalformed),
            ("otpauth://totp/a?secret=AAAA%4", .escapeMalformed),
            ("otpauth://totp/a?secret=AAAAAAAA&algorithm=MD5", .algorithmUnknown),
            ("otpauth://totp/a?secret=AAAAAAAA&digits=5", .digitCountOutOfRange),
            ("otpauth://totp/a?secret=AAAAAAAA&digits=9999999999999999999999", .digitCountOutOfRange),
            ("otpauth://totp/a?secret=AAAAAAAA&period=0", .periodOutOfRange),
            ("otpauth://totp/a?secret=AAAAAAAA&secret=BBBBBBBB", .parameterTwice),
        ] as [(String, OneTimePassword.Fault)])
    func whatIsMalformedIsSaidWithoutTheSecret(address: String, expected: OneTimePassword.Fault) {
        #expect(fault(address) == expected)
        #expect(!expected.explanation.contains("AAAA"))
    }

    @Test(
        arguments: [
            ("MY", "f"), ("MZXQ====", "fo"), ("MZXW6", "foo"), ("MZXW6YQ=", "foob"), ("MZXW6YTB", "fooba"),
            // What is behind the last whole byte does not count.
            ("MZXW7", "foo"), ("MZXW6YTBM", "fooba"), ("mzxw 6ytb\r\n", "fooba"),
        ])
    func bareSecretsAreBase32(text: String, key: String) throws {
        // RFC 4648 section 10; that the keys are the same shows in the codes.
        let bare = try OneTimePassword(base32: bytes(text))
        let plain = OneTimePassword(key: bytes(key))
        let (first, second) = (code(bare, 59), code(plain, 59))
        #expect(first == second)
    }

    @Test func secondsLeftCountDownToTheNextCode() throws {
        let password = try OneTimePassword(base32: bytes("GEZDGNBV"))
        var left: [Int] = []
        for seconds: Int64 in [0, 1, 29, 30, 59] { left.append(password.code(at: seconds).secondsLeft) }
        #expect(left == [30, 29, 1, 30, 1])
    }
}
