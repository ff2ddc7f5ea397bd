internal import LatchkeyCommand

LatchkeyProgram.main()
