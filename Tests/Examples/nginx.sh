# Starts nginx for Tests/examples.sh, which sources this: it serves pictures to clients with a password, a token, a
# cookie or a certificate. Uses $work, $processes, fail.

# ask_nginx PORT: makes a request; after it the log of all requests before is complete, because nginx has one thread.
ask_nginx() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'GET /nothing HTTP/1.0\r\n\r\n' >&3 && cat <&3) >"$work/asked"
}

# logged COUNT PATTERN: checks that there were so many requests since empty_log.
logged() {
    ask_nginx "$port"
    [ "$(grep -cE -- "$2" "$work/nginx/access.log")" -eq "$1" ] && return
    cat "$work/nginx/access.log" >&2
    fail "not $1 requests like: $2"
}

empty_log() {
    ask_nginx "$port"
    : >"$work/nginx/access.log"
}

certificate() { # certificate NAME: makes a self-signed one
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$work/nginx/$1.key" -out "$work/nginx/$1.pem" 2>"$work/err"
}

write_nginx_configuration() {
    cat >"$work/nginx/nginx.conf" <<EOF
daemon off;
master_process off;
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events {}
http {
    log_format line '\$request_uri \$status user=\$remote_user cookies=\$http_cookie certificate=\$ssl_client_verify';
    access_log $work/nginx/access.log line;
    client_body_temp_path $work/nginx/1; proxy_temp_path $work/nginx/2; fastcgi_temp_path $work/nginx/3;
    uwsgi_temp_path $work/nginx/4; scgi_temp_path $work/nginx/5;
    types { image/jpeg jpg; image/png png; }
    root $work/pictures;
    map \$http_authorization \$may { default no; "Bearer sesame" yes; }
    server {
        listen 127.0.0.1:$port;
        location /asking/ { alias $work/pictures/; auth_basic pictures; auth_basic_user_file $work/nginx/users; }
        location = /away.png { return 302 http://localhost:$port/asking/tiles.png; }
        location /token/ { alias $work/pictures/; if (\$may = no) { return 403; } }
        location = /login {
            add_header Set-Cookie "session=open; Path=/";
            add_header Set-Cookie "seen=yes; Max-Age=3600; Path=/";
            return 200 "welcome\n";
        }
        location /fresh/ { alias $work/pictures/; expires 1h; }
        location /members/ { alias $work/pictures/; if (\$cookie_session != open) { return 403; } }
    }
    server {
        listen 127.0.0.1:$tls_port ssl;
        ssl_certificate $work/nginx/server.pem;
        ssl_certificate_key $work/nginx/server.key;
        ssl_client_certificate $work/nginx/guest.pem;
        ssl_verify_client on;
    }
}
EOF
}

start_nginx() { # sets $port, and $tls_port for TLS with client certificates
    local try server
    mkdir -p "$work/nginx"
    certificate server
    certificate guest
    certificate stranger
    echo "guest:$(openssl passwd -apr1 open)" >"$work/nginx/users"
    for try in {1..20}; do
        port=$((20000 + RANDOM % 12000)) tls_port=$((port + 1))
        if ask_nginx "$port" 2>/dev/null || ask_nginx "$tls_port" 2>/dev/null; then continue; fi
        write_nginx_configuration
        nginx -e "$work/nginx/error.log" -c "$work/nginx/nginx.conf" {alive}>&- &
        server=$!
        processes+=("$server")
        while kill -0 "$server" 2>/dev/null; do # it ends at once if it cannot listen
            if ask_nginx "$port" 2>/dev/null; then return; fi
            read -rt 0.05 <> <(:) || true
        done
    done
    fail "nginx does not start: $(tail -1 "$work/nginx/error.log")"
}
