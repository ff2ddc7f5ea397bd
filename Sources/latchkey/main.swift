internal import LatchkeyCommand
internal import LatchkeyTransfer

LatchkeyProgram.main(transfer: KeychainTransfer.usual)
