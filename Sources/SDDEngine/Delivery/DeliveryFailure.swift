/// The reasons why a thread of the application could not take events.
package enum DeliveryFailure: Error {
    case busy, wouldDeadlock, timedOut, closed, wrongMode
}
