/// Maps an upright picture to the picture as stored, by its Exif orientation (CIPA DC-008, 4.6.4).
struct PictureTurn {
    /// Size of the upright picture.
    let width: Int
    let height: Int
    let isNone: Bool
    /// One pixel to the right in the upright picture is a step of (`stepX`, `stepY`) in the stored one.
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
        // Whether the stored picture is read from its right edge, or from its bottom, to get the upright one.
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
