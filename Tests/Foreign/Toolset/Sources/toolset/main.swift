roundTrip(account: "toolset")
submodules()
try await authentication()
