// Written by scripts/generate-status from scripts/status-codes.tsv. Change the table, not this file.
// swift-format-ignore-file

/// The call succeeded. The older name of ``errSecSuccess``, 0.
public var noErr: OSStatus { 0 }

/// The call succeeded. (0)
public var errSecSuccess: OSStatus { 0 }

/// Latchkey does not offer this function, or not for this class of item. (-4)
public var errSecUnimplemented: OSStatus { -4 }

/// There is no space left on the disk. Free some space and try again. (-34)
public var errSecDiskFull: OSStatus { -34 }

/// An older spelling of ``errSecDiskFull``, -34.
public var errSecDskFull: OSStatus { -34 }

/// Reading or writing the store failed. Check the disk and the system log.
/// (-36)
public var errSecIO: OSStatus { -36 }

/// Another program holds the file open for writing. Try again when it is done.
/// (-49)
public var errSecOpWr: OSStatus { -49 }

/// An argument, or an entry of the dictionary, cannot be used. Check names,
/// types and combinations. (-50)
public var errSecParam: OSStatus { -50 }

/// This program may not write there. Check owner and mode of the file. (-61)
public var errSecWrPerm: OSStatus { -61 }

/// There was not enough memory to finish the call. (-108)
public var errSecAllocate: OSStatus { -108 }

/// The person who was asked declined. (-128)
public var errSecUserCanceled: OSStatus { -128 }

/// The request does not fit the present state of the service. (-909)
public var errSecBadReq: OSStatus { -909 }

/// A part of the keychain failed in a way that should not happen. Please report
/// it. (-2070)
public var errSecInternalComponent: OSStatus { -2070 }

/// A value could not be turned into, or out of, a property list. (-4960)
public var errSecCoreFoundationUnknown: OSStatus { -4960 }

/// This program is not entitled to the group or attribute it asked for.
/// `latchkey explain` says why. (-34018)
public var errSecMissingEntitlement: OSStatus { -34018 }

/// Programs of this restricted kind may not make this call. (-34020)
public var errSecRestrictedAPI: OSStatus { -34020 }

/// The keychain cannot be reached or its store cannot be opened. `latchkey
/// doctor` says why. (-25291)
public var errSecNotAvailable: OSStatus { -25291 }

/// The keychain can be read but not written. (-25292)
public var errSecReadOnly: OSStatus { -25292 }

/// The passcode, password or other proof was not accepted. (-25293)
public var errSecAuthFailed: OSStatus { -25293 }

/// There is no keychain of that name. (-25294)
public var errSecNoSuchKeychain: OSStatus { -25294 }

/// The file is not a keychain, or it is damaged. (-25295)
public var errSecInvalidKeychain: OSStatus { -25295 }

/// That name is taken by another keychain. Choose a different one. (-25296)
public var errSecDuplicateKeychain: OSStatus { -25296 }

/// This callback was registered before. (-25297)
public var errSecDuplicateCallback: OSStatus { -25297 }

/// This callback was never registered. (-25298)
public var errSecInvalidCallback: OSStatus { -25298 }

/// An item with the same primary attributes is already stored. Update it
/// instead of adding it. (-25299)
public var errSecDuplicateItem: OSStatus { -25299 }

/// No item that this program can see matches the query. (-25300)
public var errSecItemNotFound: OSStatus { -25300 }

/// The value does not fit into the buffer that was passed. (-25301)
public var errSecBufferTooSmall: OSStatus { -25301 }

/// The value is larger than the keychain takes. Store it elsewhere, encrypted
/// under a key kept here. (-25302)
public var errSecDataTooLarge: OSStatus { -25302 }

/// Items of this class do not have the attribute that was given. (-25303)
public var errSecNoSuchAttr: OSStatus { -25303 }

/// The reference points to an item that is gone. Search for it again. (-25304)
public var errSecInvalidItemRef: OSStatus { -25304 }

/// The search has ended or was never started. (-25305)
public var errSecInvalidSearchRef: OSStatus { -25305 }

/// The class of item is unknown, or does not fit the reference that came with
/// it. (-25306)
public var errSecNoSuchClass: OSStatus { -25306 }

/// No keychain is set as the default. Choose one. (-25307)
public var errSecNoDefaultKeychain: OSStatus { -25307 }

/// The keychain is locked, or a person would have to be asked and may not be.
/// Unlock it and try again. (-25308)
public var errSecInteractionNotAllowed: OSStatus { -25308 }

/// This attribute is fixed once the item exists. (-25309)
public var errSecReadOnlyAttr: OSStatus { -25309 }

/// The keychain was written by a version of the software that this one cannot
/// read. (-25310)
public var errSecWrongSecVersion: OSStatus { -25310 }

/// Keys of this kind do not come in the size asked for. (-25311)
public var errSecKeySizeNotAllowed: OSStatus { -25311 }

/// The part that stores items could not be loaded. (-25312)
public var errSecNoStorageModule: OSStatus { -25312 }

/// The part that reads certificates could not be loaded. (-25313)
public var errSecNoCertificateModule: OSStatus { -25313 }

/// The part that applies trust policies could not be loaded. (-25314)
public var errSecNoPolicyModule: OSStatus { -25314 }

/// A person must answer first, and asking was ruled out. (-25315)
public var errSecInteractionRequired: OSStatus { -25315 }

/// The key or value may not leave the keychain. (-25316)
public var errSecDataNotAvailable: OSStatus { -25316 }

/// The value of this item may not be changed. (-25317)
public var errSecDataNotModifiable: OSStatus { -25317 }

/// No chain leads from this certificate to a root; an issuer is missing.
/// (-25318)
public var errSecCreateChainFailed: OSStatus { -25318 }

/// There is no preference domain of that name. (-25319)
public var errSecInvalidPrefsDomain: OSStatus { -25319 }

/// The machine is awake without its display, so nobody can be asked. (-25320)
public var errSecInDarkWake: OSStatus { -25320 }

