roundTrip(account: "toolset")
