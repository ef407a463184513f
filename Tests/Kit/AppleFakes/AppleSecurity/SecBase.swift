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
public let kSecAttrService: CFString = "svce"
@available(iOS 2.0, *)
public let kSecAttrAccount: CFString = "acct"
@available(iOS 4.0, *)
public let kSecAttrAccessible: CFString = "pdmn"
@available(iOS 4.0, *)
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
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
