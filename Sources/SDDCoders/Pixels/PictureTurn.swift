/// Exif's orientation (CIPA DC-008, 4.6.4): which way a picture as stored is to be turned to be upright.
struct PictureTurn {
    /// Of the upright picture.
    let width: Int
    let height: Int
    let isNone: Bool
    /// One pixel to the right in the upright picture is so much in the stored one.
    let stepX: Int
    let stepY: Int
    private let isTransposed: Bool
    private let isMirroredX: Bool
    private let isMirroredY: Bool
    private let storedWidth: Int
    private let storedHeight: Int

    init(orientation: Int, width: Int, height: Int) {
        storedWidth = width
        storedHeight = height
        isNone = !(2...8).contains(orientation)
        isTransposed = (5...8).contains(orientation)
        // Seen from the upright picture: whether the stored one is read from its right, and from its bottom.
        isMirroredX = [2, 3, 7, 8].contains(orientation)
        isMirroredY = [3, 4, 6, 7].contains(orientation)
        self.width = isTransposed ? height : width
        self.height = isTransposed ? width : height
        stepX = isTransposed ? 0 : isMirroredX ? -1 : 1
        stepY = !isTransposed ? 0 : isMirroredY ? -1 : 1
    }

    func source(ofX x: Int, y: Int) -> (x: Int, y: Int) {
        let (sourceX, sourceY) = isTransposed ? (y, x) : (x, y)
        return (
            isMirroredX ? storedWidth - 1 - sourceX : sourceX, isMirroredY ? storedHeight - 1 - sourceY : sourceY
        )
    }
}
