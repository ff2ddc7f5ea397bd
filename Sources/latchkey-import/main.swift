internal import LatchkeyCommand
internal import LatchkeyTransfer

// What `latchkey import` and `latchkey export` run: the same command line, with
// the readers and the cryptography linked in.
LatchkeyProgram.main(transfer: KeychainTransfer.usual)
