internal import SDDBase

// The colours that a picture states.

extension PictureStream {
    /// Reads what the picture says of its colours, once all of that has arrived. A JPEG may say it until its first scan,
    /// which also determines what it takes in addition to its pixels; no reader takes memory before that.
    func isHeadKnown(_ bytes: Bytes, _ forms: [DecodeOptions], isLast: Bool) throws(CoderError) -> Bool {
        guard let known = facts, let coder else { return true }
        if !isColourRead {
            hasScans = known.format == .jpeg ? ImageFacts.hasScanForEachComponent(bytes.pointer) : false
            guard hasScans != nil || isLast else { return false }
            let noted = isMade(known) ? ColourNote.colour(in: bytes, known.format) : nil
            let stated = noted == nil ? try PictureColour.stated(by: bytes, known, coder, limits) : nil
            facts?.colour = noted ?? stated
            facts?.isNoted = noted != nil
            isColourRead = true
        }
        if let colour = facts?.colour, facts?.isNoted == false { facts?.colour = asked(colour, for: forms) }
        return true
    }

    /// Returns the facts of a coder's frame.
    func facts(of frame: CheckedFrame, _ coder: any AppCoder, for forms: [DecodeOptions]) -> ImageFacts? {
        var facts = frame.facts(coder.format)
        if let colour = facts?.colour { facts?.colour = asked(colour, for: forms) }
        return facts
    }

    /// Returns colours with what is installed to convert them, if a form wants that. It is asked once, also if it
    /// refuses: that may have taken long, and a host decides in how many pieces a body comes.
    private func asked(_ colour: PictureColour, for forms: [DecodeOptions]) -> PictureColour {
        guard colour.mayNeedEngine, !colour.needsEngine, forms.contains(where: { $0.colour == .sRGB }) else {
            return colour
        }
        if let answered, answered.question == colour { return answered.colour }
        let made = colour.asking(registry, limits)
        answered = (colour, made)
        return made
    }
}
