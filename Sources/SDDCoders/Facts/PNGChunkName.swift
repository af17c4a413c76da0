/// Names of the chunks that this module reads; the raw value is the four letters as a big-endian integer.
enum PNGChunkName: UInt32 {
    case IHDR = 0x4948_4452
    case PLTE = 0x504c_5445
    case tRNS = 0x7452_4e53
    case IDAT = 0x4944_4154
    case IEND = 0x4945_4e44
    case acTL = 0x6163_544c
    case fcTL = 0x6663_544c
    case fdAT = 0x6664_4154
    case iCCP = 0x6943_4350
    case cICP = 0x6349_4350
    case sRGB = 0x7352_4742
    case gAMA = 0x6741_4d41
    case cHRM = 0x6348_524d
    case eXIf = 0x6558_4966
    case tEXt = 0x7445_5874
    case zTXt = 0x7a54_5874
    case iTXt = 0x6954_5874
    /// The library's own: a `ColourNote`.
    case sdCo = 0x7364_436f
}
