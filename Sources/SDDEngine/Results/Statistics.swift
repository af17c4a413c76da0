/// A downloader's counts since it was made, and its current state; the header's `sdd_statistics`.
package struct Statistics: Sendable, Equatable {
    package var requests: Int64 = 0
    package var joined: Int64 = 0
    package var succeeded: Int64 = 0
    package var failed: Int64 = 0
    package var cancelled: Int64 = 0
    package var transfersStarted: Int64 = 0
    package var transfersSucceeded: Int64 = 0
    package var connectionsOpened: Int64 = 0
    package var requestBytes: Int64 = 0
    package var headerBytes: Int64 = 0
    package var wireBodyBytes: Int64 = 0
    package var bodyBytes: Int64 = 0
    package var imagesDecoded: Int64 = 0
    package var decodeMicroseconds: Int64 = 0
    package var waiting: Int64 = 0
    package var running: Int64 = 0
    package var decoding: Int64 = 0
    package var receivingBytes: Int64 = 0
    package var waitingBytes: Int64 = 0
    package var undeliveredBytes: Int64 = 0
    package var decodeMemoryBytes: Int64 = 0
}
