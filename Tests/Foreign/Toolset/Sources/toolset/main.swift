roundTrip(account: "toolset")
try await authentication()
