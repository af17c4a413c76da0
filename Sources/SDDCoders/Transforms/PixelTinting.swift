extension PixelBuffer {
    /// Returns a copy whose colours are mixed with a colour, as far as that is opaque. Alpha stays as it is, and so does
    /// the format.
    func tinted(_ colour: PictureTransform.Colour) throws(CoderError) -> PixelBuffer {
        let plane = try PixelPlane(self)
        let tint = colour.pixel
        for y in 0..<height {
            for x in 0..<width {
                let pixel = plane[x, y]
                var mixed = tint * pixel.w + pixel * (1 - tint.w)
                mixed.w = pixel.w
                plane[x, y] = mixed
            }
        }
        return try PixelConverter(plane.buffer, to: format).make()
    }
}
