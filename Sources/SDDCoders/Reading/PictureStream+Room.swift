internal import SDDBase

// The memory that a picture takes: the limits on it, and the room that is reserved for it.

extension PictureStream {
    /// The forms of a step, by the limits on one picture, to which each form is held by itself.
    struct Held {
        /// The forms that are decoded now. The others are left out: all together would exceed the limit on memory.
        var forms: [DecodeOptions] = []
        /// The forms that exceed a limit.
        var refused: [FormedPicture] = []
        /// False if the bytes so far are too few for as much memory as one of the forms takes.
        var isPlausible = true
    }

    /// Holds forms to the limits.
    /// - Parameter cost: returns what a form would take alone; `nil` if nothing is known of that.
    /// - Throws: the error of the first form if all are refused.
    func held(
        _ forms: [DecodeOptions], of bytes: Bytes, isLast: Bool, cost: (DecodeOptions) -> DecodeCost?
    ) throws(CoderError) -> Held {
        var held = Held()
        var total = 0
        var counted: [PictureSource.Key: [PixelFormat]] = [:]
        var firstError: CoderError?
        for form in forms {
            let cost = cost(form)
            do throws(CoderError) {
                if let cost, try !isAllowed(cost, for: bytes, isLast: isLast) { held.isPlausible = false }
            } catch {
                firstError = firstError ?? error
                held.refused.append((form, .failure(error)))
                continue
            }
            if let cost {
                // Forms of the same pixels share them, and all share the memory of a coder.
                let key = PictureSource.Key(form, facts: facts, isMade: isMade(facts))
                let isShared = counted[key]?.contains(form.format.source) == true
                let more = isShared ? cost.growth : total == 0 ? cost.total : cost.total - cost.coder
                guard limits.maxBytes <= 0 || total + more <= limits.maxBytes else { continue }
                total += more
                if !isShared { counted[key, default: []].append(form.format.source) }
            }
            held.forms.append(form)
        }
        if held.forms.isEmpty, let firstError { throw firstError }
        return held
    }

    /// Checks a cost against the limits.
    /// - Returns: false if the bytes so far are too few for that much memory.
    func isAllowed(_ cost: DecodeCost, for bytes: Bytes, isLast: Bool) throws(CoderError) -> Bool {
        guard limits.maxBytes <= 0 || cost.total <= limits.maxBytes else {
            throw CoderError(.tooMuchMemory, "about \(cost.total) bytes")
        }
        if limits.isPlausible(cost.suspicious, of: bytes.count) { return true }
        guard isLast else { return false }
        throw CoderError(.tooMuchForBody, "about \(cost.total) bytes for a body of \(bytes.count)")
    }

    /// Makes `reserved` match what a picture needs.
    /// - Parameter keepsMore: whether room beyond that is kept, since the cost may turn out to be higher.
    /// - Returns: false if there is no room now.
    func takeRoom(for cost: DecodeCost, isLast: Bool, keepsMore: Bool = false) -> Bool {
        guard let memory, cost.total > 0 else { return true }
        if let reserved, reserved.bytes >= cost.total {
            if !keepsMore { reserved.shrink(to: cost.total) }
            return true
        }
        reserved = nil
        reserved = memory.reserve(cost.total, isArriving: !isLast)
        return reserved != nil
    }

    /// True if memory is reserved. Not called during a step.
    package var holdsRoom: Bool { reserved != nil }

    func giveRoomBack() { reserved = nil }

    /// Returns the reservation for pictures that an application's coder has made.
    func roomOfMade(_ cost: DecodeCost) -> (any MemoryReserved)? {
        reserved?.decoded(keeping: cost.pixels)
        return reserved
    }
}
