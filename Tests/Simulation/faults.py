"""Faults for mutants.py: what the library has had, and the like. Files are below Sources.

A fault is a name, a file, what is there once, and what stands there instead; two rows of one name are one fault. Whole
lines are statements; a part of a line is an expression. Where neither fits, MUTANT in the new text is whether the fault
is there.

Left out, since they change nothing that an application can see but the time:

- DownloadTable+Room, lineUp(), without `outbox.addWork()`: the thread that has given the body back asks for work next.
- The same, nextWithRoom(), without `outbox.addWork()`: the thread that has taken the room asks again after its picture.
- DownloadTable+Decoding, decoderAsks(), without `takeRoomBack()`, and RoomLedger, `wakes`, without the accounts of streams:
  a downloader that holds nothing has room in any case. The fault below takes that away, too.
- DiskCache, haveEndedWithoutTime(), without `queue.broadcast()`: a thread of a stopped queue waits only while the other
  makes a change, and that one wakes it then. Without `progress.broadcast()`: who waits for the drop of a change is told
  when the thread ends that a disk holds up.
- TurnWatch, without `state.signal()`: the watch looks later at a libcurl that does not come to rest, which that of the
  simulation does; and it sees the end of the loop within 50 ms by itself.
"""

ENGINE, CACHES, TRANSPORT = "SDDEngine/", "SDDCaches/", "SDDTransport/"
EQUAL = (
    (TRANSPORT + "Guard/TurnWatch.swift", "        state.signal()\n    }\n\n    /// thread: sdd-net\n    func turnEnds"),
    (TRANSPORT + "Guard/TurnWatch.swift", "        state.withLock { $0.isStopping = true }\n        state.signal()\n"),
    (TRANSPORT + "Guard/TurnWatch.swift", "        state.withLock { $0.hasEnded = true }\n        state.signal()\n"),
    (CACHES + "Work/DiskCache.swift", "        queue.broadcast()\n        progress.broadcast()\n        return haveEnded"),
)
FAULTS: tuple[tuple[str, str, str, str], ...] = (
    ("one transfer too many at a time", ENGINE + "Scheduling/TransferSlots.swift",
     "running < maxConcurrent", "running <= maxConcurrent"),
    ("one transfer too many to a host", ENGINE + "Waiting/WaitingQueue.swift",
     "host.running < maxPerHost", "host.running <= maxPerHost"),
    ("a host whose transfers count after their end", ENGINE + "Scheduling/TransferSlots.swift",
     "        waiting.ended(host: job.host)\n", ""),
    ("a slot that is never freed when a transfer ends in the background", ENGINE + "Scheduling/TransferSlots.swift",
     "        running -= 1\n", "        if case .no = background { running -= 1 }\n"),
    ("a suspended downloader that stays so", ENGINE + "Scheduling/TransferSlots.swift",
     "self.isSuspended = isSuspended }", "if !MUTANT || isSuspended { self.isSuspended = isSuspended } }"),
    ("a transfer that goes on when nobody waits for it", ENGINE + "Scheduling/DownloadTable.swift",
     "            send(.cancel(job.id), for: job)\n            observe(.stop, job, error: error, at: now)\n",
     "            observe(.stop, job, error: error, at: now)\n"),
    ("a time limit that nobody looks at", ENGINE + "Scheduling/DownloadTable.swift",
     "        if outbox.isLate(for: nextDeadline()) { threads.insert(.first) }\n", ""),
    ("a host that never comes, and no time limit", TRANSPORT + "Apps/AppTransfers.swift",
     "            transfers.schedule(transfer, id, at: transfer.started)\n", ""),
    ("a wake-up of sdd-net that is lost when a write fails", TRANSPORT + "Curl/LoopLine.swift",
     "while curl_multi_wakeup(multi.raw) != CURLM_OK, tries > 0 {",
     "while curl_multi_wakeup(multi.raw) != CURLM_OK, tries > 0, !MUTANT {"),
    # Decode memory.
    ("a stream that keeps its room while small pictures wait", ENGINE + "Decoding/RoomLedger.swift",
     "account.held == 0 || bytes <= free(for: id)", "used == 0 || bytes <= free(for: id)"),
    ("a stream that keeps its room while small pictures wait", ENGINE + "Scheduling/DownloadTable+Decoding.swift",
     "        if decoding.isRoomWanted { takeRoomBack() }\n", ""),
    ("sdd_get() in a callback, behind undelivered pictures", ENGINE + "Jobs/RoomLines.swift",
     "isPrompt ? 1 : 0", "0"),
    ("room for pictures that is not given back", ENGINE + "Decoding/RoomLedger.swift",
     "            account.held = max(0, account.held - bytes)\n",
     "            account.held = max(0, account.held - bytes / 2)\n"),
    ("a picture that waits for room in no line", ENGINE + "Decoding/RoomLedger.swift",
     "        if account.wanted == nil { line.append(id) }\n", ""),
    ("a picture that is larger than the limit, and never has its turn", ENGINE + "Decoding/RoomLedger.swift",
     "account.held == 0 || bytes <= free(for: id)", "bytes <= free(for: id)"),
    ("the last step of a picture beside the one under way", ENGINE + "Scheduling/DownloadTable+Transport.swift",
     "job.progressive?.isWorking == true", "false"),
    ("a decode thread that is idle again, and not counted", "SDDBase/Threads/WorkerPool.swift",
     "            state.withLock { $0.idle += 1 }\n", ""),
    # Retries.
    ("a retry that forgets that it was paused", ENGINE + "Scheduling/DownloadTable+Retrying.swift",
     "        (job.body, job.judged, job.isPaused) = (nil, nil, false)\n",
     "        (job.body, job.judged) = (nil, nil)\n"),
    ("a retry that keeps the first answer", ENGINE + "Scheduling/DownloadTable+Retrying.swift",
     "        (job.started, job.head, job.responded, job.end, job.finished) = (0, nil, 0, nil, 0)\n",
     "        (job.started, job.responded, job.finished) = (0, 0, 0)\n"),
    ("a retry that no clock ends", ENGINE + "Scheduling/DownloadTable+Retrying.swift",
     "        retries.insert(job.id.number, for: duration, from: now)\n",
     "        if job.attempts < 3 { retries.insert(job.id.number, for: duration, from: now) }\n"),
    # Delivery and lists.
    ("events that overtake one another", ENGINE + "Delivery/Delivery.swift",
     "batch.ticket == state.nextTicket", "true"),
    ("a call that hears on after its end", ENGINE + "Delivery/Delivery.swift",
     "            return !listener.isMuted\n", "            return true\n"),
    ("the progress of a list after its end", ENGINE + "Delivery/Delivery.swift",
     "listener.isMuted || listener.isOver || counts.finished <= listener.finishedURLs", "listener.isMuted"),
    ("the end of a downloader that is told too early", ENGINE + "Delivery/Delivery+App.swift",
     "        let isInside = state.withLock { state in\n            state.isFinishing = true\n"
     "            state.concludesOnLeave = state.dispatcher == me\n            return state.concludesOnLeave\n        }\n"
     "        state.broadcast()\n",
     "        if MUTANT { state.broadcast() }\n"
     "        let isInside = state.withLock { state in\n            state.isFinishing = true\n"
     "            state.concludesOnLeave = state.dispatcher == me\n            return state.concludesOnLeave\n        }\n"
     "        if !MUTANT { state.broadcast() }\n"),
    # Batches.
    ("a batch that is over, and its descriptor does not say so", ENGINE + "Batching/Batch.swift",
     "(state.table.isTakeable || state.table.isOver)", "state.table.isTakeable"),
    ("a batch that ends before its items", ENGINE + "Batching/Batch+Taking.swift",
     "state.visitors == 0 && state.table.underWayCount == 0", "state.visitors == 0"),
    ("a batch that tells of a change before it is made", ENGINE + "Batching/Batch.swift",
     "        let outcome = state.withLock { state in\n            let outcome = event(&state)\n            updateBell(&state)\n"
     "            return outcome\n        }\n        state.broadcast()\n        return outcome\n",
     "        state.broadcast()\n        return state.withLock { state in\n            let outcome = event(&state)\n"
     "            updateBell(&state)\n            return outcome\n        }\n"),
    # Caches.
    ("loads under different keys that share a transfer", ENGINE + "Caching/HTTPCacheLookup.swift",
     "wishes == other.wishes && key == other.key", "wishes == other.wishes"),
    ("a descriptor for each queued load", ENGINE + "Caching/Revalidation.swift",
     "        if disk.isBehind { claim?.closeWhileStoring() }\n", ""),
    ("queued writes without a limit", CACHES + "Work/DiskQueue.swift",
     "            dropWhatIsTooMuch(except: change, &released)\n", ""),
    ("two changes at a time", CACHES + "Work/DiskQueue.swift", "        isChanging = true\n", ""),
    ("an entry that is not found until it is written", CACHES + "Work/DiskQueue.swift",
     ".staged(metadata, body)\n", "MUTANT ? .unknown : .staged(metadata, body)\n"),
    ("a flush that uses up the wake-up of the disk thread", CACHES + "Work/DiskCache+Changing.swift",
     "        return queue.wait(on: progress, milliseconds: milliseconds) { $0.done >= last ? true : nil } ?? false\n",
     "        return queue.wait(milliseconds: milliseconds) { $0.done >= last ? true : nil } ?? false\n"),
    ("a flush that uses up the wake-up of the disk thread", CACHES + "Work/DiskCache.swift",
     "            // Wakes the other thread, which could not make the next change meanwhile.\n            queue.broadcast()\n",
     "            queue.signal()\n"),
    ("a flush that waits for one change too many", CACHES + "Work/DiskQueue.swift",
     "        return lastChange\n", "        return lastChange + 1\n"),
    ("a flush that is told before the change is done", CACHES + "Work/DiskCache.swift",
     "            let then = finish(change, failed: failure != nil)\n            progress.broadcast()\n",
     "            if MUTANT { progress.broadcast() }\n            let then = finish(change, failed: failure != nil)\n"
     "            if !MUTANT { progress.broadcast() }\n"),
    ("a change of a stopped cache that is told to nobody", CACHES + "Work/DiskCache+Changing.swift",
     "        // A stopped cache stores nothing, and that is not an error.\n"
     "        if isTaken { queue.signal() } else { then?(nil) }\n", "        if isTaken { queue.signal() }\n"),
    ("a dropped change that is told to nobody", CACHES + "Work/DiskCache+Changing.swift", "        changes.tell()\n", ""),
    ("a removed entry that a failed write brings back", CACHES + "Work/DiskCache.swift",
     "                if change.isAfterRemoval { try store.remove(change.key) }\n", ""),
    ("an entry that is not checked", CACHES + "Entries/EntryReader.swift",
     "XXH64.sum(of: UnsafeRawBufferPointer(rebasing: memory.bytes[..<count])) == trailer.value.bodySum", "true"),
)