/// The access list has a shape that this call cannot express. (-25240)
public var errSecACLNotSimple: OSStatus { -25240 }

/// There is no trust policy with that identifier. (-25241)
public var errSecPolicyNotFound: OSStatus { -25241 }

/// One trust setting has a value that means nothing. (-25242)
public var errSecInvalidTrustSetting: OSStatus { -25242 }

/// The item carries no access list. (-25243)
public var errSecNoAccessForItem: OSStatus { -25243 }

/// The owner entry of the access list may not be changed this way. (-25244)
public var errSecInvalidOwnerEdit: OSStatus { -25244 }

/// Trust has not been evaluated yet, so there is no result. (-25245)
public var errSecTrustNotAvailable: OSStatus { -25245 }

/// Items of this kind cannot be written or read in the format asked for.
/// (-25256)
public var errSecUnsupportedFormat: OSStatus { -25256 }

/// The format of the data was not recognised. (-25257)
public var errSecUnknownFormat: OSStatus { -25257 }

/// This key leaves only encrypted. Ask for a wrapped format. (-25258)
public var errSecKeyIsSensitive: OSStatus { -25258 }

/// The data holds several private keys where one was expected. (-25259)
public var errSecMultiplePrivKeys: OSStatus { -25259 }

/// A passphrase is needed here and none was given. (-25260)
public var errSecPassphraseRequired: OSStatus { -25260 }

/// The reference to the password is not one of ours. (-25261)
public var errSecInvalidPasswordRef: OSStatus { -25261 }

/// The stored trust settings are damaged. (-25262)
public var errSecInvalidTrustSettings: OSStatus { -25262 }

/// Nobody has stored trust settings for this certificate. (-25263)
public var errSecNoTrustSettings: OSStatus { -25263 }

/// The integrity code of the PKCS #12 file does not match. Most likely the
/// password is wrong. (-25264)
public var errSecPkcs12VerifyFailure: OSStatus { -25264 }

/// The certificate that should have issued this one did not sign it. (-26267)
public var errSecNotSigner: OSStatus { -26267 }

/// The data is damaged or not in the expected encoding. (-26275)
public var errSecDecode: OSStatus { -26275 }

/// The service that would do this is not running. (-67585)
public var errSecServiceNotAvailable: OSStatus { -67585 }

/// The caller could not be identified well enough. (-67586)
public var errSecInsufficientClientID: OSStatus { -67586 }

/// The device was reset while the call ran. (-67587)
public var errSecDeviceReset: OSStatus { -67587 }

/// The device has failed. (-67588)
public var errSecDeviceFailed: OSStatus { -67588 }

/// The program could not be put on the access list. (-67589)
public var errSecAppleAddAppACLSubject: OSStatus { -67589 }

/// The public key lacks parameters that it takes from elsewhere. (-67590)
public var errSecApplePublicKeyIncomplete: OSStatus { -67590 }

/// The signature on the program or record is not the expected one. (-67591)
public var errSecAppleSignatureMismatch: OSStatus { -67591 }

/// The key's start date cannot be used. (-67592)
public var errSecAppleInvalidKeyStartDate: OSStatus { -67592 }

/// The key's end date cannot be used. (-67593)
public var errSecAppleInvalidKeyEndDate: OSStatus { -67593 }

/// A value could not be converted to the type that was needed. (-67594)
public var errSecConversionError: OSStatus { -67594 }

/// Someone tried to force the connection down to SSL 2. (-67595)
public var errSecAppleSSLv2Rollback: OSStatus { -67595 }

/// The quota is used up. (-67596)
public var errSecQuotaExceeded: OSStatus { -67596 }

/// The file is larger than the call takes. (-67597)
public var errSecFileTooBig: OSStatus { -67597 }

/// The record that protects the keychain file is damaged. (-67598)
public var errSecInvalidDatabaseBlob: OSStatus { -67598 }

/// The stored form of the key is damaged. (-67599)
public var errSecInvalidKeyBlob: OSStatus { -67599 }

/// The keychain file's protection has a version that is not understood.
/// (-67600)
public var errSecIncompatibleDatabaseBlob: OSStatus { -67600 }

/// The stored key has a version that is not understood. (-67601)
public var errSecIncompatibleKeyBlob: OSStatus { -67601 }

/// The certificate is for other host names than the one asked for. (-67602)
public var errSecHostNameMismatch: OSStatus { -67602 }

/// The certificate marks an extension as critical that is not understood.
/// (-67603)
public var errSecUnknownCriticalExtensionFlag: OSStatus { -67603 }

/// The certificate lacks basic constraints. (-67604)
public var errSecNoBasicConstraints: OSStatus { -67604 }

/// The certificate's basic constraints do not say whether it is an authority.
/// (-67605)
public var errSecNoBasicConstraintsCA: OSStatus { -67605 }

/// The issuer's key identifier in the certificate does not fit. (-67606)
public var errSecInvalidAuthorityKeyID: OSStatus { -67606 }

/// The certificate's own key identifier does not fit. (-67607)
public var errSecInvalidSubjectKeyID: OSStatus { -67607 }

/// The policy does not accept the certificate's key usage. (-67608)
public var errSecInvalidKeyUsageForPolicy: OSStatus { -67608 }

/// The certificate's extended key usage does not allow this. (-67609)
public var errSecInvalidExtendedKeyUsage: OSStatus { -67609 }

/// Issuer and subject of neighbouring certificates do not link up. (-67610)
public var errSecInvalidIDLinkage: OSStatus { -67610 }

/// The chain is longer than an authority in it allows. (-67611)
public var errSecPathLengthConstraintExceeded: OSStatus { -67611 }

/// The chain ends in a certificate that cannot be a root. (-67612)
public var errSecInvalidRoot: OSStatus { -67612 }

/// The revocation list is past its date. Fetch a newer one. (-67613)
public var errSecCRLExpired: OSStatus { -67613 }

/// The revocation list is dated in the future. Check the clock. (-67614)
public var errSecCRLNotValidYet: OSStatus { -67614 }

