extension PixelBuffer {
    /// Checks the size that a picture's header states. It comes from a server, so it is checked before anything is
    /// allocated.
    static func check(width: UInt32, height: UInt32, maxPixels: Int) throws(CoderError) {
        guard width > 0, height > 0 else { throw CoderError(.zeroPixels) }
        // The product of two UInt32 values fits in UInt64.
        let count = UInt64(width) * UInt64(height)
        guard count <= UInt64(max(maxPixels, 0)) else {
            throw CoderError(.tooManyPixels, "\(width) x \(height) pixels")
        }
    }

    /// Checks the size that a picture is scaled to. If the aspect ratio is kept, that size depends on a server, too.
    static func check(_ plan: SizePlan, maxPixels: Int) throws(CoderError) {
        guard mayBeMade(plan.width, plan.height, maxPixels: maxPixels) else {
            throw CoderError(.tooManyPixels, "enlarged to \(plan.width) x \(plan.height) pixels")
        }
    }

    /// Whether a picture may be made in this size: its sides have 31 bits, as those of the C interface.
    static func mayBeMade(_ width: Int, _ height: Int, maxPixels: Int) -> Bool {
        let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
        return !isTooLarge && count <= maxPixels && max(width, height) <= Int32.max
    }
}
