// Written by scripts/generate-status from scripts/status-codes.tsv. Change the table, not this file.
// swift-format-ignore-file

extension Status {
    /// The call succeeded.
    ///
    /// `errSecSuccess`, 0
    public static let success = Status(rawValue: 0)

    /// Latchkey does not offer this function, or not for this class of item.
    ///
    /// `errSecUnimplemented`, -4
    public static let unimplemented = Status(rawValue: -4)

    /// There is no space left on the disk. Free some space and try again.
    ///
    /// `errSecDiskFull`, -34
    public static let diskFull = Status(rawValue: -34)

    /// Reading or writing the store failed. Check the disk and the system log.
    ///
    /// `errSecIO`, -36
    public static let io = Status(rawValue: -36)

    /// Another program holds the file open for writing. Try again when it is
    /// done.
    ///
    /// `errSecOpWr`, -49
    public static let alreadyOpenForWriting = Status(rawValue: -49)

    /// An argument, or an entry of the dictionary, cannot be used. Check names,
    /// types and combinations.
    ///
    /// `errSecParam`, -50
    public static let param = Status(rawValue: -50)

    /// This program may not write there. Check owner and mode of the file.
    ///
    /// `errSecWrPerm`, -61
    public static let writePermission = Status(rawValue: -61)

    /// There was not enough memory to finish the call.
    ///
    /// `errSecAllocate`, -108
    public static let allocate = Status(rawValue: -108)

    /// The person who was asked declined.
    ///
    /// `errSecUserCanceled`, -128
    public static let userCanceled = Status(rawValue: -128)

    /// The request does not fit the present state of the service.
    ///
    /// `errSecBadReq`, -909
    public static let badRequest = Status(rawValue: -909)

    /// A part of the keychain failed in a way that should not happen. Please
    /// report it.
    ///
    /// `errSecInternalComponent`, -2070
    public static let internalComponent = Status(rawValue: -2070)

    /// A value could not be turned into, or out of, a property list.
    ///
    /// `errSecCoreFoundationUnknown`, -4960
    public static let coreFoundationUnknown = Status(rawValue: -4960)

    /// This program is not entitled to the group or attribute it asked for.
    /// `latchkey explain` says why.
    ///
    /// `errSecMissingEntitlement`, -34018
    public static let missingEntitlement = Status(rawValue: -34018)

    /// Programs of this restricted kind may not make this call.
    ///
    /// `errSecRestrictedAPI`, -34020
    public static let restrictedAPI = Status(rawValue: -34020)

    /// The keychain cannot be reached or its store cannot be opened. `latchkey
    /// doctor` says why.
    ///
    /// `errSecNotAvailable`, -25291
    public static let notAvailable = Status(rawValue: -25291)

    /// The keychain can be read but not written.
    ///
    /// `errSecReadOnly`, -25292
    public static let readOnly = Status(rawValue: -25292)

    /// The passcode, password or other proof was not accepted.
    ///
    /// `errSecAuthFailed`, -25293
    public static let authFailed = Status(rawValue: -25293)

    /// There is no keychain of that name.
    ///
    /// `errSecNoSuchKeychain`, -25294
    public static let noSuchKeychain = Status(rawValue: -25294)

    /// The file is not a keychain, or it is damaged.
    ///
    /// `errSecInvalidKeychain`, -25295
    public static let invalidKeychain = Status(rawValue: -25295)

    /// That name is taken by another keychain. Choose a different one.
    ///
    /// `errSecDuplicateKeychain`, -25296
    public static let duplicateKeychain = Status(rawValue: -25296)

    /// This callback was registered before.
    ///
    /// `errSecDuplicateCallback`, -25297
    public static let duplicateCallback = Status(rawValue: -25297)

    /// This callback was never registered.
    ///
    /// `errSecInvalidCallback`, -25298
    public static let invalidCallback = Status(rawValue: -25298)

    /// An item with the same primary attributes is already stored. Update it
    /// instead of adding it.
    ///
    /// `errSecDuplicateItem`, -25299
    public static let duplicateItem = Status(rawValue: -25299)

    /// No item that this program can see matches the query.
    ///
    /// `errSecItemNotFound`, -25300
    public static let itemNotFound = Status(rawValue: -25300)

    /// The value does not fit into the buffer that was passed.
    ///
    /// `errSecBufferTooSmall`, -25301
    public static let bufferTooSmall = Status(rawValue: -25301)

    /// The value is larger than the keychain takes. Store it elsewhere,
    /// encrypted under a key kept here.
    ///
    /// `errSecDataTooLarge`, -25302
    public static let dataTooLarge = Status(rawValue: -25302)

    /// Items of this class do not have the attribute that was given.
    ///
    /// `errSecNoSuchAttr`, -25303
    public static let noSuchAttribute = Status(rawValue: -25303)

    /// The reference points to an item that is gone. Search for it again.
    ///
    /// `errSecInvalidItemRef`, -25304
    public static let invalidItemRef = Status(rawValue: -25304)

    /// The search has ended or was never started.
    ///
    /// `errSecInvalidSearchRef`, -25305
    public static let invalidSearchRef = Status(rawValue: -25305)

    /// The class of item is unknown, or does not fit the reference that came
    /// with it.
    ///
    /// `errSecNoSuchClass`, -25306
    public static let noSuchClass = Status(rawValue: -25306)

    /// No keychain is set as the default. Choose one.
    ///
    /// `errSecNoDefaultKeychain`, -25307
    public static let noDefaultKeychain = Status(rawValue: -25307)

    /// The keychain is locked, or a person would have to be asked and may not
    /// be. Unlock it and try again.
    ///
    /// `errSecInteractionNotAllowed`, -25308
    public static let interactionNotAllowed = Status(rawValue: -25308)

    /// This attribute is fixed once the item exists.
    ///
    /// `errSecReadOnlyAttr`, -25309
    public static let readOnlyAttribute = Status(rawValue: -25309)

    /// The keychain was written by a version of the software that this one
    /// cannot read.
    ///
    /// `errSecWrongSecVersion`, -25310
    public static let wrongSecVersion = Status(rawValue: -25310)

    /// Keys of this kind do not come in the size asked for.
    ///
    /// `errSecKeySizeNotAllowed`, -25311
    public static let keySizeNotAllowed = Status(rawValue: -25311)

    /// The part that stores items could not be loaded.
    ///
    /// `errSecNoStorageModule`, -25312
    public static let noStorageModule = Status(rawValue: -25312)

    /// The part that reads certificates could not be loaded.
    ///
    /// `errSecNoCertificateModule`, -25313
    public static let noCertificateModule = Status(rawValue: -25313)

    /// The part that applies trust policies could not be loaded.
    ///
    /// `errSecNoPolicyModule`, -25314
    public static let noPolicyModule = Status(rawValue: -25314)

    /// A person must answer first, and asking was ruled out.
    ///
    /// `errSecInteractionRequired`, -25315
    public static let interactionRequired = Status(rawValue: -25315)

    /// The key or value may not leave the keychain.
    ///
    /// `errSecDataNotAvailable`, -25316
    public static let dataNotAvailable = Status(rawValue: -25316)

    /// The value of this item may not be changed.
    ///
    /// `errSecDataNotModifiable`, -25317
    public static let dataNotModifiable = Status(rawValue: -25317)

    /// No chain leads from this certificate to a root; an issuer is missing.
    ///
    /// `errSecCreateChainFailed`, -25318
    public static let createChainFailed = Status(rawValue: -25318)

    /// There is no preference domain of that name.
    ///
    /// `errSecInvalidPrefsDomain`, -25319
    public static let invalidPrefsDomain = Status(rawValue: -25319)

    /// The machine is awake without its display, so nobody can be asked.
    ///
    /// `errSecInDarkWake`, -25320
    public static let inDarkWake = Status(rawValue: -25320)

    /// The access list has a shape that this call cannot express.
    ///
    /// `errSecACLNotSimple`, -25240
    public static let aclNotSimple = Status(rawValue: -25240)

    /// There is no trust policy with that identifier.
    ///
    /// `errSecPolicyNotFound`, -25241
    public static let policyNotFound = Status(rawValue: -25241)

    /// One trust setting has a value that means nothing.
    ///
    /// `errSecInvalidTrustSetting`, -25242
    public static let invalidTrustSetting = Status(rawValue: -25242)

    /// The item carries no access list.
    ///
    /// `errSecNoAccessForItem`, -25243
    public static let noAccessForItem = Status(rawValue: -25243)

    /// The owner entry of the access list may not be changed this way.
    ///
    /// `errSecInvalidOwnerEdit`, -25244
    public static let invalidOwnerEdit = Status(rawValue: -25244)

    /// Trust has not been evaluated yet, so there is no result.
    ///
    /// `errSecTrustNotAvailable`, -25245
    public static let trustNotAvailable = Status(rawValue: -25245)

    /// Items of this kind cannot be written or read in the format asked for.
    ///
    /// `errSecUnsupportedFormat`, -25256
    public static let unsupportedFormat = Status(rawValue: -25256)

    /// The format of the data was not recognised.
    ///
    /// `errSecUnknownFormat`, -25257
    public static let unknownFormat = Status(rawValue: -25257)

    /// This key leaves only encrypted. Ask for a wrapped format.
    ///
    /// `errSecKeyIsSensitive`, -25258
    public static let keyIsSensitive = Status(rawValue: -25258)

    /// The data holds several private keys where one was expected.
    ///
    /// `errSecMultiplePrivKeys`, -25259
    public static let multiplePrivKeys = Status(rawValue: -25259)

    /// A passphrase is needed here and none was given.
    ///
    /// `errSecPassphraseRequired`, -25260
    public static let passphraseRequired = Status(rawValue: -25260)

    /// The reference to the password is not one of ours.
    ///
    /// `errSecInvalidPasswordRef`, -25261
    public static let invalidPasswordRef = Status(rawValue: -25261)

    /// The stored trust settings are damaged.
    ///
    /// `errSecInvalidTrustSettings`, -25262
    public static let invalidTrustSettings = Status(rawValue: -25262)

    /// Nobody has stored trust settings for this certificate.
    ///
    /// `errSecNoTrustSettings`, -25263
    public static let noTrustSettings = Status(rawValue: -25263)

    /// The integrity code of the PKCS #12 file does not match. Most likely the
    /// password is wrong.
    ///
    /// `errSecPkcs12VerifyFailure`, -25264
    public static let pkcs12VerifyFailure = Status(rawValue: -25264)

    /// Someone must authenticate before the item opens.
    ///
    /// `errSecAuthNeeded`, -25330
    public static let authNeeded = Status(rawValue: -25330)

    /// The certificate that should have issued this one did not sign it.
    ///
    /// `errSecNotSigner`, -26267
    public static let notSigner = Status(rawValue: -26267)

    /// A trust policy turned the certificate chain down.
    ///
    /// `errSecPolicyDenied`, -26270
    public static let policyDenied = Status(rawValue: -26270)

    /// The data is damaged or not in the expected encoding.
    ///
    /// `errSecDecode`, -26275
    public static let decode = Status(rawValue: -26275)

    /// The keychain failed in a way that should not happen. Please report it.
    ///
    /// `errSecInternal`, -26276
    public static let `internal` = Status(rawValue: -26276)

    /// The answer comes later, through a callback.
    ///
    /// `errSecWaitForCallback`, -34017
    public static let waitForCallback = Status(rawValue: -34017)

    /// The item waits for a key before it can be brought up to date. Unlock the
    /// keychain.
    ///
    /// `errSecUpgradePending`, -34019
    public static let upgradePending = Status(rawValue: -34019)

    /// The service that would do this is not running.
    ///
    /// `errSecServiceNotAvailable`, -67585
    public static let serviceNotAvailable = Status(rawValue: -67585)

    /// The caller could not be identified well enough.
    ///
    /// `errSecInsufficientClientID`, -67586
    public static let insufficientClientID = Status(rawValue: -67586)

    /// The device was reset while the call ran.
    ///
    /// `errSecDeviceReset`, -67587
    public static let deviceReset = Status(rawValue: -67587)

    /// The device has failed.
    ///
    /// `errSecDeviceFailed`, -67588
    public static let deviceFailed = Status(rawValue: -67588)

    /// The program could not be put on the access list.
    ///
    /// `errSecAppleAddAppACLSubject`, -67589
    public static let appleAddAppACLSubject = Status(rawValue: -67589)

    /// The public key lacks parameters that it takes from elsewhere.
    ///
    /// `errSecApplePublicKeyIncomplete`, -67590
    public static let applePublicKeyIncomplete = Status(rawValue: -67590)

    /// The signature on the program or record is not the expected one.
    ///
    /// `errSecAppleSignatureMismatch`, -67591
    public static let appleSignatureMismatch = Status(rawValue: -67591)

    /// The key's start date cannot be used.
    ///
    /// `errSecAppleInvalidKeyStartDate`, -67592
    public static let appleInvalidKeyStartDate = Status(rawValue: -67592)

    /// The key's end date cannot be used.
    ///
    /// `errSecAppleInvalidKeyEndDate`, -67593
    public static let appleInvalidKeyEndDate = Status(rawValue: -67593)

    /// A value could not be converted to the type that was needed.
    ///
    /// `errSecConversionError`, -67594
    public static let conversionError = Status(rawValue: -67594)

    /// Someone tried to force the connection down to SSL 2.
    ///
    /// `errSecAppleSSLv2Rollback`, -67595
    public static let appleSSLv2Rollback = Status(rawValue: -67595)

    /// The quota is used up.
    ///
    /// `errSecQuotaExceeded`, -67596
    public static let quotaExceeded = Status(rawValue: -67596)

    /// The file is larger than the call takes.
    ///
    /// `errSecFileTooBig`, -67597
    public static let fileTooBig = Status(rawValue: -67597)

    /// The record that protects the keychain file is damaged.
    ///
    /// `errSecInvalidDatabaseBlob`, -67598
    public static let invalidDatabaseBlob = Status(rawValue: -67598)

