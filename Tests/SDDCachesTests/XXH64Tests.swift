import SDDBase
import Testing

@Suite struct XXH64Tests {
    /// Bytes that are easy to reproduce: 3, 10, 17 …
    private static let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }

    @Test(
        "hashes by the xxhash module of Python, with the seeds 0 and 0x0123456789abcdef",
        arguments: [
            (0, 0xef46_db37_51d8_e999, 0x51e2_4c0e_9077_a48c), (1, 0x1f25_c8d0_bc1f_4bb6, 0x20f9_f4e3_fba1_be06),
            (3, 0x31d2_363f_52e5_64c9, 0x076b_7719_9119_d7dd), (4, 0x9bb6_4b7d_66ee_9fda, 0x27a7_e558_7a8a_5c2e),
            (7, 0x9a7b_1499_59ce_60d8, 0xcff1_3e1a_810b_ec27), (8, 0xdab9_9d95_c6f9_0092, 0x841e_06da_64a0_7ce8),
            (15, 0x1b47_cb82_43cc_8e32, 0xa74c_ea54_6aef_6b18), (31, 0xa2aa_5f33_cc4a_6119, 0x6ba8_72e9_10fb_ce5c),
            (32, 0x23c3_c17e_f790_fd97, 0x25cc_07da_6998_94a9), (33, 0x50a7_cfc7_ba58_8784, 0xbf84_912d_4dea_9670),
            (63, 0x5e3e_54b4_31c7_493c, 0x7376_2970_0e72_3da5), (64, 0x0eb6_4b3e_f6ee_b01f, 0xfded_24eb_1199_2703),
            (100, 0xa61f_8d4c_170f_e531, 0xfe1f_ce73_2c97_c212), (255, 0x39ae_55a2_9989_206f, 0x1bd0_320a_df00_8db1),
            (1000, 0x5f23_5fa0_33f1_a3fb, 0x86fe_41ff_40ab_90db),
        ] as [(Int, UInt64, UInt64)])
    func givesTheHashesOfTheSpecification(count: Int, plain: UInt64, seeded: UInt64) {
        Self.bytes[..<count].withUnsafeBytes {
            #expect(XXH64.sum(of: $0) == plain)
            #expect(XXH64.sum(of: $0, seed: 0x0123_4567_89ab_cdef) == seeded)
        }
    }

    @Test func givesTheSameHashInPieces() {
        Self.bytes.withUnsafeBytes { bytes in
            var sum = XXH64()
            #expect(sum.consume(UnsafeRawBufferPointer(rebasing: bytes[..<64])) == 64)
            #expect(sum.consume(UnsafeRawBufferPointer(rebasing: bytes[64...])) == 928)
            #expect(sum.finish(UnsafeRawBufferPointer(rebasing: bytes[992...])) == 0x5f23_5fa0_33f1_a3fb)
        }
    }

    @Test func bytesNeedNoAlignment() {
        Self.bytes.withUnsafeBytes { bytes in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: 1001, alignment: 16)
            defer { copy.deallocate() }
            let place = UnsafeMutableRawBufferPointer(rebasing: copy[1...])
            place.copyMemory(from: bytes)
            #expect(XXH64.sum(of: UnsafeRawBufferPointer(place)) == 0x5f23_5fa0_33f1_a3fb)
        }
    }
}
