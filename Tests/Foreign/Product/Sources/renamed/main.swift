import Security

roundTrip(account: "renamed")