    /// The stored form of the key is damaged.
    ///
    /// `errSecInvalidKeyBlob`, -67599
    public static let invalidKeyBlob = Status(rawValue: -67599)

    /// The keychain file's protection has a version that is not understood.
    ///
    /// `errSecIncompatibleDatabaseBlob`, -67600
    public static let incompatibleDatabaseBlob = Status(rawValue: -67600)

    /// The stored key has a version that is not understood.
    ///
    /// `errSecIncompatibleKeyBlob`, -67601
    public static let incompatibleKeyBlob = Status(rawValue: -67601)

    /// The certificate is for other host names than the one asked for.
    ///
    /// `errSecHostNameMismatch`, -67602
    public static let hostNameMismatch = Status(rawValue: -67602)

    /// The certificate marks an extension as critical that is not understood.
    ///
    /// `errSecUnknownCriticalExtensionFlag`, -67603
    public static let unknownCriticalExtensionFlag = Status(rawValue: -67603)

    /// The certificate lacks basic constraints.
    ///
    /// `errSecNoBasicConstraints`, -67604
    public static let noBasicConstraints = Status(rawValue: -67604)

    /// The certificate's basic constraints do not say whether it is an
    /// authority.
    ///
    /// `errSecNoBasicConstraintsCA`, -67605
    public static let noBasicConstraintsCA = Status(rawValue: -67605)

    /// The issuer's key identifier in the certificate does not fit.
    ///
    /// `errSecInvalidAuthorityKeyID`, -67606
    public static let invalidAuthorityKeyID = Status(rawValue: -67606)

    /// The certificate's own key identifier does not fit.
    ///
    /// `errSecInvalidSubjectKeyID`, -67607
    public static let invalidSubjectKeyID = Status(rawValue: -67607)

    /// The policy does not accept the certificate's key usage.
    ///
    /// `errSecInvalidKeyUsageForPolicy`, -67608
    public static let invalidKeyUsageForPolicy = Status(rawValue: -67608)

    /// The certificate's extended key usage does not allow this.
    ///
    /// `errSecInvalidExtendedKeyUsage`, -67609
    public static let invalidExtendedKeyUsage = Status(rawValue: -67609)

    /// Issuer and subject of neighbouring certificates do not link up.
    ///
    /// `errSecInvalidIDLinkage`, -67610
    public static let invalidIDLinkage = Status(rawValue: -67610)

    /// The chain is longer than an authority in it allows.
    ///
    /// `errSecPathLengthConstraintExceeded`, -67611
    public static let pathLengthConstraintExceeded = Status(rawValue: -67611)

    /// The chain ends in a certificate that cannot be a root.
    ///
    /// `errSecInvalidRoot`, -67612
    public static let invalidRoot = Status(rawValue: -67612)

    /// The revocation list is past its date. Fetch a newer one.
    ///
    /// `errSecCRLExpired`, -67613
    public static let crlExpired = Status(rawValue: -67613)

    /// The revocation list is dated in the future. Check the clock.
    ///
    /// `errSecCRLNotValidYet`, -67614
    public static let crlNotValidYet = Status(rawValue: -67614)

    /// No revocation list was found for the certificate.
    ///
    /// `errSecCRLNotFound`, -67615
    public static let crlNotFound = Status(rawValue: -67615)

    /// The server with the revocation list does not answer.
    ///
    /// `errSecCRLServerDown`, -67616
    public static let crlServerDown = Status(rawValue: -67616)

    /// The address of the revocation list cannot be used.
    ///
    /// `errSecCRLBadURI`, -67617
    public static let crlBadURI = Status(rawValue: -67617)

    /// The certificate has an extension that is not understood.
    ///
    /// `errSecUnknownCertExtension`, -67618
    public static let unknownCertExtension = Status(rawValue: -67618)

    /// The revocation list has an extension that is not understood.
    ///
    /// `errSecUnknownCRLExtension`, -67619
    public static let unknownCRLExtension = Status(rawValue: -67619)

    /// The signer of the revocation list is not trusted.
    ///
    /// `errSecCRLNotTrusted`, -67620
    public static let crlNotTrusted = Status(rawValue: -67620)

    /// The revocation list breaks its policy.
    ///
    /// `errSecCRLPolicyFailed`, -67621
    public static let crlPolicyFailed = Status(rawValue: -67621)

    /// The revocation list's distribution point does not fit the certificate.
    ///
    /// `errSecIDPFailure`, -67622
    public static let idpFailure = Status(rawValue: -67622)

    /// The certificate does not name the sender's e-mail address.
    ///
    /// `errSecSMIMEEmailAddressesNotFound`, -67623
    public static let smimeEmailAddressesNotFound = Status(rawValue: -67623)

    /// The certificate's extended key usage does not allow secure mail.
    ///
    /// `errSecSMIMEBadExtendedKeyUsage`, -67624
    public static let smimeBadExtendedKeyUsage = Status(rawValue: -67624)

    /// The certificate's key usage does not allow secure mail.
    ///
    /// `errSecSMIMEBadKeyUsage`, -67625
    public static let smimeBadKeyUsage = Status(rawValue: -67625)

    /// For secure mail the key usage must be marked critical, and it is not.
    ///
    /// `errSecSMIMEKeyUsageNotCritical`, -67626
    public static let smimeKeyUsageNotCritical = Status(rawValue: -67626)

    /// The certificate names no e-mail address at all.
    ///
    /// `errSecSMIMENoEmailAddress`, -67627
    public static let smimeNoEmailAddress = Status(rawValue: -67627)

    /// For secure mail the alternative name must be marked critical, and it is
    /// not.
    ///
    /// `errSecSMIMESubjAltNameNotCritical`, -67628
    public static let smimeSubjAltNameNotCritical = Status(rawValue: -67628)

    /// The certificate's extended key usage does not allow TLS.
    ///
    /// `errSecSSLBadExtendedKeyUsage`, -67629
    public static let sslBadExtendedKeyUsage = Status(rawValue: -67629)

    /// The OCSP answer could not be read.
    ///
    /// `errSecOCSPBadResponse`, -67630
    public static let ocspBadResponse = Status(rawValue: -67630)

    /// The OCSP request could not be read.
    ///
    /// `errSecOCSPBadRequest`, -67631
    public static let ocspBadRequest = Status(rawValue: -67631)

    /// No OCSP server answers.
    ///
    /// `errSecOCSPUnavailable`, -67632
    public static let ocspUnavailable = Status(rawValue: -67632)

    /// The OCSP server does not know the certificate.
    ///
    /// `errSecOCSPStatusUnrecognized`, -67633
    public static let ocspStatusUnrecognized = Status(rawValue: -67633)

    /// The data ended early.
    ///
    /// `errSecEndOfData`, -67634
    public static let endOfData = Status(rawValue: -67634)

    /// Revocation could be checked for only a part of the chain.
    ///
    /// `errSecIncompleteCertRevocationCheck`, -67635
    public static let incompleteCertRevocationCheck = Status(rawValue: -67635)

    /// The network failed.
    ///
    /// `errSecNetworkFailure`, -67636
    public static let networkFailure = Status(rawValue: -67636)

    /// The OCSP answer does not lead to a trusted root.
    ///
    /// `errSecOCSPNotTrustedToAnchor`, -67637
    public static let ocspNotTrustedToAnchor = Status(rawValue: -67637)

    /// The record was changed by somebody else in the meantime. Read it again.
    ///
    /// `errSecRecordModified`, -67638
    public static let recordModified = Status(rawValue: -67638)

    /// The signature on the OCSP answer does not verify.
    ///
    /// `errSecOCSPSignatureError`, -67639
    public static let ocspSignatureError = Status(rawValue: -67639)

    /// The OCSP answer does not say who signed it.
    ///
    /// `errSecOCSPNoSigner`, -67640
    public static let ocspNoSigner = Status(rawValue: -67640)

    /// The OCSP server found the request malformed.
    ///
    /// `errSecOCSPResponderMalformedReq`, -67641
    public static let ocspResponderMalformedReq = Status(rawValue: -67641)

    /// The OCSP server failed.
    ///
    /// `errSecOCSPResponderInternalError`, -67642
    public static let ocspResponderInternalError = Status(rawValue: -67642)

    /// The OCSP server is busy. Try later.
    ///
    /// `errSecOCSPResponderTryLater`, -67643
    public static let ocspResponderTryLater = Status(rawValue: -67643)

    /// The OCSP server takes only signed requests.
    ///
    /// `errSecOCSPResponderSignatureRequired`, -67644
    public static let ocspResponderSignatureRequired = Status(rawValue: -67644)

    /// The OCSP server refused the request.
    ///
    /// `errSecOCSPResponderUnauthorized`, -67645
    public static let ocspResponderUnauthorized = Status(rawValue: -67645)

    /// The OCSP answer belongs to another request.
    ///
    /// `errSecOCSPResponseNonceMismatch`, -67646
    public static let ocspResponseNonceMismatch = Status(rawValue: -67646)

    /// The chain of a code signature has the wrong length.
    ///
    /// `errSecCodeSigningBadCertChainLength`, -67647
    public static let codeSigningBadCertChainLength = Status(rawValue: -67647)

    /// A certificate of a code signature lacks basic constraints.
    ///
    /// `errSecCodeSigningNoBasicConstraints`, -67648
    public static let codeSigningNoBasicConstraints = Status(rawValue: -67648)

    /// A certificate of a code signature has a wrong path length.
    ///
    /// `errSecCodeSigningBadPathLengthConstraint`, -67649
    public static let codeSigningBadPathLengthConstraint = Status(rawValue: -67649)

    /// The code signing certificate has no extended key usage.
    ///
    /// `errSecCodeSigningNoExtendedKeyUsage`, -67650
    public static let codeSigningNoExtendedKeyUsage = Status(rawValue: -67650)

    /// The code is signed with a certificate for development only.
    ///
    /// `errSecCodeSigningDevelopment`, -67651
    public static let codeSigningDevelopment = Status(rawValue: -67651)

    /// The chain of a resource signature has the wrong length.
    ///
    /// `errSecResourceSignBadCertChainLength`, -67652
    public static let resourceSignBadCertChainLength = Status(rawValue: -67652)

    /// The resource signing certificate has a wrong extended key usage.
    ///
    /// `errSecResourceSignBadExtKeyUsage`, -67653
    public static let resourceSignBadExtKeyUsage = Status(rawValue: -67653)

    /// The person's or administrator's trust settings refuse this certificate.
    ///
    /// `errSecTrustSettingDeny`, -67654
    public static let trustSettingDeny = Status(rawValue: -67654)

    /// The certificate's subject name cannot be used.
    ///
    /// `errSecInvalidSubjectName`, -67655
    public static let invalidSubjectName = Status(rawValue: -67655)

    /// The certificate makes a qualified statement that is not understood.
    ///
    /// `errSecUnknownQualifiedCertStatement`, -67656
    public static let unknownQualifiedCertStatement = Status(rawValue: -67656)

    /// MobileMe: the request waits for the next connection.
    ///
    /// `errSecMobileMeRequestQueued`, -67657
    public static let mobileMeRequestQueued = Status(rawValue: -67657)

    /// MobileMe: the request was sent elsewhere.
    ///
    /// `errSecMobileMeRequestRedirected`, -67658
    public static let mobileMeRequestRedirected = Status(rawValue: -67658)

    /// MobileMe: the server answered with an error.
    ///
    /// `errSecMobileMeServerError`, -67659
    public static let mobileMeServerError = Status(rawValue: -67659)

    /// MobileMe: the server does not answer.
    ///
    /// `errSecMobileMeServerNotAvailable`, -67660
    public static let mobileMeServerNotAvailable = Status(rawValue: -67660)

    /// MobileMe: the server holds this item already.
    ///
    /// `errSecMobileMeServerAlreadyExists`, -67661
    public static let mobileMeServerAlreadyExists = Status(rawValue: -67661)

    /// MobileMe: the service failed.
    ///
    /// `errSecMobileMeServerServiceErr`, -67662
    public static let mobileMeServerServiceErr = Status(rawValue: -67662)

    /// MobileMe: an earlier request is still open.
    ///
    /// `errSecMobileMeRequestAlreadyPending`, -67663
    public static let mobileMeRequestAlreadyPending = Status(rawValue: -67663)

    /// MobileMe: no request is open.
    ///
    /// `errSecMobileMeNoRequestPending`, -67664
    public static let mobileMeNoRequestPending = Status(rawValue: -67664)

    /// MobileMe: the certificate request does not verify.
    ///
    /// `errSecMobileMeCSRVerifyFailure`, -67665
    public static let mobileMeCSRVerifyFailure = Status(rawValue: -67665)

    /// MobileMe: the data contradicts itself.
    ///
    /// `errSecMobileMeFailedConsistencyCheck`, -67666
    public static let mobileMeFailedConsistencyCheck = Status(rawValue: -67666)

    /// The library must be initialised before this call.
    ///
    /// `errSecNotInitialized`, -67667
    public static let notInitialized = Status(rawValue: -67667)

    /// The handle is not meant for this call.
    ///
    /// `errSecInvalidHandleUsage`, -67668
    public static let invalidHandleUsage = Status(rawValue: -67668)

    /// The module that a call was checked against is gone.
    ///
    /// `errSecPVCReferentNotFound`, -67669
    public static let pvcReferentNotFound = Status(rawValue: -67669)

    /// A function failed its integrity check.
    ///
    /// `errSecFunctionIntegrityFail`, -67670
    public static let functionIntegrityFail = Status(rawValue: -67670)

    /// The security library failed in a way that should not happen. Please
    /// report it.
    ///
    /// `errSecInternalError`, -67671
    public static let internalError = Status(rawValue: -67671)

    /// Memory could not be obtained or was damaged.
    ///
    /// `errSecMemoryError`, -67672
    public static let memoryError = Status(rawValue: -67672)

    /// The data cannot be used here.
    ///
    /// `errSecInvalidData`, -67673
    public static let invalidData = Status(rawValue: -67673)

