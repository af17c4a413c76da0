public import CSDD
import SDDBase
internal import SDDTransport

@_cdecl("sdd_response_retain") @implementation
public func sdd_response_retain(_ response: OpaquePointer?) -> OpaquePointer? {
    Handle.retain(response)
    return response
}

@_cdecl("sdd_response_release") @implementation
public func sdd_response_release(_ response: OpaquePointer?) { Handle.release(response) }

@_cdecl("sdd_response_url") @implementation
public func sdd_response_url(_ response: OpaquePointer?) -> UnsafePointer<CChar>? {
    given(Handle.response(response), "response")?.urlText
}

@_cdecl("sdd_response_status") @implementation
public func sdd_response_status(_ response: OpaquePointer?) -> Int32 {
    given(Handle.response(response), "response")?.status ?? 0
}

@_cdecl("sdd_response_mime_type") @implementation
public func sdd_response_mime_type(_ response: OpaquePointer?) -> UnsafePointer<CChar>? {
    given(Handle.response(response), "response").flatMap { $0.fields.mimeTypeText ?? emptyString }
}

@_cdecl("sdd_response_header") @implementation
public func sdd_response_header(
    _ response: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> UnsafePointer<CChar>? {
    guard let response = given(Handle.response(response), "response"), let name = given(name, "name") else {
        return nil
    }
    return response.fields.value(of: name)
}

@_cdecl("sdd_response_header_count") @implementation
public func sdd_response_header_count(_ response: OpaquePointer?) -> Int {
    given(Handle.response(response), "response")?.fields.count ?? 0
}

@_cdecl("sdd_response_header_at") @implementation
public func sdd_response_header_at(
    _ response: OpaquePointer?, _ index: Int, _ name: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let response = Handle.response(response) else { throw .null("response") }
        guard let field = response.fields.at(index) else {
            throw .index(UInt(bitPattern: index), of: response.fields.count, "header fields")
        }
        name?.pointee = field.name
        value?.pointee = field.value
    }
}
