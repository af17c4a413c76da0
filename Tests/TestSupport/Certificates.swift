/// Kinds of server certificates: one that is valid, and one for each flaw.
package enum CertificateKind: String, CaseIterable, Sendable {
    /// Valid for localhost and 127.0.0.1, signed by the test CA.
    case valid
    /// Like `valid`, but it expired in 2020.
    case expired
    /// Like `valid`, but its validity begins in 2099.
    case notYetValid
    /// Issued for other.example, signed by the test CA.
    case wrongHost
    /// Issued for localhost and 127.0.0.1, and self-signed.
    case selfSigned
}

/// A certificate authority for tests and the certificates it signed, made with the openssl command. Immutable.
package final class Certificates: Sendable {
    private static let made = Result { () throws(TestSupportFailure) in try Certificates() }

    /// The certificates of this process, made on first use.
    package static var shared: Certificates {
        get throws(TestSupportFailure) { try made.get() }
    }

    private let folder: TemporaryFolder

    /// The CA certificate, which a client needs to trust `.valid`.
    package var authorityFile: String { folder.path("ca.pem") }

    /// A client certificate, signed by the test CA.
    package var clientCertificateFile: String { folder.path("client.pem") }
    package var clientKeyFile: String { folder.path("client.key") }
    /// The client's key, encrypted with `clientKeyPassword`.
    package var lockedClientKeyFile: String { folder.path("client-locked.key") }
    package static let clientKeyPassword = "a pass phrase"

    package func certificateFile(_ kind: CertificateKind) -> String { folder.path("\(kind.rawValue).pem") }
    package func keyFile(_ kind: CertificateKind) -> String { folder.path("\(kind.rawValue).key") }

    private init() throws(TestSupportFailure) {
        folder = try TemporaryFolder()
        try folder.write("openssl.cnf", Self.configuration(folder.path))
        try folder.write("index.txt", "")
        try makeSelfSigned("ca", subject: "/CN=libsdd test authority", extensions: "authority")
        for kind in CertificateKind.allCases {
            switch kind {
            case .valid: try makeSigned(kind, from: "20200101000000Z", until: "20991231235959Z")
            case .expired: try makeSigned(kind, from: "20200101000000Z", until: "20200201000000Z")
            case .notYetValid: try makeSigned(kind, from: "20990101000000Z", until: "20991231235959Z")
            case .wrongHost: try makeSigned(kind, from: "20200101000000Z", until: "20991231235959Z", "other")
            case .selfSigned: try makeSelfSigned(kind.rawValue, subject: "/CN=localhost", extensions: "local")
            }
        }
        try makeClient()
    }

    private func makeClient() throws(TestSupportFailure) {
        try openssl(["req", "-new", "-subj", "/CN=test client", "-out", folder.path("client.csr")] + newKey("client"))
        try openssl([
            "ca", "-batch", "-notext", "-config", folder.path("openssl.cnf"), "-extensions", "client",
            "-startdate", "20200101000000Z", "-enddate", "20991231235959Z",
            "-in", folder.path("client.csr"), "-out", clientCertificateFile,
        ])
        try openssl([
            "ec", "-in", clientKeyFile, "-aes256", "-passout", "pass:\(Self.clientKeyPassword)",
            "-out", lockedClientKeyFile,
        ])
    }

    private func makeSelfSigned(_ name: String, subject: String, extensions: String) throws(TestSupportFailure) {
        try openssl(
            [
                "req", "-x509", "-days", "3650", "-subj", subject, "-extensions", extensions,
                "-out", folder.path("\(name).pem"),
            ] + newKey(name))
    }

    /// Signs with `openssl ca`, since it alone takes dates in the past in every release since 1.0.
    private func makeSigned(
        _ kind: CertificateKind, from start: String, until end: String, _ extensions: String = "local"
    ) throws(TestSupportFailure) {
        let name = kind.rawValue
        let subject = extensions == "local" ? "/CN=localhost" : "/CN=other.example"
        try openssl(["req", "-new", "-subj", subject, "-out", folder.path("\(name).csr")] + newKey(name))
        try openssl([
            "ca", "-batch", "-notext", "-config", folder.path("openssl.cnf"), "-extensions", extensions,
            "-startdate", start, "-enddate", end,
            "-in", folder.path("\(name).csr"), "-out", folder.path("\(name).pem"),
        ])
    }

    private func newKey(_ name: String) -> [String] {
        [
            "-config", folder.path("openssl.cnf"), "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-keyout", folder.path("\(name).key"),
        ]
    }

    private func openssl(_ arguments: [String]) throws(TestSupportFailure) {
        let result = try run(["openssl"] + arguments, mergesErrors: true)
        guard result.status == 0 else { throw TestSupportFailure("openssl \(arguments[0]): \(result.text)") }
    }

    private static func configuration(_ folder: String) -> String {
        """
        [req]
        distinguished_name = name
        prompt = no
        [name]
        [ca]
        default_ca = test_ca
        [test_ca]
        certificate = \(folder)/ca.pem
        private_key = \(folder)/ca.key
        database = \(folder)/index.txt
        new_certs_dir = \(folder)
        rand_serial = yes
        unique_subject = no
        default_md = sha256
        policy = any
        [any]
        commonName = supplied
        [authority]
        basicConstraints = critical, CA:TRUE
        keyUsage = critical, keyCertSign, cRLSign
        subjectKeyIdentifier = hash
        [local]
        basicConstraints = critical, CA:FALSE
        subjectAltName = DNS:localhost, IP:127.0.0.1
        [client]
        basicConstraints = critical, CA:FALSE
        extendedKeyUsage = clientAuth
        [other]
        basicConstraints = critical, CA:FALSE
        subjectAltName = DNS:other.example

        """
    }
}