    /// The directory of modules failed.
    ///
    /// `errSecMDSError`, -67674
    public static let mdsError = Status(rawValue: -67674)

    /// A pointer does not point to anything usable.
    ///
    /// `errSecInvalidPointer`, -67675
    public static let invalidPointer = Status(rawValue: -67675)

    /// A module failed its own test.
    ///
    /// `errSecSelfCheckFailed`, -67676
    public static let selfCheckFailed = Status(rawValue: -67676)

    /// The function could not do its work.
    ///
    /// `errSecFunctionFailed`, -67677
    public static let functionFailed = Status(rawValue: -67677)

    /// The manifest of a module does not verify.
    ///
    /// `errSecModuleManifestVerifyFailed`, -67678
    public static let moduleManifestVerifyFailed = Status(rawValue: -67678)

    /// The identifier of the module is malformed.
    ///
    /// `errSecInvalidGUID`, -67679
    public static let invalidGUID = Status(rawValue: -67679)

    /// The handle is closed or was never open.
    ///
    /// `errSecInvalidHandle`, -67680
    public static let invalidHandle = Status(rawValue: -67680)

    /// The list of databases cannot be used.
    ///
    /// `errSecInvalidDBList`, -67681
    public static let invalidDBList = Status(rawValue: -67681)

    /// The module has no pass-through function of that number.
    ///
    /// `errSecInvalidPassthroughID`, -67682
    public static let invalidPassthroughID = Status(rawValue: -67682)

    /// The network address is malformed.
    ///
    /// `errSecInvalidNetworkAddress`, -67683
    public static let invalidNetworkAddress = Status(rawValue: -67683)

    /// The revocation list is signed and can no longer change.
    ///
    /// `errSecCRLAlreadySigned`, -67684
    public static let crlAlreadySigned = Status(rawValue: -67684)

    /// There are too many or too few fields.
    ///
    /// `errSecInvalidNumberOfFields`, -67685
    public static let invalidNumberOfFields = Status(rawValue: -67685)

    /// The check came out negative.
    ///
    /// `errSecVerificationFailure`, -67686
    public static let verificationFailure = Status(rawValue: -67686)

    /// The tag is not known.
    ///
    /// `errSecUnknownTag`, -67687
    public static let unknownTag = Status(rawValue: -67687)

    /// The signature is malformed or does not verify.
    ///
    /// `errSecInvalidSignature`, -67688
    public static let invalidSignature = Status(rawValue: -67688)

    /// The name cannot be used.
    ///
    /// `errSecInvalidName`, -67689
    public static let invalidName = Status(rawValue: -67689)

    /// This is not a usable certificate.
    ///
    /// `errSecInvalidCertificateRef`, -67690
    public static let invalidCertificateRef = Status(rawValue: -67690)

    /// The group of certificates cannot be used.
    ///
    /// `errSecInvalidCertificateGroup`, -67691
    public static let invalidCertificateGroup = Status(rawValue: -67691)

    /// Nothing carries that tag.
    ///
    /// `errSecTagNotFound`, -67692
    public static let tagNotFound = Status(rawValue: -67692)

    /// The query cannot be carried out as written.
    ///
    /// `errSecInvalidQuery`, -67693
    public static let invalidQuery = Status(rawValue: -67693)

    /// One of the values cannot be used.
    ///
    /// `errSecInvalidValue`, -67694
    public static let invalidValue = Status(rawValue: -67694)

    /// A callback answered with an error.
    ///
    /// `errSecCallbackFailed`, -67695
    public static let callbackFailed = Status(rawValue: -67695)

    /// The entry could not be removed from the access list.
    ///
    /// `errSecACLDeleteFailed`, -67696
    public static let aclDeleteFailed = Status(rawValue: -67696)

    /// The entry of the access list could not be replaced.
    ///
    /// `errSecACLReplaceFailed`, -67697
    public static let aclReplaceFailed = Status(rawValue: -67697)

    /// The entry could not be added to the access list.
    ///
    /// `errSecACLAddFailed`, -67698
    public static let aclAddFailed = Status(rawValue: -67698)

    /// The access list could not be changed.
    ///
    /// `errSecACLChangeFailed`, -67699
    public static let aclChangeFailed = Status(rawValue: -67699)

    /// The credentials do not open this object.
    ///
    /// `errSecInvalidAccessCredentials`, -67700
    public static let invalidAccessCredentials = Status(rawValue: -67700)

    /// The record is malformed.
    ///
    /// `errSecInvalidRecord`, -67701
    public static let invalidRecord = Status(rawValue: -67701)

    /// The access list is malformed.
    ///
    /// `errSecInvalidACL`, -67702
    public static let invalidACL = Status(rawValue: -67702)

    /// The sample given as proof is malformed.
    ///
    /// `errSecInvalidSampleValue`, -67703
    public static let invalidSampleValue = Status(rawValue: -67703)

    /// The versions of caller and module do not go together.
    ///
    /// `errSecIncompatibleVersion`, -67704
    public static let incompatibleVersion = Status(rawValue: -67704)

    /// The caller does not have the privilege for this.
    ///
    /// `errSecPrivilegeNotGranted`, -67705
    public static let privilegeNotGranted = Status(rawValue: -67705)

    /// The scope that was asked for does not exist.
    ///
    /// `errSecInvalidScope`, -67706
    public static let invalidScope = Status(rawValue: -67706)

    /// Checking of pointers is already set up.
    ///
    /// `errSecPVCAlreadyConfigured`, -67707
    public static let pvcAlreadyConfigured = Status(rawValue: -67707)

    /// The setting for checking of pointers cannot be used.
    ///
    /// `errSecInvalidPVC`, -67708
    public static let invalidPVC = Status(rawValue: -67708)

    /// The manager of optional modules could not be loaded.
    ///
    /// `errSecEMMLoadFailed`, -67709
    public static let emmLoadFailed = Status(rawValue: -67709)

    /// The manager of optional modules could not be unloaded.
    ///
    /// `errSecEMMUnloadFailed`, -67710
    public static let emmUnloadFailed = Status(rawValue: -67710)

    /// The add-in could not be loaded.
    ///
    /// `errSecAddinLoadFailed`, -67711
    public static let addinLoadFailed = Status(rawValue: -67711)

    /// This is not a usable key.
    ///
    /// `errSecInvalidKeyRef`, -67712
    public static let invalidKeyRef = Status(rawValue: -67712)

    /// The keys do not depend on each other in a usable way.
    ///
    /// `errSecInvalidKeyHierarchy`, -67713
    public static let invalidKeyHierarchy = Status(rawValue: -67713)

    /// The add-in could not be unloaded.
    ///
    /// `errSecAddinUnloadFailed`, -67714
    public static let addinUnloadFailed = Status(rawValue: -67714)

    /// The reference leads to no loaded library.
    ///
    /// `errSecLibraryReferenceNotFound`, -67715
    public static let libraryReferenceNotFound = Status(rawValue: -67715)

    /// The add-in offers a malformed table of functions.
    ///
    /// `errSecInvalidAddinFunctionTable`, -67716
    public static let invalidAddinFunctionTable = Status(rawValue: -67716)

    /// The set of services asked for cannot be used.
    ///
    /// `errSecInvalidServiceMask`, -67717
    public static let invalidServiceMask = Status(rawValue: -67717)

    /// The module must be loaded first.
    ///
    /// `errSecModuleNotLoaded`, -67718
    public static let moduleNotLoaded = Status(rawValue: -67718)

    /// The module has no part with that number.
    ///
    /// `errSecInvalidSubServiceID`, -67719
    public static let invalidSubServiceID = Status(rawValue: -67719)

    /// The context lacks the attribute that was asked for.
    ///
    /// `errSecAttributeNotInContext`, -67720
    public static let attributeNotInContext = Status(rawValue: -67720)

    /// The manager of modules could not start.
    ///
    /// `errSecModuleManagerInitializeFailed`, -67721
    public static let moduleManagerInitializeFailed = Status(rawValue: -67721)

    /// There is no such manager of modules.
    ///
    /// `errSecModuleManagerNotFound`, -67722
    public static let moduleManagerNotFound = Status(rawValue: -67722)

    /// Nobody is registered for that event.
    ///
    /// `errSecEventNotificationCallbackNotFound`, -67723
    public static let eventNotificationCallbackNotFound = Status(rawValue: -67723)

    /// The input has the wrong length.
    ///
    /// `errSecInputLengthError`, -67724
    public static let inputLengthError = Status(rawValue: -67724)

    /// The output does not fit, or has the wrong length.
    ///
    /// `errSecOutputLengthError`, -67725
    public static let outputLengthError = Status(rawValue: -67725)

    /// There is no such privilege here.
    ///
    /// `errSecPrivilegeNotSupported`, -67726
    public static let privilegeNotSupported = Status(rawValue: -67726)

    /// The device reported a failure.
    ///
    /// `errSecDeviceError`, -67727
    public static let deviceError = Status(rawValue: -67727)

    /// The handle is in use. Try again later.
    ///
    /// `errSecAttachHandleBusy`, -67728
    public static let attachHandleBusy = Status(rawValue: -67728)

    /// Log in to the device or service first.
    ///
    /// `errSecNotLoggedIn`, -67729
    public static let notLoggedIn = Status(rawValue: -67729)

    /// The key and the algorithm do not go together.
    ///
    /// `errSecAlgorithmMismatch`, -67730
    public static let algorithmMismatch = Status(rawValue: -67730)

    /// The key is not meant for this use.
    ///
    /// `errSecKeyUsageIncorrect`, -67731
    public static let keyUsageIncorrect = Status(rawValue: -67731)

    /// The stored key is of another type than it says.
    ///
    /// `errSecKeyBlobTypeIncorrect`, -67732
    public static let keyBlobTypeIncorrect = Status(rawValue: -67732)

    /// The header of the key contradicts its contents.
    ///
    /// `errSecKeyHeaderInconsistent`, -67733
    public static let keyHeaderInconsistent = Status(rawValue: -67733)

    /// Keys in this format are not taken.
    ///
    /// `errSecUnsupportedKeyFormat`, -67734
    public static let unsupportedKeyFormat = Status(rawValue: -67734)

    /// Keys of this size are not taken.
    ///
    /// `errSecUnsupportedKeySize`, -67735
    public static let unsupportedKeySize = Status(rawValue: -67735)

    /// The set of uses asked for contradicts itself.
    ///
    /// `errSecInvalidKeyUsageMask`, -67736
    public static let invalidKeyUsageMask = Status(rawValue: -67736)

    /// The set of uses asked for is not offered.
    ///
    /// `errSecUnsupportedKeyUsageMask`, -67737
    public static let unsupportedKeyUsageMask = Status(rawValue: -67737)

    /// The set of key attributes contradicts itself.
    ///
    /// `errSecInvalidKeyAttributeMask`, -67738
    public static let invalidKeyAttributeMask = Status(rawValue: -67738)

    /// The set of key attributes is not offered.
    ///
    /// `errSecUnsupportedKeyAttributeMask`, -67739
    public static let unsupportedKeyAttributeMask = Status(rawValue: -67739)

    /// The label of the key cannot be used.
    ///
    /// `errSecInvalidKeyLabel`, -67740
    public static let invalidKeyLabel = Status(rawValue: -67740)

    /// Labels of this kind are not offered for keys.
    ///
    /// `errSecUnsupportedKeyLabel`, -67741
    public static let unsupportedKeyLabel = Status(rawValue: -67741)

    /// The key is malformed.
    ///
    /// `errSecInvalidKeyFormat`, -67742
    public static let invalidKeyFormat = Status(rawValue: -67742)

    /// Several buffers at once are not taken; pass a single one.
    ///
    /// `errSecUnsupportedVectorOfBuffers`, -67743
    public static let unsupportedVectorOfBuffers = Status(rawValue: -67743)

    /// The list of input buffers cannot be used.
    ///
    /// `errSecInvalidInputVector`, -67744
    public static let invalidInputVector = Status(rawValue: -67744)

    /// The list of output buffers cannot be used.
    ///
    /// `errSecInvalidOutputVector`, -67745
    public static let invalidOutputVector = Status(rawValue: -67745)

    /// The context does not fit the operation.
    ///
    /// `errSecInvalidContext`, -67746
    public static let invalidContext = Status(rawValue: -67746)

    /// The algorithm is unknown or not meant for this.
    ///
    /// `errSecInvalidAlgorithm`, -67747
    public static let invalidAlgorithm = Status(rawValue: -67747)

    /// The key cannot be used.
    ///
    /// `errSecInvalidAttributeKey`, -67748
    public static let invalidAttributeKey = Status(rawValue: -67748)

    /// No key was given, and one is needed here.
    ///
    /// `errSecMissingAttributeKey`, -67749
    public static let missingAttributeKey = Status(rawValue: -67749)

    /// The initialisation vector cannot be used.
    ///
    /// `errSecInvalidAttributeInitVector`, -67750
    public static let invalidAttributeInitVector = Status(rawValue: -67750)

    /// No initialisation vector was given, and one is needed here.
    ///
    /// `errSecMissingAttributeInitVector`, -67751
    public static let missingAttributeInitVector = Status(rawValue: -67751)

    /// The salt cannot be used.
    ///
    /// `errSecInvalidAttributeSalt`, -67752
    public static let invalidAttributeSalt = Status(rawValue: -67752)

    /// No salt was given, and one is needed here.
    ///
    /// `errSecMissingAttributeSalt`, -67753
    public static let missingAttributeSalt = Status(rawValue: -67753)

    /// The padding cannot be used.
    ///
    /// `errSecInvalidAttributePadding`, -67754
    public static let invalidAttributePadding = Status(rawValue: -67754)

    /// No padding was given, and one is needed here.
    ///
    /// `errSecMissingAttributePadding`, -67755
    public static let missingAttributePadding = Status(rawValue: -67755)

    /// The random source cannot be used.
    ///
    /// `errSecInvalidAttributeRandom`, -67756
    public static let invalidAttributeRandom = Status(rawValue: -67756)