/// No revocation list was found for the certificate. (-67615)
public var errSecCRLNotFound: OSStatus { -67615 }

/// The server with the revocation list does not answer. (-67616)
public var errSecCRLServerDown: OSStatus { -67616 }

/// The address of the revocation list cannot be used. (-67617)
public var errSecCRLBadURI: OSStatus { -67617 }

/// The certificate has an extension that is not understood. (-67618)
public var errSecUnknownCertExtension: OSStatus { -67618 }

/// The revocation list has an extension that is not understood. (-67619)
public var errSecUnknownCRLExtension: OSStatus { -67619 }

/// The signer of the revocation list is not trusted. (-67620)
public var errSecCRLNotTrusted: OSStatus { -67620 }

/// The revocation list breaks its policy. (-67621)
public var errSecCRLPolicyFailed: OSStatus { -67621 }

/// The revocation list's distribution point does not fit the certificate.
/// (-67622)
public var errSecIDPFailure: OSStatus { -67622 }

/// The certificate does not name the sender's e-mail address. (-67623)
public var errSecSMIMEEmailAddressesNotFound: OSStatus { -67623 }

/// The certificate's extended key usage does not allow secure mail. (-67624)
public var errSecSMIMEBadExtendedKeyUsage: OSStatus { -67624 }

/// The certificate's key usage does not allow secure mail. (-67625)
public var errSecSMIMEBadKeyUsage: OSStatus { -67625 }

/// For secure mail the key usage must be marked critical, and it is not.
/// (-67626)
public var errSecSMIMEKeyUsageNotCritical: OSStatus { -67626 }

/// The certificate names no e-mail address at all. (-67627)
public var errSecSMIMENoEmailAddress: OSStatus { -67627 }

/// For secure mail the alternative name must be marked critical, and it is not.
/// (-67628)
public var errSecSMIMESubjAltNameNotCritical: OSStatus { -67628 }

/// The certificate's extended key usage does not allow TLS. (-67629)
public var errSecSSLBadExtendedKeyUsage: OSStatus { -67629 }

/// The OCSP answer could not be read. (-67630)
public var errSecOCSPBadResponse: OSStatus { -67630 }

/// The OCSP request could not be read. (-67631)
public var errSecOCSPBadRequest: OSStatus { -67631 }

/// No OCSP server answers. (-67632)
public var errSecOCSPUnavailable: OSStatus { -67632 }

/// The OCSP server does not know the certificate. (-67633)
public var errSecOCSPStatusUnrecognized: OSStatus { -67633 }

/// The data ended early. (-67634)
public var errSecEndOfData: OSStatus { -67634 }

/// Revocation could be checked for only a part of the chain. (-67635)
public var errSecIncompleteCertRevocationCheck: OSStatus { -67635 }

/// The network failed. (-67636)
public var errSecNetworkFailure: OSStatus { -67636 }

/// The OCSP answer does not lead to a trusted root. (-67637)
public var errSecOCSPNotTrustedToAnchor: OSStatus { -67637 }

/// The record was changed by somebody else in the meantime. Read it again.
/// (-67638)
public var errSecRecordModified: OSStatus { -67638 }

/// The signature on the OCSP answer does not verify. (-67639)
public var errSecOCSPSignatureError: OSStatus { -67639 }

/// The OCSP answer does not say who signed it. (-67640)
public var errSecOCSPNoSigner: OSStatus { -67640 }

/// The OCSP server found the request malformed. (-67641)
public var errSecOCSPResponderMalformedReq: OSStatus { -67641 }

/// The OCSP server failed. (-67642)
public var errSecOCSPResponderInternalError: OSStatus { -67642 }

/// The OCSP server is busy. Try later. (-67643)
public var errSecOCSPResponderTryLater: OSStatus { -67643 }

/// The OCSP server takes only signed requests. (-67644)
public var errSecOCSPResponderSignatureRequired: OSStatus { -67644 }

/// The OCSP server refused the request. (-67645)
public var errSecOCSPResponderUnauthorized: OSStatus { -67645 }

/// The OCSP answer belongs to another request. (-67646)
public var errSecOCSPResponseNonceMismatch: OSStatus { -67646 }

/// The chain of a code signature has the wrong length. (-67647)
public var errSecCodeSigningBadCertChainLength: OSStatus { -67647 }

/// A certificate of a code signature lacks basic constraints. (-67648)
public var errSecCodeSigningNoBasicConstraints: OSStatus { -67648 }

/// A certificate of a code signature has a wrong path length. (-67649)
public var errSecCodeSigningBadPathLengthConstraint: OSStatus { -67649 }

/// The code signing certificate has no extended key usage. (-67650)
public var errSecCodeSigningNoExtendedKeyUsage: OSStatus { -67650 }

/// The code is signed with a certificate for development only. (-67651)
public var errSecCodeSigningDevelopment: OSStatus { -67651 }

/// The chain of a resource signature has the wrong length. (-67652)
public var errSecResourceSignBadCertChainLength: OSStatus { -67652 }

/// The resource signing certificate has a wrong extended key usage. (-67653)
public var errSecResourceSignBadExtKeyUsage: OSStatus { -67653 }

/// The person's or administrator's trust settings refuse this certificate.
/// (-67654)
public var errSecTrustSettingDeny: OSStatus { -67654 }

/// The certificate's subject name cannot be used. (-67655)
public var errSecInvalidSubjectName: OSStatus { -67655 }

/// The certificate makes a qualified statement that is not understood. (-67656)
public var errSecUnknownQualifiedCertStatement: OSStatus { -67656 }

/// MobileMe: the request waits for the next connection. (-67657)
public var errSecMobileMeRequestQueued: OSStatus { -67657 }

/// MobileMe: the request was sent elsewhere. (-67658)
public var errSecMobileMeRequestRedirected: OSStatus { -67658 }

/// MobileMe: the server answered with an error. (-67659)
public var errSecMobileMeServerError: OSStatus { -67659 }

