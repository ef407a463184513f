/// Security's codes and keys (SecBase.h, SecItem.h, SecImportExport.h).

@available(iOS 2.0, *)
public var errSecSuccess: OSStatus { 0 }
@available(iOS 2.0, *)
public var errSecParam: OSStatus { -50 }
@available(iOS 2.0, *)
public var errSecUserCanceled: OSStatus { -128 }
@available(iOS 2.0, *)
public var errSecNotAvailable: OSStatus { -25291 }
@available(iOS 2.0, *)
public var errSecAuthFailed: OSStatus { -25293 }
@available(iOS 2.0, *)
public var errSecDuplicateItem: OSStatus { -25299 }
@available(iOS 2.0, *)
public var errSecItemNotFound: OSStatus { -25300 }
@available(iOS 2.0, *)
public var errSecInteractionNotAllowed: OSStatus { -25308 }
@available(iOS 2.0, *)
public var errSecDecode: OSStatus { -26275 }

@available(iOS 2.0, *)
public let kSecClass: CFString = "class"
@available(iOS 2.0, *)
public let kSecClassGenericPassword: CFString = "genp"
@available(iOS 2.0, *)
public let kSecClassKey: CFString = "keys"
@available(iOS 2.0, *)
public let kSecAttrService: CFString = "svce"
@available(iOS 2.0, *)
public let kSecAttrAccount: CFString = "acct"
@available(iOS 3.0, *)
public let kSecAttrAccessGroup: CFString = "agrp"
@available(iOS 4.0, *)
public let kSecAttrAccessible: CFString = "pdmn"
@available(iOS 4.0, *)
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
@available(iOS 4.0, *)
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
@available(iOS 8.0, *)
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
@available(iOS 8.0, *)
public let kSecAttrAccessControl: CFString = "accc"
@available(iOS 2.0, *)
public let kSecAttrApplicationTag: CFString = "atag"
@available(iOS 2.0, *)
public let kSecAttrIsPermanent: CFString = "perm"
@available(iOS 2.0, *)
public let kSecAttrKeyType: CFString = "type"
@available(iOS 10.0, *)
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
@available(iOS 2.0, *)
public let kSecAttrKeySizeInBits: CFString = "bsiz"
@available(iOS 9.0, *)
public let kSecAttrTokenID: CFString = "tkid"
@available(iOS 9.0, *)
public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
@available(iOS 2.0, *)
public let kSecPrivateKeyAttrs: CFString = "private"
@available(iOS 9.0, *)
public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
@available(iOS 2.0, *)
public let kSecReturnRef: CFString = "r_Ref"
@available(iOS 13.0, *)
public let kSecUseDataProtectionKeychain: CFString = "nleg"
@available(iOS 2.0, *)
public let kSecValueData: CFString = "v_Data"
@available(iOS 2.0, *)
public let kSecReturnData: CFString = "r_Data"
@available(iOS 2.0, *)
public let kSecImportExportPassphrase: CFString = "passphrase"
@available(iOS 2.0, *)
public let kSecImportItemIdentity: CFString = "identity"