    /// No random source was given, and one is needed here.
    ///
    /// `errSecMissingAttributeRandom`, -67757
    public static let missingAttributeRandom = Status(rawValue: -67757)

    /// The seed cannot be used.
    ///
    /// `errSecInvalidAttributeSeed`, -67758
    public static let invalidAttributeSeed = Status(rawValue: -67758)

    /// No seed was given, and one is needed here.
    ///
    /// `errSecMissingAttributeSeed`, -67759
    public static let missingAttributeSeed = Status(rawValue: -67759)

    /// The passphrase cannot be used.
    ///
    /// `errSecInvalidAttributePassphrase`, -67760
    public static let invalidAttributePassphrase = Status(rawValue: -67760)

    /// No passphrase was given, and one is needed here.
    ///
    /// `errSecMissingAttributePassphrase`, -67761
    public static let missingAttributePassphrase = Status(rawValue: -67761)

    /// The key length cannot be used.
    ///
    /// `errSecInvalidAttributeKeyLength`, -67762
    public static let invalidAttributeKeyLength = Status(rawValue: -67762)

    /// No key length was given, and one is needed here.
    ///
    /// `errSecMissingAttributeKeyLength`, -67763
    public static let missingAttributeKeyLength = Status(rawValue: -67763)

    /// The block size cannot be used.
    ///
    /// `errSecInvalidAttributeBlockSize`, -67764
    public static let invalidAttributeBlockSize = Status(rawValue: -67764)

    /// No block size was given, and one is needed here.
    ///
    /// `errSecMissingAttributeBlockSize`, -67765
    public static let missingAttributeBlockSize = Status(rawValue: -67765)

    /// The output size cannot be used.
    ///
    /// `errSecInvalidAttributeOutputSize`, -67766
    public static let invalidAttributeOutputSize = Status(rawValue: -67766)

    /// No output size was given, and one is needed here.
    ///
    /// `errSecMissingAttributeOutputSize`, -67767
    public static let missingAttributeOutputSize = Status(rawValue: -67767)

    /// The number of rounds cannot be used.
    ///
    /// `errSecInvalidAttributeRounds`, -67768
    public static let invalidAttributeRounds = Status(rawValue: -67768)

    /// No number of rounds were given, and they are needed here.
    ///
    /// `errSecMissingAttributeRounds`, -67769
    public static let missingAttributeRounds = Status(rawValue: -67769)

    /// The algorithm parameters cannot be used.
    ///
    /// `errSecInvalidAlgorithmParms`, -67770
    public static let invalidAlgorithmParms = Status(rawValue: -67770)

    /// No algorithm parameters were given, and they are needed here.
    ///
    /// `errSecMissingAlgorithmParms`, -67771
    public static let missingAlgorithmParms = Status(rawValue: -67771)

    /// The label cannot be used.
    ///
    /// `errSecInvalidAttributeLabel`, -67772
    public static let invalidAttributeLabel = Status(rawValue: -67772)

    /// No label was given, and one is needed here.
    ///
    /// `errSecMissingAttributeLabel`, -67773
    public static let missingAttributeLabel = Status(rawValue: -67773)

    /// The key type cannot be used.
    ///
    /// `errSecInvalidAttributeKeyType`, -67774
    public static let invalidAttributeKeyType = Status(rawValue: -67774)

    /// No key type was given, and one is needed here.
    ///
    /// `errSecMissingAttributeKeyType`, -67775
    public static let missingAttributeKeyType = Status(rawValue: -67775)

    /// The mode cannot be used.
    ///
    /// `errSecInvalidAttributeMode`, -67776
    public static let invalidAttributeMode = Status(rawValue: -67776)

    /// No mode was given, and one is needed here.
    ///
    /// `errSecMissingAttributeMode`, -67777
    public static let missingAttributeMode = Status(rawValue: -67777)

    /// The number of effective bits cannot be used.
    ///
    /// `errSecInvalidAttributeEffectiveBits`, -67778
    public static let invalidAttributeEffectiveBits = Status(rawValue: -67778)

    /// No number of effective bits were given, and they are needed here.
    ///
    /// `errSecMissingAttributeEffectiveBits`, -67779
    public static let missingAttributeEffectiveBits = Status(rawValue: -67779)

    /// The start date cannot be used.
    ///
    /// `errSecInvalidAttributeStartDate`, -67780
    public static let invalidAttributeStartDate = Status(rawValue: -67780)

    /// No start date was given, and one is needed here.
    ///
    /// `errSecMissingAttributeStartDate`, -67781
    public static let missingAttributeStartDate = Status(rawValue: -67781)

    /// The end date cannot be used.
    ///
    /// `errSecInvalidAttributeEndDate`, -67782
    public static let invalidAttributeEndDate = Status(rawValue: -67782)

    /// No end date was given, and one is needed here.
    ///
    /// `errSecMissingAttributeEndDate`, -67783
    public static let missingAttributeEndDate = Status(rawValue: -67783)

    /// The version cannot be used.
    ///
    /// `errSecInvalidAttributeVersion`, -67784
    public static let invalidAttributeVersion = Status(rawValue: -67784)

    /// No version was given, and one is needed here.
    ///
    /// `errSecMissingAttributeVersion`, -67785
    public static let missingAttributeVersion = Status(rawValue: -67785)

    /// The prime cannot be used.
    ///
    /// `errSecInvalidAttributePrime`, -67786
    public static let invalidAttributePrime = Status(rawValue: -67786)

    /// No prime was given, and one is needed here.
    ///
    /// `errSecMissingAttributePrime`, -67787
    public static let missingAttributePrime = Status(rawValue: -67787)

    /// The base cannot be used.
    ///
    /// `errSecInvalidAttributeBase`, -67788
    public static let invalidAttributeBase = Status(rawValue: -67788)

    /// No base was given, and one is needed here.
    ///
    /// `errSecMissingAttributeBase`, -67789
    public static let missingAttributeBase = Status(rawValue: -67789)

    /// The subprime cannot be used.
    ///
    /// `errSecInvalidAttributeSubprime`, -67790
    public static let invalidAttributeSubprime = Status(rawValue: -67790)

    /// No subprime was given, and one is needed here.
    ///
    /// `errSecMissingAttributeSubprime`, -67791
    public static let missingAttributeSubprime = Status(rawValue: -67791)

    /// The iteration count cannot be used.
    ///
    /// `errSecInvalidAttributeIterationCount`, -67792
    public static let invalidAttributeIterationCount = Status(rawValue: -67792)

    /// No iteration count was given, and one is needed here.
    ///
    /// `errSecMissingAttributeIterationCount`, -67793
    public static let missingAttributeIterationCount = Status(rawValue: -67793)

    /// The database handle cannot be used.
    ///
    /// `errSecInvalidAttributeDLDBHandle`, -67794
    public static let invalidAttributeDLDBHandle = Status(rawValue: -67794)

    /// No database handle was given, and one is needed here.
    ///
    /// `errSecMissingAttributeDLDBHandle`, -67795
    public static let missingAttributeDLDBHandle = Status(rawValue: -67795)

    /// The access credentials cannot be used.
    ///
    /// `errSecInvalidAttributeAccessCredentials`, -67796
    public static let invalidAttributeAccessCredentials = Status(rawValue: -67796)

    /// No access credentials were given, and they are needed here.
    ///
    /// `errSecMissingAttributeAccessCredentials`, -67797
    public static let missingAttributeAccessCredentials = Status(rawValue: -67797)

    /// The public key format cannot be used.
    ///
    /// `errSecInvalidAttributePublicKeyFormat`, -67798
    public static let invalidAttributePublicKeyFormat = Status(rawValue: -67798)

    /// No public key format was given, and one is needed here.
    ///
    /// `errSecMissingAttributePublicKeyFormat`, -67799
    public static let missingAttributePublicKeyFormat = Status(rawValue: -67799)

    /// The private key format cannot be used.
    ///
    /// `errSecInvalidAttributePrivateKeyFormat`, -67800
    public static let invalidAttributePrivateKeyFormat = Status(rawValue: -67800)

    /// No private key format was given, and one is needed here.
    ///
    /// `errSecMissingAttributePrivateKeyFormat`, -67801
    public static let missingAttributePrivateKeyFormat = Status(rawValue: -67801)

    /// The symmetric key format cannot be used.
    ///
    /// `errSecInvalidAttributeSymmetricKeyFormat`, -67802
    public static let invalidAttributeSymmetricKeyFormat = Status(rawValue: -67802)

    /// No symmetric key format was given, and one is needed here.
    ///
    /// `errSecMissingAttributeSymmetricKeyFormat`, -67803
    public static let missingAttributeSymmetricKeyFormat = Status(rawValue: -67803)

    /// The wrapped key format cannot be used.
    ///
    /// `errSecInvalidAttributeWrappedKeyFormat`, -67804
    public static let invalidAttributeWrappedKeyFormat = Status(rawValue: -67804)

    /// No wrapped key format was given, and one is needed here.
    ///
    /// `errSecMissingAttributeWrappedKeyFormat`, -67805
    public static let missingAttributeWrappedKeyFormat = Status(rawValue: -67805)

    /// The operation in several steps is not finished yet.
    ///
    /// `errSecStagedOperationInProgress`, -67806
    public static let stagedOperationInProgress = Status(rawValue: -67806)

    /// The operation in several steps was never begun.
    ///
    /// `errSecStagedOperationNotStarted`, -67807
    public static let stagedOperationNotStarted = Status(rawValue: -67807)

    /// The signature does not match the data and key.
    ///
    /// `errSecVerifyFailed`, -67808
    public static let verifyFailed = Status(rawValue: -67808)

    /// The size of the result cannot be told in advance.
    ///
    /// `errSecQuerySizeUnknown`, -67809
    public static let querySizeUnknown = Status(rawValue: -67809)

    /// The length is not a multiple of the block size.
    ///
    /// `errSecBlockSizeMismatch`, -67810
    public static let blockSizeMismatch = Status(rawValue: -67810)

    /// The public key contradicts its private key.
    ///
    /// `errSecPublicKeyInconsistent`, -67811
    public static let publicKeyInconsistent = Status(rawValue: -67811)

    /// The device could not be shown to be genuine.
    ///
    /// `errSecDeviceVerifyFailed`, -67812
    public static let deviceVerifyFailed = Status(rawValue: -67812)

    /// The login name cannot be used.
    ///
    /// `errSecInvalidLoginName`, -67813
    public static let invalidLoginName = Status(rawValue: -67813)

    /// Somebody is logged in already.
    ///
    /// `errSecAlreadyLoggedIn`, -67814
    public static let alreadyLoggedIn = Status(rawValue: -67814)

    /// The digest algorithm is unknown or not meant for this.
    ///
    /// `errSecInvalidDigestAlgorithm`, -67815
    public static let invalidDigestAlgorithm = Status(rawValue: -67815)

    /// The group of revocation lists cannot be used.
    ///
    /// `errSecInvalidCRLGroup`, -67816
    public static let invalidCRLGroup = Status(rawValue: -67816)

    /// The certificate does not allow this operation.
    ///
    /// `errSecCertificateCannotOperate`, -67817
    public static let certificateCannotOperate = Status(rawValue: -67817)

    /// The certificate is past its last day. Renew it.
    ///
    /// `errSecCertificateExpired`, -67818
    public static let certificateExpired = Status(rawValue: -67818)

    /// The certificate is dated in the future. Check the clock.
    ///
    /// `errSecCertificateNotValidYet`, -67819
    public static let certificateNotValidYet = Status(rawValue: -67819)

    /// The issuer withdrew the certificate.
    ///
    /// `errSecCertificateRevoked`, -67820
    public static let certificateRevoked = Status(rawValue: -67820)

    /// The issuer put the certificate on hold.
    ///
    /// `errSecCertificateSuspended`, -67821
    public static let certificateSuspended = Status(rawValue: -67821)

    /// The credentials given are not enough for this.
    ///
    /// `errSecInsufficientCredentials`, -67822
    public static let insufficientCredentials = Status(rawValue: -67822)

    /// There is no such action.
    ///
    /// `errSecInvalidAction`, -67823
    public static let invalidAction = Status(rawValue: -67823)

    /// The authority cannot be used.
    ///
    /// `errSecInvalidAuthority`, -67824
    public static let invalidAuthority = Status(rawValue: -67824)

    /// The action that follows verification failed.
    ///
    /// `errSecVerifyActionFailed`, -67825
    public static let verifyActionFailed = Status(rawValue: -67825)

    /// The issuing authority of the certificate is not acceptable.
    ///
    /// `errSecInvalidCertAuthority`, -67826
    public static let invalidCertAuthority = Status(rawValue: -67826)

    /// The issuing authority of the revocation list is not acceptable.
    ///
    /// `errSecInvalidCRLAuthority`, -67827
    public static let invalidCRLAuthority = Status(rawValue: -67827)

    /// The encoding of the revocation list is unknown.
    ///
    /// `errSecInvalidCRLEncoding`, -67828
    public static let invalidCRLEncoding = Status(rawValue: -67828)

    /// The type of the revocation list is unknown.
    ///
    /// `errSecInvalidCRLType`, -67829
    public static let invalidCRLType = Status(rawValue: -67829)

    /// The revocation list is malformed.
    ///
    /// `errSecInvalidCRL`, -67830
    public static let invalidCRL = Status(rawValue: -67830)

    /// The type of form is unknown.
    ///
    /// `errSecInvalidFormType`, -67831
    public static let invalidFormType = Status(rawValue: -67831)

    /// The identifier cannot be used.
    ///
    /// `errSecInvalidID`, -67832
    public static let invalidID = Status(rawValue: -67832)

    /// The name of the object is malformed.
    ///
    /// `errSecInvalidIdentifier`, -67833
    public static let invalidIdentifier = Status(rawValue: -67833)

    /// The index is out of range or malformed.
    ///
    /// `errSecInvalidIndex`, -67834
    public static let invalidIndex = Status(rawValue: -67834)