/// MobileMe: the server does not answer. (-67660)
public var errSecMobileMeServerNotAvailable: OSStatus { -67660 }

/// MobileMe: the server holds this item already. (-67661)
public var errSecMobileMeServerAlreadyExists: OSStatus { -67661 }

/// MobileMe: the service failed. (-67662)
public var errSecMobileMeServerServiceErr: OSStatus { -67662 }

/// MobileMe: an earlier request is still open. (-67663)
public var errSecMobileMeRequestAlreadyPending: OSStatus { -67663 }

/// MobileMe: no request is open. (-67664)
public var errSecMobileMeNoRequestPending: OSStatus { -67664 }

/// MobileMe: the certificate request does not verify. (-67665)
public var errSecMobileMeCSRVerifyFailure: OSStatus { -67665 }

/// MobileMe: the data contradicts itself. (-67666)
public var errSecMobileMeFailedConsistencyCheck: OSStatus { -67666 }

/// The library must be initialised before this call. (-67667)
public var errSecNotInitialized: OSStatus { -67667 }

/// The handle is not meant for this call. (-67668)
public var errSecInvalidHandleUsage: OSStatus { -67668 }

/// The module that a call was checked against is gone. (-67669)
public var errSecPVCReferentNotFound: OSStatus { -67669 }

/// A function failed its integrity check. (-67670)
public var errSecFunctionIntegrityFail: OSStatus { -67670 }

/// The security library failed in a way that should not happen. Please report
/// it. (-67671)
public var errSecInternalError: OSStatus { -67671 }

/// Memory could not be obtained or was damaged. (-67672)
public var errSecMemoryError: OSStatus { -67672 }

/// The data cannot be used here. (-67673)
public var errSecInvalidData: OSStatus { -67673 }

/// The directory of modules failed. (-67674)
public var errSecMDSError: OSStatus { -67674 }

/// A pointer does not point to anything usable. (-67675)
public var errSecInvalidPointer: OSStatus { -67675 }

/// A module failed its own test. (-67676)
public var errSecSelfCheckFailed: OSStatus { -67676 }

/// The function could not do its work. (-67677)
public var errSecFunctionFailed: OSStatus { -67677 }

/// The manifest of a module does not verify. (-67678)
public var errSecModuleManifestVerifyFailed: OSStatus { -67678 }

/// The identifier of the module is malformed. (-67679)
public var errSecInvalidGUID: OSStatus { -67679 }

/// The handle is closed or was never open. (-67680)
public var errSecInvalidHandle: OSStatus { -67680 }

/// The list of databases cannot be used. (-67681)
public var errSecInvalidDBList: OSStatus { -67681 }

/// The module has no pass-through function of that number. (-67682)
public var errSecInvalidPassthroughID: OSStatus { -67682 }

/// The network address is malformed. (-67683)
public var errSecInvalidNetworkAddress: OSStatus { -67683 }

/// The revocation list is signed and can no longer change. (-67684)
public var errSecCRLAlreadySigned: OSStatus { -67684 }

/// There are too many or too few fields. (-67685)
public var errSecInvalidNumberOfFields: OSStatus { -67685 }

/// The check came out negative. (-67686)
public var errSecVerificationFailure: OSStatus { -67686 }

/// The tag is not known. (-67687)
public var errSecUnknownTag: OSStatus { -67687 }

/// The signature is malformed or does not verify. (-67688)
public var errSecInvalidSignature: OSStatus { -67688 }

/// The name cannot be used. (-67689)
public var errSecInvalidName: OSStatus { -67689 }

/// This is not a usable certificate. (-67690)
public var errSecInvalidCertificateRef: OSStatus { -67690 }

/// The group of certificates cannot be used. (-67691)
public var errSecInvalidCertificateGroup: OSStatus { -67691 }

/// Nothing carries that tag. (-67692)
public var errSecTagNotFound: OSStatus { -67692 }

/// The query cannot be carried out as written. (-67693)
public var errSecInvalidQuery: OSStatus { -67693 }

/// One of the values cannot be used. (-67694)
public var errSecInvalidValue: OSStatus { -67694 }

/// A callback answered with an error. (-67695)
public var errSecCallbackFailed: OSStatus { -67695 }

/// The entry could not be removed from the access list. (-67696)
public var errSecACLDeleteFailed: OSStatus { -67696 }

/// The entry of the access list could not be replaced. (-67697)
public var errSecACLReplaceFailed: OSStatus { -67697 }

/// The entry could not be added to the access list. (-67698)
public var errSecACLAddFailed: OSStatus { -67698 }

/// The access list could not be changed. (-67699)
public var errSecACLChangeFailed: OSStatus { -67699 }

/// The credentials do not open this object. (-67700)
public var errSecInvalidAccessCredentials: OSStatus { -67700 }

/// The record is malformed. (-67701)
public var errSecInvalidRecord: OSStatus { -67701 }

/// The access list is malformed. (-67702)
public var errSecInvalidACL: OSStatus { -67702 }

/// The sample given as proof is malformed. (-67703)
public var errSecInvalidSampleValue: OSStatus { -67703 }

/// The versions of caller and module do not go together. (-67704)
public var errSecIncompatibleVersion: OSStatus { -67704 }

/// The caller does not have the privilege for this. (-67705)
public var errSecPrivilegeNotGranted: OSStatus { -67705 }

/// The scope that was asked for does not exist. (-67706)
public var errSecInvalidScope: OSStatus { -67706 }

/// Checking of pointers is already set up. (-67707)
public var errSecPVCAlreadyConfigured: OSStatus { -67707 }

/// The setting for checking of pointers cannot be used. (-67708)
public var errSecInvalidPVC: OSStatus { -67708 }

/// The manager of optional modules could not be loaded. (-67709)
public var errSecEMMLoadFailed: OSStatus { -67709 }

/// The manager of optional modules could not be unloaded. (-67710)
public var errSecEMMUnloadFailed: OSStatus { -67710 }

/// The add-in could not be loaded. (-67711)
public var errSecAddinLoadFailed: OSStatus { -67711 }

