/// Decides how far libjpeg reduces a picture while it decodes. At a half, a quarter and an eighth libjpeg's pixels are
/// means of the pixels they cover; at other eighths they are not, and take as long as the next larger power of two.
enum JPEGScale {
    /// Returns the eighths of the stored size to which libjpeg reduces a picture: 1, 2, 4 or 8. A picture that is
    /// enlarged is decoded at its stored size.
    @inline(never)
    static func eighths(ofWidth width: Int, height: Int, for plan: SizePlan, isExact: Bool) -> Int {
        if plan.isWhole || isExact { return 8 }
        let leastWidth = Double(plan.width) * Double(width) / plan.partWidth
        let leastHeight = Double(plan.height) * Double(height) / plan.partHeight
        var eighths = 1
        while eighths < 8 {
            // libjpeg rounds up: its last pixel may lie partly outside the picture.
            if Double(width * eighths) >= 8 * leastWidth, Double(height * eighths) >= 8 * leastHeight { break }
            eighths *= 2
        }
        return eighths
    }
}
