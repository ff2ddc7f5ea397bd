import KeychainServices

roundTrip(account: "plain")
