import SDDCaches
import Testing

@Suite struct CacheErrorTests {
    @Test func tellsFailuresOfTheSystemByTheirErrno() {
        #expect(CacheError.system(.write, errno: 28) != CacheError.system(.write, errno: 5))
    }
}
