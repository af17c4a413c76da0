import SDDCaches
import Testing

@Suite struct CacheErrorTests {
    @Test func systemErrorsDifferByTheirErrno() {
        #expect(CacheError.system(.write, errno: 28) != CacheError.system(.write, errno: 5))
    }
}