/// This is not a usable key. (-67712)
public var errSecInvalidKeyRef: OSStatus { -67712 }

/// The keys do not depend on each other in a usable way. (-67713)
public var errSecInvalidKeyHierarchy: OSStatus { -67713 }

/// The add-in could not be unloaded. (-67714)
public var errSecAddinUnloadFailed: OSStatus { -67714 }

/// The reference leads to no loaded library. (-67715)
public var errSecLibraryReferenceNotFound: OSStatus { -67715 }

/// The add-in offers a malformed table of functions. (-67716)
public var errSecInvalidAddinFunctionTable: OSStatus { -67716 }

/// The set of services asked for cannot be used. (-67717)
public var errSecInvalidServiceMask: OSStatus { -67717 }

/// The module must be loaded first. (-67718)
public var errSecModuleNotLoaded: OSStatus { -67718 }

/// The module has no part with that number. (-67719)
public var errSecInvalidSubServiceID: OSStatus { -67719 }

/// The context lacks the attribute that was asked for. (-67720)
public var errSecAttributeNotInContext: OSStatus { -67720 }

/// The manager of modules could not start. (-67721)
public var errSecModuleManagerInitializeFailed: OSStatus { -67721 }

/// There is no such manager of modules. (-67722)
public var errSecModuleManagerNotFound: OSStatus { -67722 }

/// Nobody is registered for that event. (-67723)
public var errSecEventNotificationCallbackNotFound: OSStatus { -67723 }

/// The input has the wrong length. (-67724)
public var errSecInputLengthError: OSStatus { -67724 }

/// The output does not fit, or has the wrong length. (-67725)
public var errSecOutputLengthError: OSStatus { -67725 }

/// There is no such privilege here. (-67726)
public var errSecPrivilegeNotSupported: OSStatus { -67726 }

/// The device reported a failure. (-67727)
public var errSecDeviceError: OSStatus { -67727 }

/// The handle is in use. Try again later. (-67728)
public var errSecAttachHandleBusy: OSStatus { -67728 }

/// Log in to the device or service first. (-67729)
public var errSecNotLoggedIn: OSStatus { -67729 }

/// The key and the algorithm do not go together. (-67730)
public var errSecAlgorithmMismatch: OSStatus { -67730 }

/// The key is not meant for this use. (-67731)
public var errSecKeyUsageIncorrect: OSStatus { -67731 }

/// The stored key is of another type than it says. (-67732)
public var errSecKeyBlobTypeIncorrect: OSStatus { -67732 }

/// The header of the key contradicts its contents. (-67733)
public var errSecKeyHeaderInconsistent: OSStatus { -67733 }

/// Keys in this format are not taken. (-67734)
public var errSecUnsupportedKeyFormat: OSStatus { -67734 }

/// Keys of this size are not taken. (-67735)
public var errSecUnsupportedKeySize: OSStatus { -67735 }

/// The set of uses asked for contradicts itself. (-67736)
public var errSecInvalidKeyUsageMask: OSStatus { -67736 }

/// The set of uses asked for is not offered. (-67737)
public var errSecUnsupportedKeyUsageMask: OSStatus { -67737 }

/// The set of key attributes contradicts itself. (-67738)
public var errSecInvalidKeyAttributeMask: OSStatus { -67738 }

/// The set of key attributes is not offered. (-67739)
public var errSecUnsupportedKeyAttributeMask: OSStatus { -67739 }

/// The label of the key cannot be used. (-67740)
public var errSecInvalidKeyLabel: OSStatus { -67740 }

/// Labels of this kind are not offered for keys. (-67741)
public var errSecUnsupportedKeyLabel: OSStatus { -67741 }

/// The key is malformed. (-67742)
public var errSecInvalidKeyFormat: OSStatus { -67742 }

/// Several buffers at once are not taken; pass a single one. (-67743)
public var errSecUnsupportedVectorOfBuffers: OSStatus { -67743 }

/// The list of input buffers cannot be used. (-67744)
public var errSecInvalidInputVector: OSStatus { -67744 }

/// The list of output buffers cannot be used. (-67745)
public var errSecInvalidOutputVector: OSStatus { -67745 }

/// The context does not fit the operation. (-67746)
public var errSecInvalidContext: OSStatus { -67746 }

/// The algorithm is unknown or not meant for this. (-67747)
public var errSecInvalidAlgorithm: OSStatus { -67747 }

/// The key cannot be used. (-67748)
public var errSecInvalidAttributeKey: OSStatus { -67748 }

/// No key was given, and one is needed here. (-67749)
public var errSecMissingAttributeKey: OSStatus { -67749 }

/// The initialisation vector cannot be used. (-67750)
public var errSecInvalidAttributeInitVector: OSStatus { -67750 }

/// No initialisation vector was given, and one is needed here. (-67751)
public var errSecMissingAttributeInitVector: OSStatus { -67751 }

/// The salt cannot be used. (-67752)
public var errSecInvalidAttributeSalt: OSStatus { -67752 }

/// No salt was given, and one is needed here. (-67753)
public var errSecMissingAttributeSalt: OSStatus { -67753 }

/// The padding cannot be used. (-67754)
public var errSecInvalidAttributePadding: OSStatus { -67754 }

/// No padding was given, and one is needed here. (-67755)
public var errSecMissingAttributePadding: OSStatus { -67755 }

/// The random source cannot be used. (-67756)
public var errSecInvalidAttributeRandom: OSStatus { -67756 }

/// No random source was given, and one is needed here. (-67757)
public var errSecMissingAttributeRandom: OSStatus { -67757 }

/// The seed cannot be used. (-67758)
public var errSecInvalidAttributeSeed: OSStatus { -67758 }

/// No seed was given, and one is needed here. (-67759)
public var errSecMissingAttributeSeed: OSStatus { -67759 }

/// The passphrase cannot be used. (-67760)
public var errSecInvalidAttributePassphrase: OSStatus { -67760 }