    /// The identifiers of the policies are malformed.
    ///
    /// `errSecInvalidPolicyIdentifiers`, -67835
    public static let invalidPolicyIdentifiers = Status(rawValue: -67835)

    /// The time is not written in the expected form.
    ///
    /// `errSecInvalidTimeString`, -67836
    public static let invalidTimeString = Status(rawValue: -67836)

    /// There is no such reason code.
    ///
    /// `errSecInvalidReason`, -67837
    public static let invalidReason = Status(rawValue: -67837)

    /// The inputs of the request do not go together.
    ///
    /// `errSecInvalidRequestInputs`, -67838
    public static let invalidRequestInputs = Status(rawValue: -67838)

    /// The list of answers is malformed.
    ///
    /// `errSecInvalidResponseVector`, -67839
    public static let invalidResponseVector = Status(rawValue: -67839)

    /// The rule about when to stop evaluating cannot be used.
    ///
    /// `errSecInvalidStopOnPolicy`, -67840
    public static let invalidStopOnPolicy = Status(rawValue: -67840)

    /// The tuple is malformed.
    ///
    /// `errSecInvalidTuple`, -67841
    public static let invalidTuple = Status(rawValue: -67841)

    /// Only a single value is taken here.
    ///
    /// `errSecMultipleValuesUnsupported`, -67842
    public static let multipleValuesUnsupported = Status(rawValue: -67842)

    /// The certificate chain does not lead to anything trusted.
    ///
    /// `errSecNotTrusted`, -67843
    public static let notTrusted = Status(rawValue: -67843)

    /// No authority is set as the default.
    ///
    /// `errSecNoDefaultAuthority`, -67844
    public static let noDefaultAuthority = Status(rawValue: -67844)

    /// The form was turned down.
    ///
    /// `errSecRejectedForm`, -67845
    public static let rejectedForm = Status(rawValue: -67845)

    /// The request got lost on the way.
    ///
    /// `errSecRequestLost`, -67846
    public static let requestLost = Status(rawValue: -67846)

    /// The request was turned down.
    ///
    /// `errSecRequestRejected`, -67847
    public static let requestRejected = Status(rawValue: -67847)

    /// Addresses of this kind are not taken.
    ///
    /// `errSecUnsupportedAddressType`, -67848
    public static let unsupportedAddressType = Status(rawValue: -67848)

    /// There is no such service here.
    ///
    /// `errSecUnsupportedService`, -67849
    public static let unsupportedService = Status(rawValue: -67849)

    /// The group of tuples is malformed.
    ///
    /// `errSecInvalidTupleGroup`, -67850
    public static let invalidTupleGroup = Status(rawValue: -67850)

    /// The access lists to start from are malformed.
    ///
    /// `errSecInvalidBaseACLs`, -67851
    public static let invalidBaseACLs = Status(rawValue: -67851)

    /// The credentials of the tuple are malformed.
    ///
    /// `errSecInvalidTupleCredentials`, -67852
    public static let invalidTupleCredentials = Status(rawValue: -67852)

    /// The data is not encoded as it should be.
    ///
    /// `errSecInvalidEncoding`, -67853
    public static let invalidEncoding = Status(rawValue: -67853)

    /// The period of validity is malformed.
    ///
    /// `errSecInvalidValidityPeriod`, -67854
    public static let invalidValidityPeriod = Status(rawValue: -67854)

    /// Whoever made the request is not acceptable.
    ///
    /// `errSecInvalidRequestor`, -67855
    public static let invalidRequestor = Status(rawValue: -67855)

    /// The description of the request is malformed.
    ///
    /// `errSecRequestDescriptor`, -67856
    public static let requestDescriptor = Status(rawValue: -67856)

    /// The description of the bundle is malformed.
    ///
    /// `errSecInvalidBundleInfo`, -67857
    public static let invalidBundleInfo = Status(rawValue: -67857)

    /// The revocation list has no entry at that index.
    ///
    /// `errSecInvalidCRLIndex`, -67858
    public static let invalidCRLIndex = Status(rawValue: -67858)

    /// None of the fields has a value.
    ///
    /// `errSecNoFieldValues`, -67859
    public static let noFieldValues = Status(rawValue: -67859)

    /// The format of the field is not offered.
    ///
    /// `errSecUnsupportedFieldFormat`, -67860
    public static let unsupportedFieldFormat = Status(rawValue: -67860)

    /// Indexes of this kind are not offered.
    ///
    /// `errSecUnsupportedIndexInfo`, -67861
    public static let unsupportedIndexInfo = Status(rawValue: -67861)

    /// The database cannot be kept in that place.
    ///
    /// `errSecUnsupportedLocality`, -67862
    public static let unsupportedLocality = Status(rawValue: -67862)

    /// That many attributes are not offered.
    ///
    /// `errSecUnsupportedNumAttributes`, -67863
    public static let unsupportedNumAttributes = Status(rawValue: -67863)

    /// That many indexes are not offered.
    ///
    /// `errSecUnsupportedNumIndexes`, -67864
    public static let unsupportedNumIndexes = Status(rawValue: -67864)

    /// That many types of record are not offered.
    ///
    /// `errSecUnsupportedNumRecordTypes`, -67865
    public static let unsupportedNumRecordTypes = Status(rawValue: -67865)

    /// A field was given more than once.
    ///
    /// `errSecFieldSpecifiedMultiple`, -67866
    public static let fieldSpecifiedMultiple = Status(rawValue: -67866)

    /// The field has another format than its definition.
    ///
    /// `errSecIncompatibleFieldFormat`, -67867
    public static let incompatibleFieldFormat = Status(rawValue: -67867)

    /// The module that should read the data cannot be used.
    ///
    /// `errSecInvalidParsingModule`, -67868
    public static let invalidParsingModule = Status(rawValue: -67868)

    /// The database is locked. Unlock it and try again.
    ///
    /// `errSecDatabaseLocked`, -67869
    public static let databaseLocked = Status(rawValue: -67869)

    /// The data store is open. Close it first.
    ///
    /// `errSecDatastoreIsOpen`, -67870
    public static let datastoreIsOpen = Status(rawValue: -67870)

    /// A value is needed here and none was given.
    ///
    /// `errSecMissingValue`, -67871
    public static let missingValue = Status(rawValue: -67871)

    /// Limits of this kind are not offered in queries.
    ///
    /// `errSecUnsupportedQueryLimits`, -67872
    public static let unsupportedQueryLimits = Status(rawValue: -67872)

    /// That many conditions are not offered in one query.
    ///
    /// `errSecUnsupportedNumSelectionPreds`, -67873
    public static let unsupportedNumSelectionPreds = Status(rawValue: -67873)

    /// The operator is not offered in queries.
    ///
    /// `errSecUnsupportedOperator`, -67874
    public static let unsupportedOperator = Status(rawValue: -67874)

    /// The place given for the database cannot be used.
    ///
    /// `errSecInvalidDBLocation`, -67875
    public static let invalidDBLocation = Status(rawValue: -67875)

    /// The kind of access asked for does not exist.
    ///
    /// `errSecInvalidAccessRequest`, -67876
    public static let invalidAccessRequest = Status(rawValue: -67876)

    /// The description of the index is malformed.
    ///
    /// `errSecInvalidIndexInfo`, -67877
    public static let invalidIndexInfo = Status(rawValue: -67877)

    /// The object cannot be given to that owner.
    ///
    /// `errSecInvalidNewOwner`, -67878
    public static let invalidNewOwner = Status(rawValue: -67878)

    /// There is no such way of changing a record.
    ///
    /// `errSecInvalidModifyMode`, -67879
    public static let invalidModifyMode = Status(rawValue: -67879)

    /// The certificate lacks an extension that it must have.
    ///
    /// `errSecMissingRequiredExtension`, -67880
    public static let missingRequiredExtension = Status(rawValue: -67880)

    /// The extended key usage must be marked critical, and it is not.
    ///
    /// `errSecExtendedKeyUsageNotCritical`, -67881
    public static let extendedKeyUsageNotCritical = Status(rawValue: -67881)

    /// The time stamp that was expected is not there.
    ///
    /// `errSecTimestampMissing`, -67882
    public static let timestampMissing = Status(rawValue: -67882)

    /// The time stamp does not verify.
    ///
    /// `errSecTimestampInvalid`, -67883
    public static let timestampInvalid = Status(rawValue: -67883)

    /// The signer of the time stamp is not trusted.
    ///
    /// `errSecTimestampNotTrusted`, -67884
    public static let timestampNotTrusted = Status(rawValue: -67884)

    /// No time stamp service answers.
    ///
    /// `errSecTimestampServiceNotAvailable`, -67885
    public static let timestampServiceNotAvailable = Status(rawValue: -67885)

    /// The time stamp service does not take this algorithm.
    ///
    /// `errSecTimestampBadAlg`, -67886
    public static let timestampBadAlg = Status(rawValue: -67886)

    /// The time stamp service found the request malformed.
    ///
    /// `errSecTimestampBadRequest`, -67887
    public static let timestampBadRequest = Status(rawValue: -67887)

    /// The data for the time stamp has the wrong format.
    ///
    /// `errSecTimestampBadDataFormat`, -67888
    public static let timestampBadDataFormat = Status(rawValue: -67888)

    /// The time stamp service does not have the time.
    ///
    /// `errSecTimestampTimeNotAvailable`, -67889
    public static let timestampTimeNotAvailable = Status(rawValue: -67889)

    /// The time stamp service does not follow the policy asked for.
    ///
    /// `errSecTimestampUnacceptedPolicy`, -67890
    public static let timestampUnacceptedPolicy = Status(rawValue: -67890)

    /// The time stamp service does not take this extension.
    ///
    /// `errSecTimestampUnacceptedExtension`, -67891
    public static let timestampUnacceptedExtension = Status(rawValue: -67891)

    /// The time stamp service cannot give the further facts asked for.
    ///
    /// `errSecTimestampAddInfoNotAvailable`, -67892
    public static let timestampAddInfoNotAvailable = Status(rawValue: -67892)

    /// The time stamp service failed.
    ///
    /// `errSecTimestampSystemFailure`, -67893
    public static let timestampSystemFailure = Status(rawValue: -67893)

    /// The signature does not say when it was made.
    ///
    /// `errSecSigningTimeMissing`, -67894
    public static let signingTimeMissing = Status(rawValue: -67894)

    /// The time stamp service turned the request down.
    ///
    /// `errSecTimestampRejection`, -67895
    public static let timestampRejection = Status(rawValue: -67895)

    /// The time stamp is not ready yet. Try later.
    ///
    /// `errSecTimestampWaiting`, -67896
    public static let timestampWaiting = Status(rawValue: -67896)

    /// The time stamp service is about to be withdrawn.
    ///
    /// `errSecTimestampRevocationWarning`, -67897
    public static let timestampRevocationWarning = Status(rawValue: -67897)

    /// The time stamp service has been withdrawn.
    ///
    /// `errSecTimestampRevocationNotification`, -67898
    public static let timestampRevocationNotification = Status(rawValue: -67898)

    /// An authority in the chain does not allow this policy.
    ///
    /// `errSecCertificatePolicyNotAllowed`, -67899
    public static let certificatePolicyNotAllowed = Status(rawValue: -67899)

    /// An authority in the chain may not issue for this name.
    ///
    /// `errSecCertificateNameNotAllowed`, -67900
    public static let certificateNameNotAllowed = Status(rawValue: -67900)

    /// The certificate is good for longer than is accepted.
    ///
    /// `errSecCertificateValidityPeriodTooLong`, -67901
    public static let certificateValidityPeriodTooLong = Status(rawValue: -67901)

    /// An authority's certificate was given where an end certificate belongs.
    ///
    /// `errSecCertificateIsCA`, -67902
    public static let certificateIsCA = Status(rawValue: -67902)

    /// The certificate carries the same extension twice.
    ///
    /// `errSecCertificateDuplicateExtension`, -67903
    public static let certificateDuplicateExtension = Status(rawValue: -67903)

    /// The certificate lacks a qualified statement that it must make.
    ///
    /// `errSecMissingQualifiedCertStatement`, -67904
    public static let missingQualifiedCertStatement = Status(rawValue: -67904)

