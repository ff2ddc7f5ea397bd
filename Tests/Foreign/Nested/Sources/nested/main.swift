import FlyingFox
import Foundation
import Security
import X509

let issuer = try DistinguishedName {
    CommonName("Foreign")
    OrganizationName("Package")
}
let answer = HTTPResponse(statusCode: .ok, body: Data("\(issuer)".utf8))
guard answer.statusCode == .ok else { fatalError("FlyingFox") }

roundTrip(account: "\(issuer)")