/// No passphrase was given, and one is needed here. (-67761)
public var errSecMissingAttributePassphrase: OSStatus { -67761 }

/// The key length cannot be used. (-67762)
public var errSecInvalidAttributeKeyLength: OSStatus { -67762 }

/// No key length was given, and one is needed here. (-67763)
public var errSecMissingAttributeKeyLength: OSStatus { -67763 }

/// The block size cannot be used. (-67764)
public var errSecInvalidAttributeBlockSize: OSStatus { -67764 }

/// No block size was given, and one is needed here. (-67765)
public var errSecMissingAttributeBlockSize: OSStatus { -67765 }

/// The output size cannot be used. (-67766)
public var errSecInvalidAttributeOutputSize: OSStatus { -67766 }

/// No output size was given, and one is needed here. (-67767)
public var errSecMissingAttributeOutputSize: OSStatus { -67767 }

/// The number of rounds cannot be used. (-67768)
public var errSecInvalidAttributeRounds: OSStatus { -67768 }

/// No number of rounds were given, and they are needed here. (-67769)
public var errSecMissingAttributeRounds: OSStatus { -67769 }

/// The algorithm parameters cannot be used. (-67770)
public var errSecInvalidAlgorithmParms: OSStatus { -67770 }

/// No algorithm parameters were given, and they are needed here. (-67771)
public var errSecMissingAlgorithmParms: OSStatus { -67771 }

/// The label cannot be used. (-67772)
public var errSecInvalidAttributeLabel: OSStatus { -67772 }

/// No label was given, and one is needed here. (-67773)
public var errSecMissingAttributeLabel: OSStatus { -67773 }

/// The key type cannot be used. (-67774)
public var errSecInvalidAttributeKeyType: OSStatus { -67774 }

/// No key type was given, and one is needed here. (-67775)
public var errSecMissingAttributeKeyType: OSStatus { -67775 }

/// The mode cannot be used. (-67776)
public var errSecInvalidAttributeMode: OSStatus { -67776 }

/// No mode was given, and one is needed here. (-67777)
public var errSecMissingAttributeMode: OSStatus { -67777 }

/// The number of effective bits cannot be used. (-67778)
public var errSecInvalidAttributeEffectiveBits: OSStatus { -67778 }

/// No number of effective bits were given, and they are needed here. (-67779)
public var errSecMissingAttributeEffectiveBits: OSStatus { -67779 }

/// The start date cannot be used. (-67780)
public var errSecInvalidAttributeStartDate: OSStatus { -67780 }

/// No start date was given, and one is needed here. (-67781)
public var errSecMissingAttributeStartDate: OSStatus { -67781 }

/// The end date cannot be used. (-67782)
public var errSecInvalidAttributeEndDate: OSStatus { -67782 }

/// No end date was given, and one is needed here. (-67783)
public var errSecMissingAttributeEndDate: OSStatus { -67783 }

/// The version cannot be used. (-67784)
public var errSecInvalidAttributeVersion: OSStatus { -67784 }

/// No version was given, and one is needed here. (-67785)
public var errSecMissingAttributeVersion: OSStatus { -67785 }

/// The prime cannot be used. (-67786)
public var errSecInvalidAttributePrime: OSStatus { -67786 }

/// No prime was given, and one is needed here. (-67787)
public var errSecMissingAttributePrime: OSStatus { -67787 }

/// The base cannot be used. (-67788)
public var errSecInvalidAttributeBase: OSStatus { -67788 }

/// No base was given, and one is needed here. (-67789)
public var errSecMissingAttributeBase: OSStatus { -67789 }

/// The subprime cannot be used. (-67790)
public var errSecInvalidAttributeSubprime: OSStatus { -67790 }

/// No subprime was given, and one is needed here. (-67791)
public var errSecMissingAttributeSubprime: OSStatus { -67791 }

/// The iteration count cannot be used. (-67792)
public var errSecInvalidAttributeIterationCount: OSStatus { -67792 }

/// No iteration count was given, and one is needed here. (-67793)
public var errSecMissingAttributeIterationCount: OSStatus { -67793 }

/// The database handle cannot be used. (-67794)
public var errSecInvalidAttributeDLDBHandle: OSStatus { -67794 }

/// No database handle was given, and one is needed here. (-67795)
public var errSecMissingAttributeDLDBHandle: OSStatus { -67795 }

/// The access credentials cannot be used. (-67796)
public var errSecInvalidAttributeAccessCredentials: OSStatus { -67796 }

/// No access credentials were given, and they are needed here. (-67797)
public var errSecMissingAttributeAccessCredentials: OSStatus { -67797 }

/// The public key format cannot be used. (-67798)
public var errSecInvalidAttributePublicKeyFormat: OSStatus { -67798 }

/// No public key format was given, and one is needed here. (-67799)
public var errSecMissingAttributePublicKeyFormat: OSStatus { -67799 }

/// The private key format cannot be used. (-67800)
public var errSecInvalidAttributePrivateKeyFormat: OSStatus { -67800 }

/// No private key format was given, and one is needed here. (-67801)
public var errSecMissingAttributePrivateKeyFormat: OSStatus { -67801 }

/// The symmetric key format cannot be used. (-67802)
public var errSecInvalidAttributeSymmetricKeyFormat: OSStatus { -67802 }

/// No symmetric key format was given, and one is needed here. (-67803)
public var errSecMissingAttributeSymmetricKeyFormat: OSStatus { -67803 }

/// The wrapped key format cannot be used. (-67804)
public var errSecInvalidAttributeWrappedKeyFormat: OSStatus { -67804 }

/// No wrapped key format was given, and one is needed here. (-67805)
public var errSecMissingAttributeWrappedKeyFormat: OSStatus { -67805 }

/// The operation in several steps is not finished yet. (-67806)
public var errSecStagedOperationInProgress: OSStatus { -67806 }

/// The operation in several steps was never begun. (-67807)
public var errSecStagedOperationNotStarted: OSStatus { -67807 }

