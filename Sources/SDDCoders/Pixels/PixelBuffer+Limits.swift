extension PixelBuffer {
    /// Whether a picture whose header has been read may be as large as it says. The sizes are a server's: nothing
    /// is allocated before they are checked.
    static func check(width: UInt32, height: UInt32, maxPixels: Int) throws(CoderError) {
        guard width > 0, height > 0 else { throw CoderError(.zeroPixels) }
        // UInt64 holds the product of any two.
        let count = UInt64(width) * UInt64(height)
        guard count <= UInt64(max(maxPixels, 0)) else {
            throw CoderError(.tooManyPixels, "\(width) x \(height) pixels")
        }
    }

    /// Whether it may be made so large: where the sides keep their ratio, that is a server's, too.
    static func check(_ plan: SizePlan, maxPixels: Int) throws(CoderError) {
        let (count, isTooLarge) = plan.width.multipliedReportingOverflow(by: plan.height)
        guard !isTooLarge, count <= maxPixels, max(plan.width, plan.height) <= Int32.max else {
            throw CoderError(.tooManyPixels, "enlarged to \(plan.width) x \(plan.height) pixels")
        }
    }
}
