// Two codes older than Security (Apple, MacErrors.h), which Foundation brings on macOS alone.
// They are Swift's `Int` there as well: `status == OSStatus(userCanceledErr)`.

/// An argument is wrong; ``errSecParam`` is the same number. (-50)
public var paramErr: Int { -50 }

/// The person declined; ``errSecUserCanceled`` is the same number. (-128)
public var userCanceledErr: Int { -128 }