/// The signature does not match the data and key. (-67808)
public var errSecVerifyFailed: OSStatus { -67808 }

/// The size of the result cannot be told in advance. (-67809)
public var errSecQuerySizeUnknown: OSStatus { -67809 }

/// The length is not a multiple of the block size. (-67810)
public var errSecBlockSizeMismatch: OSStatus { -67810 }

/// The public key contradicts its private key. (-67811)
public var errSecPublicKeyInconsistent: OSStatus { -67811 }

/// The device could not be shown to be genuine. (-67812)
public var errSecDeviceVerifyFailed: OSStatus { -67812 }

/// The login name cannot be used. (-67813)
public var errSecInvalidLoginName: OSStatus { -67813 }

/// Somebody is logged in already. (-67814)
public var errSecAlreadyLoggedIn: OSStatus { -67814 }

/// The digest algorithm is unknown or not meant for this. (-67815)
public var errSecInvalidDigestAlgorithm: OSStatus { -67815 }

/// The group of revocation lists cannot be used. (-67816)
public var errSecInvalidCRLGroup: OSStatus { -67816 }

/// The certificate does not allow this operation. (-67817)
public var errSecCertificateCannotOperate: OSStatus { -67817 }

/// The certificate is past its last day. Renew it. (-67818)
public var errSecCertificateExpired: OSStatus { -67818 }

/// The certificate is dated in the future. Check the clock. (-67819)
public var errSecCertificateNotValidYet: OSStatus { -67819 }

/// The issuer withdrew the certificate. (-67820)
public var errSecCertificateRevoked: OSStatus { -67820 }

/// The issuer put the certificate on hold. (-67821)
public var errSecCertificateSuspended: OSStatus { -67821 }

/// The credentials given are not enough for this. (-67822)
public var errSecInsufficientCredentials: OSStatus { -67822 }

/// There is no such action. (-67823)
public var errSecInvalidAction: OSStatus { -67823 }

/// The authority cannot be used. (-67824)
public var errSecInvalidAuthority: OSStatus { -67824 }

/// The action that follows verification failed. (-67825)
public var errSecVerifyActionFailed: OSStatus { -67825 }

/// The issuing authority of the certificate is not acceptable. (-67826)
public var errSecInvalidCertAuthority: OSStatus { -67826 }

/// The issuing authority of the revocation list is not acceptable. (-67827)
public var errSecInvalidCRLAuthority: OSStatus { -67827 }

/// An older spelling of ``errSecInvalidCRLAuthority``, -67827.
public var errSecInvaldCRLAuthority: OSStatus { -67827 }

/// The encoding of the revocation list is unknown. (-67828)
public var errSecInvalidCRLEncoding: OSStatus { -67828 }

/// The type of the revocation list is unknown. (-67829)
public var errSecInvalidCRLType: OSStatus { -67829 }

/// The revocation list is malformed. (-67830)
public var errSecInvalidCRL: OSStatus { -67830 }

/// The type of form is unknown. (-67831)
public var errSecInvalidFormType: OSStatus { -67831 }

/// The identifier cannot be used. (-67832)
public var errSecInvalidID: OSStatus { -67832 }

/// The name of the object is malformed. (-67833)
public var errSecInvalidIdentifier: OSStatus { -67833 }

/// The index is out of range or malformed. (-67834)
public var errSecInvalidIndex: OSStatus { -67834 }

/// The identifiers of the policies are malformed. (-67835)
public var errSecInvalidPolicyIdentifiers: OSStatus { -67835 }

/// The time is not written in the expected form. (-67836)
public var errSecInvalidTimeString: OSStatus { -67836 }

/// There is no such reason code. (-67837)
public var errSecInvalidReason: OSStatus { -67837 }

/// The inputs of the request do not go together. (-67838)
public var errSecInvalidRequestInputs: OSStatus { -67838 }

/// The list of answers is malformed. (-67839)
public var errSecInvalidResponseVector: OSStatus { -67839 }

/// The rule about when to stop evaluating cannot be used. (-67840)
public var errSecInvalidStopOnPolicy: OSStatus { -67840 }

/// The tuple is malformed. (-67841)
public var errSecInvalidTuple: OSStatus { -67841 }

/// Only a single value is taken here. (-67842)
public var errSecMultipleValuesUnsupported: OSStatus { -67842 }

/// The certificate chain does not lead to anything trusted. (-67843)
public var errSecNotTrusted: OSStatus { -67843 }

/// No authority is set as the default. (-67844)
public var errSecNoDefaultAuthority: OSStatus { -67844 }

/// The form was turned down. (-67845)
public var errSecRejectedForm: OSStatus { -67845 }

/// The request got lost on the way. (-67846)
public var errSecRequestLost: OSStatus { -67846 }

/// The request was turned down. (-67847)
public var errSecRequestRejected: OSStatus { -67847 }

/// Addresses of this kind are not taken. (-67848)
public var errSecUnsupportedAddressType: OSStatus { -67848 }

/// There is no such service here. (-67849)
public var errSecUnsupportedService: OSStatus { -67849 }

/// The group of tuples is malformed. (-67850)
public var errSecInvalidTupleGroup: OSStatus { -67850 }

/// The access lists to start from are malformed. (-67851)
public var errSecInvalidBaseACLs: OSStatus { -67851 }

/// The credentials of the tuple are malformed. (-67852)
public var errSecInvalidTupleCredentials: OSStatus { -67852 }

/// An older spelling of ``errSecInvalidTupleCredentials``, -67852.
public var errSecInvalidTupleCredendtials: OSStatus { -67852 }

/// The data is not encoded as it should be. (-67853)
public var errSecInvalidEncoding: OSStatus { -67853 }

/// The period of validity is malformed. (-67854)
public var errSecInvalidValidityPeriod: OSStatus { -67854 }

/// Whoever made the request is not acceptable. (-67855)
public var errSecInvalidRequestor: OSStatus { -67855 }

/// The description of the request is malformed. (-67856)
public var errSecRequestDescriptor: OSStatus { -67856 }

