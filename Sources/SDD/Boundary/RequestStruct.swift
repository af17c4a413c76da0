internal import CSDD

/// The fields that an sdd_download_request and an sdd_load_request have in common.
protocol RequestStruct: SizedStruct {
    var url: UnsafePointer<CChar>? { get }
    var options: sdd_options { get }
    var priority: sdd_priority { get }
    var transfer: UnsafePointer<sdd_transfer_options>? { get }
    var decode: UnsafePointer<sdd_decode_options>? { get }
    var completed: sdd_result_fn? { get }
    var progress: sdd_progress_fn? { get }
    var preview: sdd_result_fn? { get }
    var facts: sdd_facts_fn? { get }
    var user_data: UnsafeMutableRawPointer? { get }
    var user_data_free: sdd_user_data_free_fn? { get }
    var integrity: UnsafePointer<CChar>? { get }
    var expected_bytes: Int64 { get }
}

extension sdd_download_request: RequestStruct {}
extension sdd_load_request: RequestStruct {}

extension RequestStruct {
    static func place(_ field: StaticString) -> Place { Place(stringLiteral: structName).field(field) }
}
