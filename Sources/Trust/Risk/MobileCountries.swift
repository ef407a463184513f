/// Which country a mobile country code belongs to (ITU-T E.212, and the lists of its codes in operational bulletins).
package import Addresses

package enum MobileCountries {
  /// - Parameter code: the first three digits of what names a mobile network.
  /// - Returns: the country first, then territories that the same networks serve and that have a code of their own in
  ///   ISO 3166-1; empty for codes of no country, such as those of test networks, ships and satellites.
  package static func of(_ code: Int) -> [CountryCode] {
    (firstCode..<1000).contains(code) ? table[code - firstCode] : []
  }

  private static let firstCode = 200

  private static let table: [[CountryCode]] = {
    var table = [[CountryCode]](repeating: [], count: 800)
    for entry in entries.split(whereSeparator: \.isWhitespace) {
      guard let code = Int(entry.prefix(3)), (firstCode..<1000).contains(code) else { continue }
      table[code - firstCode] = entry.dropFirst(3).split(separator: "/").compactMap {
        CountryCode(String($0))
      }
    }
    return table
  }()

  private static let entries = """
    202GR 204NL 206BE 208FR/GP/MQ/GF/RE/YT/BL/MF/PM 212MC/XK 213AD 214ES 216HU 218BA 219HR 220RS/XK 221XK
    222IT/VA/SM 225VA 226RO 228CH/LI 230CZ 231SK 232AT 234GB/GG/JE/IM 235GB/GG/JE/IM 238DK 240SE 242NO/SJ
    244FI/AX 246LT 247LV 248EE 250RU 255UA 257BY 259MD 260PL 262DE 266GI 268PT 270LU 272IE 274IS 276AL 278MT
    280CY 282GE 283AM 284BG 286TR 288FO 289GE 290GL 292SM 293SI/XK 294MK 295LI 297ME

    302CA 308PM 310US/PR/VI/GU/MP/AS 311US/PR/VI/GU/MP/AS 312US/PR/VI/GU/MP/AS 313US/PR/VI/GU/MP/AS
    314US/PR/VI/GU/MP/AS 315US/PR/VI/GU/MP/AS 316US/PR/VI/GU/MP/AS 330PR/US/VI 332VI/US/PR 334MX 338JM
    340GP/MQ/GF/BL/MF 342BB 344AG 346KY 348VG 350BM 352GD 354MS 356KN 358LC 360VC 362CW/SX/BQ 363AW 364BS
    365AI 366DM 368CU 370DO 372HT 374TT 376TC

    400AZ 401KZ 402BT 404IN 405IN 406IN 410PK 412AF 413LK 414MM 415LB 416JO 417SY 418IQ 419KW 420SA 421YE
    422OM 423PS 424AE 425IL/PS 426BH 427QA 428MN 429NP 430AE 431AE 432IR 434UZ 436TJ 437KG 438TM 440JP 441JP
    450KR 452VN 454HK 455MO 456KH 457LA 460CN 461CN 466TW 467KP 470BD 472MV

    502MY 505AU/CX/CC/NF 510ID 514TL 515PH 520TH 525SG 528BN 530NZ 534MP/US/GU 535GU/US/MP 536NR 537PG 539TO
    540SB 541VU 542FJ 543WF 544AS/US 545KI 546NC 547PF 548CK 549WS 550FM 551MH 552PW 553TV 554TK 555NU

    602EG 603DZ 604MA/EH 605TN 606LY 607GM 608SN 609MR 610ML 611GN 612CI 613BF 614NE 615TG 616BJ 617MU 618LR
    619SL 620GH 621NG 622TD 623CF 624CM 625CV 626ST 627GQ 628GA 629CG 630CD 631AO 632GW 633SC 634SD 635RW
    636ET 637SO 638DJ 639KE 640TZ 641UG 642BI 643MZ 645ZM 646MG 647RE/YT 648ZW 649NA 650MW 651LS 652BW 653SZ
    654KM 655ZA 657ER 658SH 659SS

    702BZ 704GT 706SV 708HN 710NI 712CR 714PA 716PE 722AR 724BR 730CL 732CO 734VE 736BO 738GY 740EC 742GF
    744PY 746SR 748UY 750FK
    """
}
