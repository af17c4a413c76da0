/// The configuration file of `NginxServer`. Everything nginx writes goes into its own folder, so it needs no root; it
/// runs as one process in the foreground. A value.
struct NginxConfiguration {
    let folder: String
    let certificates: Certificates
    let plainPort: UInt16
    let tlsPorts: [CertificateKind: UInt16]
    let specialPorts: [NginxServer.Special: UInt16]

    var text: String {
        """
        daemon off;
        master_process off;
        pid \(folder)/nginx.pid;
        error_log stderr error;
        events { worker_connections 512; }
        http {
            access_log off;
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            default_type application/octet-stream;
            types { text/plain txt; text/html html; image/jpeg jpg jpeg; image/png png; }
            gzip on;
            gzip_types text/plain;
            gzip_min_length 1;
            add_header X-Protocol $server_protocol always;
            add_header X-Connection $connection always;
            server {
                listen 127.0.0.1:\(plainPort);
                listen unix:\(folder)/socket;
        \(locations)
            }
        \(tlsServers)
        \(specialServers)
        }

        """
    }

    private var tlsServers: String {
        tlsPorts.map { kind, port in
            """
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(certificates.certificateFile(kind));
                    ssl_certificate_key \(certificates.keyFile(kind));
            \(locations)
                }
            """
        }.joined(separator: "\n")
    }

    private var specialServers: String {
        specialPorts.map { special, port in
            """
                server {
                    listen 127.0.0.1:\(port) \(special == .cleartextHTTP2 ? "http2" : "ssl http2");
                    ssl_certificate \(certificates.certificateFile(.valid));
                    ssl_certificate_key \(certificates.keyFile(.valid));
            \(directives(special, port))
            \(locations)
                }
            """
        }.joined(separator: "\n")
    }

    private func directives(_ special: NginxServer.Special, _ port: UInt16) -> String {
        switch special {
        case .clientCertificate:
            """
                    ssl_verify_client on;
                    ssl_client_certificate \(certificates.authorityFile);
                    add_header X-Client $ssl_client_s_dn always;
            """
        case .oldTLS: "        ssl_protocols TLSv1.2;"
        case .cleartextHTTP2: ""
        case .http3, .noHTTP3:
            """
            \(special == .http3 && NginxServer.hasHTTP3 ? "        listen 127.0.0.1:\(port) quic;" : "")
                    add_header Alt-Svc 'h2=":1", h3=":\(port)"; ma=60' always;
            """
        }
    }

    private var locations: String {
        let statuses = [403, 404, 410, 429, 500, 502, 503].map { "location = /status/\($0) { return \($0); }" }
        let others = [
            "root \(folder)/root;",
            "location /gzip/ { alias \(folder)/root/; gzip_types *; }",
            "location ~ ^/redirect/(.*)$ { return 302 /$1; }",
            "location ~ ^/to-http/(.*)$ { return 302 http://localhost:\(plainPort)/$1; }",
            "location ~ ^/to-https/(.*)$ { return 302 https://localhost:\(tlsPorts[.valid] ?? 0)/$1; }",
        ]
        return (others + statuses).map { "        " + $0 }.joined(separator: "\n")
    }
}