/// The description of the bundle is malformed. (-67857)
public var errSecInvalidBundleInfo: OSStatus { -67857 }

/// The revocation list has no entry at that index. (-67858)
public var errSecInvalidCRLIndex: OSStatus { -67858 }

/// None of the fields has a value. (-67859)
public var errSecNoFieldValues: OSStatus { -67859 }

/// The format of the field is not offered. (-67860)
public var errSecUnsupportedFieldFormat: OSStatus { -67860 }

/// Indexes of this kind are not offered. (-67861)
public var errSecUnsupportedIndexInfo: OSStatus { -67861 }

/// The database cannot be kept in that place. (-67862)
public var errSecUnsupportedLocality: OSStatus { -67862 }

/// That many attributes are not offered. (-67863)
public var errSecUnsupportedNumAttributes: OSStatus { -67863 }

/// That many indexes are not offered. (-67864)
public var errSecUnsupportedNumIndexes: OSStatus { -67864 }

/// That many types of record are not offered. (-67865)
public var errSecUnsupportedNumRecordTypes: OSStatus { -67865 }

/// A field was given more than once. (-67866)
public var errSecFieldSpecifiedMultiple: OSStatus { -67866 }

/// The field has another format than its definition. (-67867)
public var errSecIncompatibleFieldFormat: OSStatus { -67867 }

/// The module that should read the data cannot be used. (-67868)
public var errSecInvalidParsingModule: OSStatus { -67868 }

/// The database is locked. Unlock it and try again. (-67869)
public var errSecDatabaseLocked: OSStatus { -67869 }

/// The data store is open. Close it first. (-67870)
public var errSecDatastoreIsOpen: OSStatus { -67870 }

/// A value is needed here and none was given. (-67871)
public var errSecMissingValue: OSStatus { -67871 }

/// Limits of this kind are not offered in queries. (-67872)
public var errSecUnsupportedQueryLimits: OSStatus { -67872 }

/// That many conditions are not offered in one query. (-67873)
public var errSecUnsupportedNumSelectionPreds: OSStatus { -67873 }

/// The operator is not offered in queries. (-67874)
public var errSecUnsupportedOperator: OSStatus { -67874 }

/// The place given for the database cannot be used. (-67875)
public var errSecInvalidDBLocation: OSStatus { -67875 }

/// The kind of access asked for does not exist. (-67876)
public var errSecInvalidAccessRequest: OSStatus { -67876 }

/// The description of the index is malformed. (-67877)
public var errSecInvalidIndexInfo: OSStatus { -67877 }

/// The object cannot be given to that owner. (-67878)
public var errSecInvalidNewOwner: OSStatus { -67878 }

/// There is no such way of changing a record. (-67879)
public var errSecInvalidModifyMode: OSStatus { -67879 }

/// The certificate lacks an extension that it must have. (-67880)
public var errSecMissingRequiredExtension: OSStatus { -67880 }

/// The extended key usage must be marked critical, and it is not. (-67881)
public var errSecExtendedKeyUsageNotCritical: OSStatus { -67881 }

/// The time stamp that was expected is not there. (-67882)
public var errSecTimestampMissing: OSStatus { -67882 }

/// The time stamp does not verify. (-67883)
public var errSecTimestampInvalid: OSStatus { -67883 }

/// The signer of the time stamp is not trusted. (-67884)
public var errSecTimestampNotTrusted: OSStatus { -67884 }

/// No time stamp service answers. (-67885)
public var errSecTimestampServiceNotAvailable: OSStatus { -67885 }

/// The time stamp service does not take this algorithm. (-67886)
public var errSecTimestampBadAlg: OSStatus { -67886 }

/// The time stamp service found the request malformed. (-67887)
public var errSecTimestampBadRequest: OSStatus { -67887 }

/// The data for the time stamp has the wrong format. (-67888)
public var errSecTimestampBadDataFormat: OSStatus { -67888 }

/// The time stamp service does not have the time. (-67889)
public var errSecTimestampTimeNotAvailable: OSStatus { -67889 }

/// The time stamp service does not follow the policy asked for. (-67890)
public var errSecTimestampUnacceptedPolicy: OSStatus { -67890 }

/// The time stamp service does not take this extension. (-67891)
public var errSecTimestampUnacceptedExtension: OSStatus { -67891 }

/// The time stamp service cannot give the further facts asked for. (-67892)
public var errSecTimestampAddInfoNotAvailable: OSStatus { -67892 }

/// The time stamp service failed. (-67893)
public var errSecTimestampSystemFailure: OSStatus { -67893 }

/// The signature does not say when it was made. (-67894)
public var errSecSigningTimeMissing: OSStatus { -67894 }

/// The time stamp service turned the request down. (-67895)
public var errSecTimestampRejection: OSStatus { -67895 }

/// The time stamp is not ready yet. Try later. (-67896)
public var errSecTimestampWaiting: OSStatus { -67896 }

/// The time stamp service is about to be withdrawn. (-67897)
public var errSecTimestampRevocationWarning: OSStatus { -67897 }

/// The time stamp service has been withdrawn. (-67898)
public var errSecTimestampRevocationNotification: OSStatus { -67898 }

/// An authority in the chain does not allow this policy. (-67899)
public var errSecCertificatePolicyNotAllowed: OSStatus { -67899 }

/// An authority in the chain may not issue for this name. (-67900)
public var errSecCertificateNameNotAllowed: OSStatus { -67900 }

/// The certificate is good for longer than is accepted. (-67901)
public var errSecCertificateValidityPeriodTooLong: OSStatus { -67901 }

/// An authority's certificate was given where an end certificate belongs.
/// (-67902)
public var errSecCertificateIsCA: OSStatus { -67902 }

/// The certificate carries the same extension twice. (-67903)
public var errSecCertificateDuplicateExtension: OSStatus { -67903 }

/// The certificate lacks a qualified statement that it must make. (-67904)
public var errSecMissingQualifiedCertStatement: OSStatus { -67904 }
