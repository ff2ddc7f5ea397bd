import X509

let subject = try DistinguishedName { CommonName("Bystander") }
print("bystander: \(subject)")
