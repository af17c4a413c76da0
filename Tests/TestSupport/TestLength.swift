internal import Glibc

/// How much a test does that draws at random, or tries many places one after the other.
package enum TestLength {
    /// True with SDD_TEST_LONG=1, which `make torture` sets.
    package static let isLong = getenv("SDD_TEST_LONG") != nil

    /// Returns one of two counts: `long` for hours of tests, `short` for the run that each change gets.
    package static func count(_ long: Int, short: Int) -> Int { isLong ? long : short }
}