    /// Every code we know, by rising number, so that a lookup can halve it.
    static let table: [Entry] = [
        Entry(-67904, "errSecMissingQualifiedCertStatement",
            text: "The certificate lacks a qualified statement that it must make."),
        Entry(-67903, "errSecCertificateDuplicateExtension",
            text: "The certificate carries the same extension twice."),
        Entry(-67902, "errSecCertificateIsCA",
            text: "An authority's certificate was given where an end certificate belongs."),
        Entry(-67901, "errSecCertificateValidityPeriodTooLong",
            text: "The certificate is good for longer than is accepted."),
        Entry(-67900, "errSecCertificateNameNotAllowed",
            text: "An authority in the chain may not issue for this name."),
        Entry(-67899, "errSecCertificatePolicyNotAllowed",
            text: "An authority in the chain does not allow this policy."),
        Entry(-67898, "errSecTimestampRevocationNotification",
            text: "The time stamp service has been withdrawn."),
        Entry(-67897, "errSecTimestampRevocationWarning",
            text: "The time stamp service is about to be withdrawn."),
        Entry(-67896, "errSecTimestampWaiting",
            text: "The time stamp is not ready yet. Try later."),
        Entry(-67895, "errSecTimestampRejection",
            text: "The time stamp service turned the request down."),
        Entry(-67894, "errSecSigningTimeMissing",
            text: "The signature does not say when it was made."),
        Entry(-67893, "errSecTimestampSystemFailure",
            text: "The time stamp service failed."),
        Entry(-67892, "errSecTimestampAddInfoNotAvailable",
            text: "The time stamp service cannot give the further facts asked for."),
        Entry(-67891, "errSecTimestampUnacceptedExtension",
            text: "The time stamp service does not take this extension."),
        Entry(-67890, "errSecTimestampUnacceptedPolicy",
            text: "The time stamp service does not follow the policy asked for."),
        Entry(-67889, "errSecTimestampTimeNotAvailable",
            text: "The time stamp service does not have the time."),
        Entry(-67888, "errSecTimestampBadDataFormat",
            text: "The data for the time stamp has the wrong format."),
        Entry(-67887, "errSecTimestampBadRequest",
            text: "The time stamp service found the request malformed."),
        Entry(-67886, "errSecTimestampBadAlg",
            text: "The time stamp service does not take this algorithm."),
        Entry(-67885, "errSecTimestampServiceNotAvailable",
            text: "No time stamp service answers."),
        Entry(-67884, "errSecTimestampNotTrusted",
            text: "The signer of the time stamp is not trusted."),
        Entry(-67883, "errSecTimestampInvalid",
            text: "The time stamp does not verify."),
        Entry(-67882, "errSecTimestampMissing",
            text: "The time stamp that was expected is not there."),
        Entry(-67881, "errSecExtendedKeyUsageNotCritical",
            text: "The extended key usage must be marked critical, and it is not."),
        Entry(-67880, "errSecMissingRequiredExtension",
            text: "The certificate lacks an extension that it must have."),
        Entry(-67879, "errSecInvalidModifyMode",
            text: "There is no such way of changing a record."),
        Entry(-67878, "errSecInvalidNewOwner",
            text: "The object cannot be given to that owner."),
        Entry(-67877, "errSecInvalidIndexInfo",
            text: "The description of the index is malformed."),
        Entry(-67876, "errSecInvalidAccessRequest",
            text: "The kind of access asked for does not exist."),
        Entry(-67875, "errSecInvalidDBLocation",
            text: "The place given for the database cannot be used."),
        Entry(-67874, "errSecUnsupportedOperator",
            text: "The operator is not offered in queries."),
        Entry(-67873, "errSecUnsupportedNumSelectionPreds",
            text: "That many conditions are not offered in one query."),
        Entry(-67872, "errSecUnsupportedQueryLimits",
            text: "Limits of this kind are not offered in queries."),
        Entry(-67871, "errSecMissingValue",
            text: "A value is needed here and none was given."),
        Entry(-67870, "errSecDatastoreIsOpen",
            text: "The data store is open. Close it first."),
        Entry(-67869, "errSecDatabaseLocked",
            text: "The database is locked. Unlock it and try again."),
        Entry(-67868, "errSecInvalidParsingModule",
            text: "The module that should read the data cannot be used."),
        Entry(-67867, "errSecIncompatibleFieldFormat",
            text: "The field has another format than its definition."),
        Entry(-67866, "errSecFieldSpecifiedMultiple",
            text: "A field was given more than once."),
        Entry(-67865, "errSecUnsupportedNumRecordTypes",
            text: "That many types of record are not offered."),
        Entry(-67864, "errSecUnsupportedNumIndexes",
            text: "That many indexes are not offered."),
        Entry(-67863, "errSecUnsupportedNumAttributes",
            text: "That many attributes are not offered."),
        Entry(-67862, "errSecUnsupportedLocality",
            text: "The database cannot be kept in that place."),
        Entry(-67861, "errSecUnsupportedIndexInfo",
            text: "Indexes of this kind are not offered."),
        Entry(-67860, "errSecUnsupportedFieldFormat",
            text: "The format of the field is not offered."),
        Entry(-67859, "errSecNoFieldValues",
            text: "None of the fields has a value."),
        Entry(-67858, "errSecInvalidCRLIndex",
            text: "The revocation list has no entry at that index."),
        Entry(-67857, "errSecInvalidBundleInfo",
            text: "The description of the bundle is malformed."),
        Entry(-67856, "errSecRequestDescriptor",
            text: "The description of the request is malformed."),
        Entry(-67855, "errSecInvalidRequestor",
            text: "Whoever made the request is not acceptable."),
        Entry(-67854, "errSecInvalidValidityPeriod",
            text: "The period of validity is malformed."),
        Entry(-67853, "errSecInvalidEncoding",
            text: "The data is not encoded as it should be."),
        Entry(-67852, "errSecInvalidTupleCredentials",
            text: "The credentials of the tuple are malformed."),
        Entry(-67851, "errSecInvalidBaseACLs",
            text: "The access lists to start from are malformed."),
        Entry(-67850, "errSecInvalidTupleGroup",
            text: "The group of tuples is malformed."),
        Entry(-67849, "errSecUnsupportedService",
            text: "There is no such service here."),
        Entry(-67848, "errSecUnsupportedAddressType",
            text: "Addresses of this kind are not taken."),
        Entry(-67847, "errSecRequestRejected",
            text: "The request was turned down."),
        Entry(-67846, "errSecRequestLost",
            text: "The request got lost on the way."),
        Entry(-67845, "errSecRejectedForm",
            text: "The form was turned down."),
        Entry(-67844, "errSecNoDefaultAuthority",
            text: "No authority is set as the default."),
        Entry(-67843, "errSecNotTrusted",
            text: "The certificate chain does not lead to anything trusted."),
        Entry(-67842, "errSecMultipleValuesUnsupported",
            text: "Only a single value is taken here."),
        Entry(-67841, "errSecInvalidTuple",
            text: "The tuple is malformed."),
        Entry(-67840, "errSecInvalidStopOnPolicy",
            text: "The rule about when to stop evaluating cannot be used."),
        Entry(-67839, "errSecInvalidResponseVector",
            text: "The list of answers is malformed."),
        Entry(-67838, "errSecInvalidRequestInputs",
            text: "The inputs of the request do not go together."),
        Entry(-67837, "errSecInvalidReason",
            text: "There is no such reason code."),
        Entry(-67836, "errSecInvalidTimeString",
            text: "The time is not written in the expected form."),
        Entry(-67835, "errSecInvalidPolicyIdentifiers",
            text: "The identifiers of the policies are malformed."),
        Entry(-67834, "errSecInvalidIndex",
            text: "The index is out of range or malformed."),
        Entry(-67833, "errSecInvalidIdentifier",
            text: "The name of the object is malformed."),
        Entry(-67832, "errSecInvalidID",
            text: "The identifier cannot be used."),
        Entry(-67831, "errSecInvalidFormType",
            text: "The type of form is unknown."),
        Entry(-67830, "errSecInvalidCRL",
            text: "The revocation list is malformed."),
        Entry(-67829, "errSecInvalidCRLType",
            text: "The type of the revocation list is unknown."),
        Entry(-67828, "errSecInvalidCRLEncoding",
            text: "The encoding of the revocation list is unknown."),
        Entry(-67827, "errSecInvalidCRLAuthority",
            text: "The issuing authority of the revocation list is not acceptable."),
        Entry(-67826, "errSecInvalidCertAuthority",
            text: "The issuing authority of the certificate is not acceptable."),
        Entry(-67825, "errSecVerifyActionFailed",
            text: "The action that follows verification failed."),
        Entry(-67824, "errSecInvalidAuthority",
            text: "The authority cannot be used."),
        Entry(-67823, "errSecInvalidAction",
            text: "There is no such action."),
        Entry(-67822, "errSecInsufficientCredentials",
            text: "The credentials given are not enough for this."),
        Entry(-67821, "errSecCertificateSuspended",
            text: "The issuer put the certificate on hold."),
        Entry(-67820, "errSecCertificateRevoked",
            text: "The issuer withdrew the certificate."),
        Entry(-67819, "errSecCertificateNotValidYet",
            text: "The certificate is dated in the future. Check the clock."),
        Entry(-67818, "errSecCertificateExpired",
            text: "The certificate is past its last day. Renew it."),
        Entry(-67817, "errSecCertificateCannotOperate",
            text: "The certificate does not allow this operation."),
        Entry(-67816, "errSecInvalidCRLGroup",
            text: "The group of revocation lists cannot be used."),
        Entry(-67815, "errSecInvalidDigestAlgorithm",
            text: "The digest algorithm is unknown or not meant for this."),
        Entry(-67814, "errSecAlreadyLoggedIn",
            text: "Somebody is logged in already."),
        Entry(-67813, "errSecInvalidLoginName",
            text: "The login name cannot be used."),
        Entry(-67812, "errSecDeviceVerifyFailed",
            text: "The device could not be shown to be genuine."),
        Entry(-67811, "errSecPublicKeyInconsistent",
            text: "The public key contradicts its private key."),
        Entry(-67810, "errSecBlockSizeMismatch",
            text: "The length is not a multiple of the block size."),
        Entry(-67809, "errSecQuerySizeUnknown",
            text: "The size of the result cannot be told in advance."),
        Entry(-67808, "errSecVerifyFailed",
            text: "The signature does not match the data and key."),
        Entry(-67807, "errSecStagedOperationNotStarted",
            text: "The operation in several steps was never begun."),
        Entry(-67806, "errSecStagedOperationInProgress",
            text: "The operation in several steps is not finished yet."),
        Entry(-67805, "errSecMissingAttributeWrappedKeyFormat",
            text: "No wrapped key format was given, and one is needed here."),
        Entry(-67804, "errSecInvalidAttributeWrappedKeyFormat",
            text: "The wrapped key format cannot be used."),
        Entry(-67803, "errSecMissingAttributeSymmetricKeyFormat",
            text: "No symmetric key format was given, and one is needed here."),
        Entry(-67802, "errSecInvalidAttributeSymmetricKeyFormat",
            text: "The symmetric key format cannot be used."),
        Entry(-67801, "errSecMissingAttributePrivateKeyFormat",
            text: "No private key format was given, and one is needed here."),
        Entry(-67800, "errSecInvalidAttributePrivateKeyFormat",
            text: "The private key format cannot be used."),
        Entry(-67799, "errSecMissingAttributePublicKeyFormat",
            text: "No public key format was given, and one is needed here."),
        Entry(-67798, "errSecInvalidAttributePublicKeyFormat",
            text: "The public key format cannot be used."),
        Entry(-67797, "errSecMissingAttributeAccessCredentials",
            text: "No access credentials were given, and they are needed here."),
        Entry(-67796, "errSecInvalidAttributeAccessCredentials",
            text: "The access credentials cannot be used."),
        Entry(-67795, "errSecMissingAttributeDLDBHandle",
            text: "No database handle was given, and one is needed here."),
        Entry(-67794, "errSecInvalidAttributeDLDBHandle",
            text: "The database handle cannot be used."),
        Entry(-67793, "errSecMissingAttributeIterationCount",
            text: "No iteration count was given, and one is needed here."),
        Entry(-67792, "errSecInvalidAttributeIterationCount",
            text: "The iteration count cannot be used."),
        Entry(-67791, "errSecMissingAttributeSubprime",
            text: "No subprime was given, and one is needed here."),
        Entry(-67790, "errSecInvalidAttributeSubprime",
            text: "The subprime cannot be used."),
        Entry(-67789, "errSecMissingAttributeBase",
            text: "No base was given, and one is needed here."),
        Entry(-67788, "errSecInvalidAttributeBase",
            text: "The base cannot be used."),
        Entry(-67787, "errSecMissingAttributePrime",
            text: "No prime was given, and one is needed here."),
        Entry(-67786, "errSecInvalidAttributePrime",
            text: "The prime cannot be used."),
        Entry(-67785, "errSecMissingAttributeVersion",
            text: "No version was given, and one is needed here."),
        Entry(-67784, "errSecInvalidAttributeVersion",
            text: "The version cannot be used."),
        Entry(-67783, "errSecMissingAttributeEndDate",
            text: "No end date was given, and one is needed here."),
        Entry(-67782, "errSecInvalidAttributeEndDate",
            text: "The end date cannot be used."),
        Entry(-67781, "errSecMissingAttributeStartDate",
            text: "No start date was given, and one is needed here."),
        Entry(-67780, "errSecInvalidAttributeStartDate",
            text: "The start date cannot be used."),
        Entry(-67779, "errSecMissingAttributeEffectiveBits",
            text: "No number of effective bits were given, and they are needed here."),
        Entry(-67778, "errSecInvalidAttributeEffectiveBits",
            text: "The number of effective bits cannot be used."),
        Entry(-67777, "errSecMissingAttributeMode",
            text: "No mode was given, and one is needed here."),
        Entry(-67776, "errSecInvalidAttributeMode",
            text: "The mode cannot be used."),
        Entry(-67775, "errSecMissingAttributeKeyType",
            text: "No key type was given, and one is needed here."),
        Entry(-67774, "errSecInvalidAttributeKeyType",
            text: "The key type cannot be used."),
        Entry(-67773, "errSecMissingAttributeLabel",
            text: "No label was given, and one is needed here."),
        Entry(-67772, "errSecInvalidAttributeLabel",
            text: "The label cannot be used."),
        Entry(-67771, "errSecMissingAlgorithmParms",
            text: "No algorithm parameters were given, and they are needed here."),
        Entry(-67770, "errSecInvalidAlgorithmParms",
            text: "The algorithm parameters cannot be used."),
        Entry(-67769, "errSecMissingAttributeRounds",
            text: "No number of rounds were given, and they are needed here."),
        Entry(-67768, "errSecInvalidAttributeRounds",
            text: "The number of rounds cannot be used."),
        Entry(-67767, "errSecMissingAttributeOutputSize",
            text: "No output size was given, and one is needed here."),
        Entry(-67766, "errSecInvalidAttributeOutputSize",
            text: "The output size cannot be used."),
        Entry(-67765, "errSecMissingAttributeBlockSize",
            text: "No block size was given, and one is needed here."),
        Entry(-67764, "errSecInvalidAttributeBlockSize",
            text: "The block size cannot be used."),
        Entry(-67763, "errSecMissingAttributeKeyLength",
            text: "No key length was given, and one is needed here."),
        Entry(-67762, "errSecInvalidAttributeKeyLength",
            text: "The key length cannot be used."),
        Entry(-67761, "errSecMissingAttributePassphrase",
            text: "No passphrase was given, and one is needed here."),
        Entry(-67760, "errSecInvalidAttributePassphrase",
            text: "The passphrase cannot be used."),
        Entry(-67759, "errSecMissingAttributeSeed",
            text: "No seed was given, and one is needed here."),
        Entry(-67758, "errSecInvalidAttributeSeed",
            text: "The seed cannot be used."),
        Entry(-67757, "errSecMissingAttributeRandom",
            text: "No random source was given, and one is needed here."),
        Entry(-67756, "errSecInvalidAttributeRandom",
            text: "The random source cannot be used."),
        Entry(-67755, "errSecMissingAttributePadding",
            text: "No padding was given, and one is needed here."),
        Entry(-67754, "errSecInvalidAttributePadding",
            text: "The padding cannot be used."),
        Entry(-67753, "errSecMissingAttributeSalt",
            text: "No salt was given, and one is needed here."),
        Entry(-67752, "errSecInvalidAttributeSalt",
            text: "The salt cannot be used."),
        Entry(-67751, "errSecMissingAttributeInitVector",
            text: "No initialisation vector was given, and one is needed here."),
        Entry(-67750, "errSecInvalidAttributeInitVector",
            text: "The initialisation vector cannot be used."),
        Entry(-67749, "errSecMissingAttributeKey",
            text: "No key was given, and one is needed here."),
        Entry(-67748, "errSecInvalidAttributeKey",
            text: "The key cannot be used."),
        Entry(-67747, "errSecInvalidAlgorithm",
            text: "The algorithm is unknown or not meant for this."),
        Entry(-67746, "errSecInvalidContext",
            text: "The context does not fit the operation."),
        Entry(-67745, "errSecInvalidOutputVector",
            text: "The list of output buffers cannot be used."),
        Entry(-67744, "errSecInvalidInputVector",
            text: "The list of input buffers cannot be used."),
        Entry(-67743, "errSecUnsupportedVectorOfBuffers",
            text: "Several buffers at once are not taken; pass a single one."),
        Entry(-67742, "errSecInvalidKeyFormat",
            text: "The key is malformed."),
        Entry(-67741, "errSecUnsupportedKeyLabel",
            text: "Labels of this kind are not offered for keys."),
        Entry(-67740, "errSecInvalidKeyLabel",
            text: "The label of the key cannot be used."),
        Entry(-67739, "errSecUnsupportedKeyAttributeMask",
            text: "The set of key attributes is not offered."),
        Entry(-67738, "errSecInvalidKeyAttributeMask",
            text: "The set of key attributes contradicts itself."),
        Entry(-67737, "errSecUnsupportedKeyUsageMask",
            text: "The set of uses asked for is not offered."),
        Entry(-67736, "errSecInvalidKeyUsageMask",
            text: "The set of uses asked for contradicts itself."),
        Entry(-67735, "errSecUnsupportedKeySize",
            text: "Keys of this size are not taken."),
        Entry(-67734, "errSecUnsupportedKeyFormat",
            text: "Keys in this format are not taken."),
        Entry(-67733, "errSecKeyHeaderInconsistent",
            text: "The header of the key contradicts its contents."),
        Entry(-67732, "errSecKeyBlobTypeIncorrect",
            text: "The stored key is of another type than it says."),
        Entry(-67731, "errSecKeyUsageIncorrect",
            text: "The key is not meant for this use."),
        Entry(-67730, "errSecAlgorithmMismatch",
            text: "The key and the algorithm do not go together."),
        Entry(-67729, "errSecNotLoggedIn",
            text: "Log in to the device or service first."),
        Entry(-67728, "errSecAttachHandleBusy",
            text: "The handle is in use. Try again later."),
        Entry(-67727, "errSecDeviceError",
            text: "The device reported a failure."),
        Entry(-67726, "errSecPrivilegeNotSupported",
            text: "There is no such privilege here."),
        Entry(-67725, "errSecOutputLengthError",
            text: "The output does not fit, or has the wrong length."),
        Entry(-67724, "errSecInputLengthError",
            text: "The input has the wrong length."),
        Entry(-67723, "errSecEventNotificationCallbackNotFound",
            text: "Nobody is registered for that event."),
        Entry(-67722, "errSecModuleManagerNotFound",
            text: "There is no such manager of modules."),
        Entry(-67721, "errSecModuleManagerInitializeFailed",
            text: "The manager of modules could not start."),
        Entry(-67720, "errSecAttributeNotInContext",
            text: "The context lacks the attribute that was asked for."),
        Entry(-67719, "errSecInvalidSubServiceID",
            text: "The module has no part with that number."),
        Entry(-67718, "errSecModuleNotLoaded",
            text: "The module must be loaded first."),
        Entry(-67717, "errSecInvalidServiceMask",
            text: "The set of services asked for cannot be used."),
        Entry(-67716, "errSecInvalidAddinFunctionTable",
            text: "The add-in offers a malformed table of functions."),
        Entry(-67715, "errSecLibraryReferenceNotFound",
            text: "The reference leads to no loaded library."),
        Entry(-67714, "errSecAddinUnloadFailed",
            text: "The add-in could not be unloaded."),
        Entry(-67713, "errSecInvalidKeyHierarchy",
            text: "The keys do not depend on each other in a usable way."),
        Entry(-67712, "errSecInvalidKeyRef",
            text: "This is not a usable key."),
        Entry(-67711, "errSecAddinLoadFailed",
            text: "The add-in could not be loaded."),
        Entry(-67710, "errSecEMMUnloadFailed",
            text: "The manager of optional modules could not be unloaded."),
        Entry(-67709, "errSecEMMLoadFailed",
            text: "The manager of optional modules could not be loaded."),
        Entry(-67708, "errSecInvalidPVC",
            text: "The setting for checking of pointers cannot be used."),
        Entry(-67707, "errSecPVCAlreadyConfigured",
            text: "Checking of pointers is already set up."),
        Entry(-67706, "errSecInvalidScope",
            text: "The scope that was asked for does not exist."),
        Entry(-67705, "errSecPrivilegeNotGranted",
            text: "The caller does not have the privilege for this."),
        Entry(-67704, "errSecIncompatibleVersion",
            text: "The versions of caller and module do not go together."),
        Entry(-67703, "errSecInvalidSampleValue",
            text: "The sample given as proof is malformed."),
        Entry(-67702, "errSecInvalidACL",
            text: "The access list is malformed."),
        Entry(-67701, "errSecInvalidRecord",
            text: "The record is malformed."),
        Entry(-67700, "errSecInvalidAccessCredentials",
            text: "The credentials do not open this object."),
        Entry(-67699, "errSecACLChangeFailed",
            text: "The access list could not be changed."),
        Entry(-67698, "errSecACLAddFailed",
            text: "The entry could not be added to the access list."),
        Entry(-67697, "errSecACLReplaceFailed",
            text: "The entry of the access list could not be replaced."),
        Entry(-67696, "errSecACLDeleteFailed",
            text: "The entry could not be removed from the access list."),
        Entry(-67695, "errSecCallbackFailed",
            text: "A callback answered with an error."),
        Entry(-67694, "errSecInvalidValue",
            text: "One of the values cannot be used."),
        Entry(-67693, "errSecInvalidQuery",
            text: "The query cannot be carried out as written."),
        Entry(-67692, "errSecTagNotFound",
            text: "Nothing carries that tag."),
        Entry(-67691, "errSecInvalidCertificateGroup",
            text: "The group of certificates cannot be used."),
        Entry(-67690, "errSecInvalidCertificateRef",
            text: "This is not a usable certificate."),
        Entry(-67689, "errSecInvalidName",
            text: "The name cannot be used."),
        Entry(-67688, "errSecInvalidSignature",
            text: "The signature is malformed or does not verify."),
        Entry(-67687, "errSecUnknownTag",
            text: "The tag is not known."),
        Entry(-67686, "errSecVerificationFailure",
            text: "The check came out negative."),
        Entry(-67685, "errSecInvalidNumberOfFields",
            text: "There are too many or too few fields."),
        Entry(-67684, "errSecCRLAlreadySigned",
            text: "The revocation list is signed and can no longer change."),
        Entry(-67683, "errSecInvalidNetworkAddress",
            text: "The network address is malformed."),
        Entry(-67682, "errSecInvalidPassthroughID",
            text: "The module has no pass-through function of that number."),
        Entry(-67681, "errSecInvalidDBList",
            text: "The list of databases cannot be used."),
        Entry(-67680, "errSecInvalidHandle",
            text: "The handle is closed or was never open."),
        Entry(-67679, "errSecInvalidGUID",
            text: "The identifier of the module is malformed."),
        Entry(-67678, "errSecModuleManifestVerifyFailed",
            text: "The manifest of a module does not verify."),
        Entry(-67677, "errSecFunctionFailed",
            text: "The function could not do its work."),
        Entry(-67676, "errSecSelfCheckFailed",
            text: "A module failed its own test."),
        Entry(-67675, "errSecInvalidPointer",
            text: "A pointer does not point to anything usable."),
        Entry(-67674, "errSecMDSError",
            text: "The directory of modules failed."),
        Entry(-67673, "errSecInvalidData",
            text: "The data cannot be used here."),
        Entry(-67672, "errSecMemoryError",
            text: "Memory could not be obtained or was damaged."),
        Entry(-67671, "errSecInternalError",
            text: "The security library failed in a way that should not happen. Please report it."),
        Entry(-67670, "errSecFunctionIntegrityFail",
            text: "A function failed its integrity check."),
        Entry(-67669, "errSecPVCReferentNotFound",
            text: "The module that a call was checked against is gone."),
        Entry(-67668, "errSecInvalidHandleUsage",
            text: "The handle is not meant for this call."),
        Entry(-67667, "errSecNotInitialized",
            text: "The library must be initialised before this call."),
        Entry(-67666, "errSecMobileMeFailedConsistencyCheck",
            text: "MobileMe: the data contradicts itself."),
        Entry(-67665, "errSecMobileMeCSRVerifyFailure",
            text: "MobileMe: the certificate request does not verify."),
        Entry(-67664, "errSecMobileMeNoRequestPending",
            text: "MobileMe: no request is open."),
        Entry(-67663, "errSecMobileMeRequestAlreadyPending",
            text: "MobileMe: an earlier request is still open."),
        Entry(-67662, "errSecMobileMeServerServiceErr",
            text: "MobileMe: the service failed."),
        Entry(-67661, "errSecMobileMeServerAlreadyExists",
            text: "MobileMe: the server holds this item already."),
        Entry(-67660, "errSecMobileMeServerNotAvailable",
            text: "MobileMe: the server does not answer."),
        Entry(-67659, "errSecMobileMeServerError",
            text: "MobileMe: the server answered with an error."),
        Entry(-67658, "errSecMobileMeRequestRedirected",
            text: "MobileMe: the request was sent elsewhere."),
        Entry(-67657, "errSecMobileMeRequestQueued",
            text: "MobileMe: the request waits for the next connection."),
        Entry(-67656, "errSecUnknownQualifiedCertStatement",
            text: "The certificate makes a qualified statement that is not understood."),
        Entry(-67655, "errSecInvalidSubjectName",
            text: "The certificate's subject name cannot be used."),
        Entry(-67654, "errSecTrustSettingDeny",
            text: "The person's or administrator's trust settings refuse this certificate."),
        Entry(-67653, "errSecResourceSignBadExtKeyUsage",
            text: "The resource signing certificate has a wrong extended key usage."),
        Entry(-67652, "errSecResourceSignBadCertChainLength",
            text: "The chain of a resource signature has the wrong length."),
        Entry(-67651, "errSecCodeSigningDevelopment",
            text: "The code is signed with a certificate for development only."),
        Entry(-67650, "errSecCodeSigningNoExtendedKeyUsage",
            text: "The code signing certificate has no extended key usage."),
        Entry(-67649, "errSecCodeSigningBadPathLengthConstraint",
            text: "A certificate of a code signature has a wrong path length."),
        Entry(-67648, "errSecCodeSigningNoBasicConstraints",
            text: "A certificate of a code signature lacks basic constraints."),
        Entry(-67647, "errSecCodeSigningBadCertChainLength",
            text: "The chain of a code signature has the wrong length."),
        Entry(-67646, "errSecOCSPResponseNonceMismatch",
            text: "The OCSP answer belongs to another request."),
        Entry(-67645, "errSecOCSPResponderUnauthorized",
            text: "The OCSP server refused the request."),
        Entry(-67644, "errSecOCSPResponderSignatureRequired",
            text: "The OCSP server takes only signed requests."),
        Entry(-67643, "errSecOCSPResponderTryLater",
            text: "The OCSP server is busy. Try later."),
        Entry(-67642, "errSecOCSPResponderInternalError",
            text: "The OCSP server failed."),
        Entry(-67641, "errSecOCSPResponderMalformedReq",
            text: "The OCSP server found the request malformed."),
        Entry(-67640, "errSecOCSPNoSigner",
            text: "The OCSP answer does not say who signed it."),
        Entry(-67639, "errSecOCSPSignatureError",
            text: "The signature on the OCSP answer does not verify."),
        Entry(-67638, "errSecRecordModified",
            text: "The record was changed by somebody else in the meantime. Read it again."),
        Entry(-67637, "errSecOCSPNotTrustedToAnchor",
            text: "The OCSP answer does not lead to a trusted root."),
        Entry(-67636, "errSecNetworkFailure",
            text: "The network failed."),
        Entry(-67635, "errSecIncompleteCertRevocationCheck",
            text: "Revocation could be checked for only a part of the chain."),
        Entry(-67634, "errSecEndOfData",
            text: "The data ended early."),
        Entry(-67633, "errSecOCSPStatusUnrecognized",
            text: "The OCSP server does not know the certificate."),
        Entry(-67632, "errSecOCSPUnavailable",
            text: "No OCSP server answers."),
        Entry(-67631, "errSecOCSPBadRequest",
            text: "The OCSP request could not be read."),
        Entry(-67630, "errSecOCSPBadResponse",
            text: "The OCSP answer could not be read."),
        Entry(-67629, "errSecSSLBadExtendedKeyUsage",
            text: "The certificate's extended key usage does not allow TLS."),
        Entry(-67628, "errSecSMIMESubjAltNameNotCritical",
            text: "For secure mail the alternative name must be marked critical, and it is not."),
        Entry(-67627, "errSecSMIMENoEmailAddress",
            text: "The certificate names no e-mail address at all."),
        Entry(-67626, "errSecSMIMEKeyUsageNotCritical",
            text: "For secure mail the key usage must be marked critical, and it is not."),
        Entry(-67625, "errSecSMIMEBadKeyUsage",
            text: "The certificate's key usage does not allow secure mail."),
        Entry(-67624, "errSecSMIMEBadExtendedKeyUsage",
            text: "The certificate's extended key usage does not allow secure mail."),
        Entry(-67623, "errSecSMIMEEmailAddressesNotFound",
            text: "The certificate does not name the sender's e-mail address."),
        Entry(-67622, "errSecIDPFailure",
            text: "The revocation list's distribution point does not fit the certificate."),
        Entry(-67621, "errSecCRLPolicyFailed",
            text: "The revocation list breaks its policy."),
        Entry(-67620, "errSecCRLNotTrusted",
            text: "The signer of the revocation list is not trusted."),
        Entry(-67619, "errSecUnknownCRLExtension",
            text: "The revocation list has an extension that is not understood."),
        Entry(-67618, "errSecUnknownCertExtension",
            text: "The certificate has an extension that is not understood."),
        Entry(-67617, "errSecCRLBadURI",
            text: "The address of the revocation list cannot be used."),
        Entry(-67616, "errSecCRLServerDown",
            text: "The server with the revocation list does not answer."),
        Entry(-67615, "errSecCRLNotFound",
            text: "No revocation list was found for the certificate."),
        Entry(-67614, "errSecCRLNotValidYet",
            text: "The revocation list is dated in the future. Check the clock."),
        Entry(-67613, "errSecCRLExpired",
            text: "The revocation list is past its date. Fetch a newer one."),
        Entry(-67612, "errSecInvalidRoot",
            text: "The chain ends in a certificate that cannot be a root."),
        Entry(-67611, "errSecPathLengthConstraintExceeded",
            text: "The chain is longer than an authority in it allows."),
        Entry(-67610, "errSecInvalidIDLinkage",
            text: "Issuer and subject of neighbouring certificates do not link up."),
        Entry(-67609, "errSecInvalidExtendedKeyUsage",
            text: "The certificate's extended key usage does not allow this."),
        Entry(-67608, "errSecInvalidKeyUsageForPolicy",
            text: "The policy does not accept the certificate's key usage."),
        Entry(-67607, "errSecInvalidSubjectKeyID",
            text: "The certificate's own key identifier does not fit."),
        Entry(-67606, "errSecInvalidAuthorityKeyID",
            text: "The issuer's key identifier in the certificate does not fit."),
        Entry(-67605, "errSecNoBasicConstraintsCA",
            text: "The certificate's basic constraints do not say whether it is an authority."),
        Entry(-67604, "errSecNoBasicConstraints",
            text: "The certificate lacks basic constraints."),
        Entry(-67603, "errSecUnknownCriticalExtensionFlag",
            text: "The certificate marks an extension as critical that is not understood."),
        Entry(-67602, "errSecHostNameMismatch",
            text: "The certificate is for other host names than the one asked for."),
        Entry(-67601, "errSecIncompatibleKeyBlob",
            text: "The stored key has a version that is not understood."),
        Entry(-67600, "errSecIncompatibleDatabaseBlob",
            text: "The keychain file's protection has a version that is not understood."),
        Entry(-67599, "errSecInvalidKeyBlob",
            text: "The stored form of the key is damaged."),
        Entry(-67598, "errSecInvalidDatabaseBlob",
            text: "The record that protects the keychain file is damaged."),
        Entry(-67597, "errSecFileTooBig",
            text: "The file is larger than the call takes."),
        Entry(-67596, "errSecQuotaExceeded",
            text: "The quota is used up."),
        Entry(-67595, "errSecAppleSSLv2Rollback",
            text: "Someone tried to force the connection down to SSL 2."),
        Entry(-67594, "errSecConversionError",
            text: "A value could not be converted to the type that was needed."),
        Entry(-67593, "errSecAppleInvalidKeyEndDate",
            text: "The key's end date cannot be used."),
        Entry(-67592, "errSecAppleInvalidKeyStartDate",
            text: "The key's start date cannot be used."),
        Entry(-67591, "errSecAppleSignatureMismatch",
            text: "The signature on the program or record is not the expected one."),
        Entry(-67590, "errSecApplePublicKeyIncomplete",
            text: "The public key lacks parameters that it takes from elsewhere."),
        Entry(-67589, "errSecAppleAddAppACLSubject",
            text: "The program could not be put on the access list."),
        Entry(-67588, "errSecDeviceFailed",
            text: "The device has failed."),
        Entry(-67587, "errSecDeviceReset",
            text: "The device was reset while the call ran."),
        Entry(-67586, "errSecInsufficientClientID",
            text: "The caller could not be identified well enough."),
        Entry(-67585, "errSecServiceNotAvailable",
            text: "The service that would do this is not running."),
        Entry(-34020, "errSecRestrictedAPI",
            text: "Programs of this restricted kind may not make this call."),
        Entry(-34019, "errSecUpgradePending",
            text: "The item waits for a key before it can be brought up to date. Unlock the keychain."),
        Entry(-34018, "errSecMissingEntitlement",
            text: "This program is not entitled to the group or attribute it asked for. `latchkey explain` says why.",
            security: "A required entitlement isn't present."),
        Entry(-34017, "errSecWaitForCallback",
            text: "The answer comes later, through a callback."),
        Entry(-26276, "errSecInternal",
            text: "The keychain failed in a way that should not happen. Please report it."),
        Entry(-26275, "errSecDecode",
            text: "The data is damaged or not in the expected encoding.",
            security: "Unable to decode the provided data."),
        Entry(-26270, "errSecPolicyDenied",
            text: "A trust policy turned the certificate chain down."),
        Entry(-26267, "errSecNotSigner",
            text: "The certificate that should have issued this one did not sign it."),
        Entry(-25330, "errSecAuthNeeded",
            text: "Someone must authenticate before the item opens."),
        Entry(-25320, "errSecInDarkWake",
            text: "The machine is awake without its display, so nobody can be asked."),
        Entry(-25319, "errSecInvalidPrefsDomain",
            text: "There is no preference domain of that name."),
        Entry(-25318, "errSecCreateChainFailed",
            text: "No chain leads from this certificate to a root; an issuer is missing."),
        Entry(-25317, "errSecDataNotModifiable",
            text: "The value of this item may not be changed.",
            security: "The contents of this item cannot be modified."),
        Entry(-25316, "errSecDataNotAvailable",
            text: "The key or value may not leave the keychain.",
            security: "The contents of this item cannot be retrieved."),
        Entry(-25315, "errSecInteractionRequired",
            text: "A person must answer first, and asking was ruled out."),
        Entry(-25314, "errSecNoPolicyModule",
            text: "The part that applies trust policies could not be loaded."),
        Entry(-25313, "errSecNoCertificateModule",
            text: "The part that reads certificates could not be loaded."),
        Entry(-25312, "errSecNoStorageModule",
            text: "The part that stores items could not be loaded."),
        Entry(-25311, "errSecKeySizeNotAllowed",
            text: "Keys of this kind do not come in the size asked for."),
        Entry(-25310, "errSecWrongSecVersion",
            text: "The keychain was written by a version of the software that this one cannot read."),
        Entry(-25309, "errSecReadOnlyAttr",
            text: "This attribute is fixed once the item exists."),
        Entry(-25308, "errSecInteractionNotAllowed",
            text: "The keychain is locked, or a person would have to be asked and may not be. Unlock it and try again.",
            security: "User interaction is not allowed."),
        Entry(-25307, "errSecNoDefaultKeychain",
            text: "No keychain is set as the default. Choose one.",
            security: "A default keychain could not be found."),
        Entry(-25306, "errSecNoSuchClass",
            text: "The class of item is unknown, or does not fit the reference that came with it.",
            security: "The specified item does not appear to be a valid keychain item."),
        Entry(-25305, "errSecInvalidSearchRef",
            text: "The search has ended or was never started."),
        Entry(-25304, "errSecInvalidItemRef",
            text: "The reference points to an item that is gone. Search for it again.",
            security: "The specified item is no longer valid. It may have been deleted from the keychain."),
        Entry(-25303, "errSecNoSuchAttr",
            text: "Items of this class do not have the attribute that was given.",
            security: "The specified attribute does not exist."),
        Entry(-25302, "errSecDataTooLarge",
            text: "The value is larger than the keychain takes. Store it elsewhere, encrypted under a key kept here."),
        Entry(-25301, "errSecBufferTooSmall",
            text: "The value does not fit into the buffer that was passed."),
        Entry(-25300, "errSecItemNotFound",
            text: "No item that this program can see matches the query.",
            security: "The specified item could not be found in the keychain."),
        Entry(-25299, "errSecDuplicateItem",
            text: "An item with the same primary attributes is already stored. Update it instead of adding it.",
            security: "The specified item already exists in the keychain."),
        Entry(-25298, "errSecInvalidCallback",
            text: "This callback was never registered."),
        Entry(-25297, "errSecDuplicateCallback",
            text: "This callback was registered before."),
        Entry(-25296, "errSecDuplicateKeychain",
            text: "That name is taken by another keychain. Choose a different one.",
            security: "A keychain with the same name already exists."),
        Entry(-25295, "errSecInvalidKeychain",
            text: "The file is not a keychain, or it is damaged.",
            security: "The specified keychain is not a valid keychain file."),
        Entry(-25294, "errSecNoSuchKeychain",
            text: "There is no keychain of that name.",
            security: "The specified keychain could not be found."),
        Entry(-25293, "errSecAuthFailed",
            text: "The passcode, password or other proof was not accepted.",
            security: "The user name or passphrase you entered is not correct."),
        Entry(-25292, "errSecReadOnly",
            text: "The keychain can be read but not written.",
            security: "This keychain cannot be modified."),
        Entry(-25291, "errSecNotAvailable",
            text: "The keychain cannot be reached or its store cannot be opened. `latchkey doctor` says why.",
            security: "No keychain is available. You may need to restart your computer."),
        Entry(-25264, "errSecPkcs12VerifyFailure",
            text: "The integrity code of the PKCS #12 file does not match. Most likely the password is wrong.",
            security: "MAC verification failed during PKCS12 import (wrong password?)"),
        Entry(-25263, "errSecNoTrustSettings",
            text: "Nobody has stored trust settings for this certificate."),
        Entry(-25262, "errSecInvalidTrustSettings",
            text: "The stored trust settings are damaged."),
        Entry(-25261, "errSecInvalidPasswordRef",
            text: "The reference to the password is not one of ours."),
        Entry(-25260, "errSecPassphraseRequired",
            text: "A passphrase is needed here and none was given.",
            security: "Passphrase is required for import/export."),
        Entry(-25259, "errSecMultiplePrivKeys",
            text: "The data holds several private keys where one was expected."),
        Entry(-25258, "errSecKeyIsSensitive",
            text: "This key leaves only encrypted. Ask for a wrapped format.",
            security: "Key material must be wrapped for export."),
        Entry(-25257, "errSecUnknownFormat",
            text: "The format of the data was not recognised.",
            security: "Unknown format in import."),
        Entry(-25256, "errSecUnsupportedFormat",
            text: "Items of this kind cannot be written or read in the format asked for.",
            security: "Import/Export format unsupported."),
        Entry(-25245, "errSecTrustNotAvailable",
            text: "Trust has not been evaluated yet, so there is no result."),
        Entry(-25244, "errSecInvalidOwnerEdit",
            text: "The owner entry of the access list may not be changed this way."),
        Entry(-25243, "errSecNoAccessForItem",
            text: "The item carries no access list.",
            security: "The specified item has no access control."),
        Entry(-25242, "errSecInvalidTrustSetting",
            text: "One trust setting has a value that means nothing."),
        Entry(-25241, "errSecPolicyNotFound",
            text: "There is no trust policy with that identifier."),
        Entry(-25240, "errSecACLNotSimple",
            text: "The access list has a shape that this call cannot express."),
        Entry(-4960, "errSecCoreFoundationUnknown",
            text: "A value could not be turned into, or out of, a property list."),
        Entry(-2070, "errSecInternalComponent",
            text: "A part of the keychain failed in a way that should not happen. Please report it."),
        Entry(-909, "errSecBadReq",
            text: "The request does not fit the present state of the service.",
            security: "Bad parameter or invalid state for operation."),
        Entry(-128, "errSecUserCanceled",
            text: "The person who was asked declined.",
            security: "User canceled the operation."),
        Entry(-108, "errSecAllocate",
            text: "There was not enough memory to finish the call.",
            security: "Failed to allocate memory."),
        Entry(-61, "errSecWrPerm",
            text: "This program may not write there. Check owner and mode of the file."),
        Entry(-50, "errSecParam",
            text: "An argument, or an entry of the dictionary, cannot be used. Check names, types and combinations.",
            security: "One or more parameters passed to a function were not valid."),
        Entry(-49, "errSecOpWr",
            text: "Another program holds the file open for writing. Try again when it is done."),
        Entry(-36, "errSecIO",
            text: "Reading or writing the store failed. Check the disk and the system log."),
        Entry(-34, "errSecDiskFull",
            text: "There is no space left on the disk. Free some space and try again.",
            security: "The disk is full."),
        Entry(-4, "errSecUnimplemented",
            text: "Latchkey does not offer this function, or not for this class of item.",
            security: "Function or operation not implemented."),
        Entry(0, "errSecSuccess",
            text: "The call succeeded.",
            security: "No error."),
    ]
}
