public import Foundation

// What a query asks for, how it narrows the search, and how the call is made.
// Values are Apple's (SecItem.h, SecItemConstants.c). `COMPATIBILITY.md` says
// which are honoured by which call. Nothing changes the strings, so sharing
// them is safe.

// MARK: Limit

/// How many items a search returns: `kSecMatchLimitOne`, `kSecMatchLimitAll` or
/// a number (`m_Limit`). The number 1 gives an object, any other an array.
/// `errSecParam` in an add and an update.
@safe nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"

/// The first match, as one object (`m_LimitOne`). The default of a search.
@safe nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// All matches, as an array (`m_LimitAll`). The default of a deletion.
@safe nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"

// MARK: Match

/// Certificates and identities that pass this `SecPolicy` (`m_Policy`).
@safe nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"

/// Only items of this array (`m_ItemList`; macOS). Ignored in a search,
/// `errSecParam` in other calls.
@safe nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"

/// Only items of these file keychains (`m_SearchList`; macOS). Ignored in a
/// search, `errSecParam` in other calls.
@safe nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"

/// Certificates and identities issued by one of these names: an array of data
/// (`m_Issuers`). `errSecUnimplemented` with any class yet, but for an empty array,
/// which filters nothing.
@safe nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"

/// Certificates and identities for this e-mail address: a string
/// (`m_EmailAddressIfPresent`). `errSecUnimplemented` for certificates yet; other
/// classes ignore it.
@safe nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// Certificates whose subject contains this string (macOS)
/// (`m_SubjectContains`).
@safe nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// Certificates whose subject starts with this string (macOS)
/// (`m_SubjectStartsWith`).
@safe nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

/// Certificates whose subject ends with this string (macOS)
/// (`m_SubjectEndsWith`).
@safe nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

/// Certificates whose subject is this string (macOS) (`m_SubjectWholeString`).
@safe nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

/// Internet passwords for this host or a host below it: a string
/// (`m_HostOrSubdomainOfHost`). Searches alone; with another class
/// `errSecUnimplemented`.
@safe nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

/// Whether to compare without regard to case: a Boolean (macOS)
/// (`m_CaseInsensitive`).
@safe nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// Whether to compare without regard to accents: a Boolean (macOS)
/// (`m_DiacriticInsensitive`).
@safe nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

/// Whether to compare without regard to width: a Boolean (macOS)
/// (`m_WidthInsensitive`).
@safe nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"

/// Only certificates that lead to a trusted root: a Boolean (`m_TrustedOnly`).
/// True is `errSecUnimplemented` for certificates yet; other classes ignore it.
@safe nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// Only certificates that are valid on this date; null means now
/// (`m_ValidOnDate`). `errSecUnimplemented` for certificates yet; other classes ignore
/// it.
@safe nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: Return

/// Whether to return the value: a Boolean (`r_Data`). Alone it gives the bytes;
/// together with another `kSecReturn…`, a dictionary.
@safe nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"

/// Whether to return the attributes: a Boolean (`r_Attributes`). They come in a
/// dictionary, without class and value.
@safe nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"

/// Whether to return an object (certificate, key, identity): a Boolean
/// (`r_Ref`). Passwords have none; a certificate or a key, of which no object is made yet,
/// is errSecUnimplemented.
@safe nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"

/// Whether to return a persistent reference: a Boolean (`r_PersistentRef`). It
/// names the item for as long as it exists, whatever its attributes become.
@safe nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Value

/// The value of the item, its secret: data, at most 64 MiB (`v_Data`). Ignored
/// in a query.
@safe nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"

/// The item as an object: a certificate, key or identity (`v_Ref`).
/// `errSecParam` for now, since there are no such objects.
@safe nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"

/// The persistent reference of the item: data (`v_PersistentRef`). In a search
/// it stands alone, without attributes; a malformed one is `errSecParam`.
@safe nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: Use

/// Search these items instead of the keychain (`u_ItemList`). `errSecParam`;
/// ignored in a deletion.
@safe nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"

/// Add to this file keychain (macOS) (`u_Keychain`).
@safe nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"

/// Whether to use the data protection keychain on macOS: a Boolean (`nleg`). No
/// effect: ours always is one.
@safe nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// Whether to use the keychain that all users of the machine share (tvOS): a
/// Boolean (`u_UserIndependentKeychain`). No effect.
@safe nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"

/// What a prompt says the item is needed for: a string (`u_OpPrompt`).
/// Deprecated by Apple. Shown as a quotation of the program, never as our words.
@safe nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"

/// Whether asking a person is ruled out: a Boolean (`u_NoAuthUI`). Deprecated
/// by Apple. True is as ``kSecUseAuthenticationUIFail``.
@safe nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

/// The `LAContext` in which a person agrees (`u_AuthCtx`); the call is made through
/// it. Any other object is `errSecParam`, an invalidated context
/// `errSecAuthFailed`. The context's `interactionNotAllowed` and `localizedReason`
/// count as if the dictionary said them (``kSecUseAuthenticationUIFail``,
/// ``kSecUseOperationPrompt``). The class comes with the product
/// KeychainAuthentication.
@safe nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"

/// Whether a person may be asked: one of the three values below (`u_AuthUI`).
/// A person is asked for items that were stored with an access control.
@safe nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"

/// A person may be asked (`u_AuthUIA`). The default.
@safe nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

/// If a person had to be asked, fail with `errSecInteractionNotAllowed`
/// (`u_AuthUIF`).
@safe nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

/// Leave out items for which a person had to be asked (`u_AuthUIS`). Searches
/// alone; `errSecParam` in other calls.
@safe nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
