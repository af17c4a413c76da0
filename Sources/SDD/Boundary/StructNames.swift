internal import CSDD

/// A struct that begins with its `struct_size`, and that messages can name.
protocol SizedStruct {
    init()
    static var structName: StaticString { get }
}

extension SizedStruct {
    static var sizePlace: Place { Place(stringLiteral: structName).field("struct_size") }
}

extension sdd_animation_frame: SizedStruct { static var structName: StaticString { "sdd_animation_frame" } }
extension sdd_batch_config: SizedStruct { static var structName: StaticString { "sdd_batch_config" } }
extension sdd_batch_host: SizedStruct { static var structName: StaticString { "sdd_batch_host" } }
extension sdd_batch_item: SizedStruct { static var structName: StaticString { "sdd_batch_item" } }
extension sdd_batch_statistics: SizedStruct { static var structName: StaticString { "sdd_batch_statistics" } }
extension sdd_batch_status: SizedStruct { static var structName: StaticString { "sdd_batch_status" } }
extension sdd_cache_config: SizedStruct { static var structName: StaticString { "sdd_cache_config" } }
extension sdd_cache_item: SizedStruct { static var structName: StaticString { "sdd_cache_item" } }
extension sdd_cache_statistics: SizedStruct { static var structName: StaticString { "sdd_cache_statistics" } }
extension sdd_coder: SizedStruct { static var structName: StaticString { "sdd_coder" } }
extension sdd_coder_frame: SizedStruct { static var structName: StaticString { "sdd_coder_frame" } }
extension sdd_cookie: SizedStruct { static var structName: StaticString { "sdd_cookie" } }
extension sdd_credential: SizedStruct { static var structName: StaticString { "sdd_credential" } }
extension sdd_decode_options: SizedStruct { static var structName: StaticString { "sdd_decode_options" } }
extension sdd_download_request: SizedStruct { static var structName: StaticString { "sdd_download_request" } }
extension sdd_downloader_config: SizedStruct { static var structName: StaticString { "sdd_downloader_config" } }
extension sdd_encode_options: SizedStruct { static var structName: StaticString { "sdd_encode_options" } }
extension sdd_event: SizedStruct { static var structName: StaticString { "sdd_event" } }
extension sdd_gain_map_info: SizedStruct { static var structName: StaticString { "sdd_gain_map_info" } }
extension sdd_image_colour: SizedStruct { static var structName: StaticString { "sdd_image_colour" } }
extension sdd_image_info: SizedStruct { static var structName: StaticString { "sdd_image_info" } }
extension sdd_image_text: SizedStruct { static var structName: StaticString { "sdd_image_text" } }
extension sdd_load_request: SizedStruct { static var structName: StaticString { "sdd_load_request" } }
extension sdd_loader_config: SizedStruct { static var structName: StaticString { "sdd_loader_config" } }
extension sdd_modifiers: SizedStruct { static var structName: StaticString { "sdd_modifiers" } }
extension sdd_pixel_allocator: SizedStruct { static var structName: StaticString { "sdd_pixel_allocator" } }
extension sdd_prefetch_list: SizedStruct { static var structName: StaticString { "sdd_prefetch_list" } }
extension sdd_cache_query_options: SizedStruct { static var structName: StaticString { "sdd_cache_query_options" } }
extension sdd_statistics: SizedStruct { static var structName: StaticString { "sdd_statistics" } }
extension sdd_tensor: SizedStruct { static var structName: StaticString { "sdd_tensor" } }
extension sdd_token_info: SizedStruct { static var structName: StaticString { "sdd_token_info" } }
extension sdd_transform: SizedStruct { static var structName: StaticString { "sdd_transform" } }
extension sdd_transfer_options: SizedStruct { static var structName: StaticString { "sdd_transfer_options" } }
extension sdd_transport: SizedStruct { static var structName: StaticString { "sdd_transport" } }
extension sdd_callback_options: SizedStruct { static var structName: StaticString { "sdd_callback_options" } }
extension sdd_limits: SizedStruct { static var structName: StaticString { "sdd_limits" } }
extension sdd_network_options: SizedStruct { static var structName: StaticString { "sdd_network_options" } }
extension sdd_retry_options: SizedStruct { static var structName: StaticString { "sdd_retry_options" } }
extension sdd_memory_store: SizedStruct { static var structName: StaticString { "sdd_memory_store" } }
extension sdd_entry_store: SizedStruct { static var structName: StaticString { "sdd_entry_store" } }
extension sdd_process_statistics: SizedStruct { static var structName: StaticString { "sdd_process_statistics" } }
