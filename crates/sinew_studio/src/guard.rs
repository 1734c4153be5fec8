//! Who may talk to the server: the page it served, on this machine, and nobody else.
//!
//! A web page of somebody else can make a browser send requests to loopback. It cannot choose the `Origin` header,
//! and a name of its own that it points at us (DNS rebinding) shows in the `Host` header. So both are checked. With
//! `--listen` others on the network can reach us, too; then a secret token is asked for as well.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use std::net::{IpAddr, SocketAddr};

/// Name of the cookie that carries the token once the page is open.
const COOKIE: &str = "sinew_token";

/// Sent with everything: the page may load nothing but what the server itself gives. Some browsers do not count a
/// socket as the server itself, so that it is named.
pub fn policy(host: &str) -> String {
    let socket =
        if host.bytes().all(|c| c.is_ascii_alphanumeric() || b".:[]-".contains(&c)) { host } else { "" };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
         connect-src 'self' ws://{socket}; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}

/// What the tracker may do, which runs beside the page: compile its engine, and fetch it from here. The page may not.
pub const TRACKER_POLICY: &str =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/// The rules of one server.
#[derive(Debug, Clone)]
pub struct Guard {
    address: SocketAddr,
    token: Option<String>,
}

impl Guard {
    /// For a server bound to an address; a token is asked for if there is one.
    pub fn new(address: SocketAddr, token: Option<String>) -> Self {
        Self { address, token }
    }

    /// The address a user opens.
    pub fn url(&self) -> String {
        let host = if self.address.ip().is_unspecified() {
            SocketAddr::new(IpAddr::from([127, 0, 0, 1]), self.address.port())
        } else {
            self.address
        };
        match &self.token {
            Some(token) => format!("http://{host}/?token={token}"),
            None => format!("http://{host}/"),
        }
    }

    /// Whether a request may go on.
    ///
    /// # Errors
    /// What to answer instead.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let host =
            text(headers, header::HOST).ok_or((StatusCode::BAD_REQUEST, "a Host header is missing"))?;
        if !self.is_own_host(host) {
            return Err((StatusCode::MISDIRECTED_REQUEST, "this server answers to its own address only"));
        }
        let origin = text(headers, header::ORIGIN);
        let is_upgrade = headers.contains_key(header::UPGRADE);
        match origin {
            Some(origin) if origin != format!("http://{host}") => {
                return Err((StatusCode::FORBIDDEN, "pages of other sites may not talk to this server"));
            }
            // Browsers send it with everything that could change something.
            None if is_upgrade || (method != Method::GET && method != Method::HEAD) => {
                return Err((StatusCode::FORBIDDEN, "an Origin header is missing"));
            }
            _ => {}
        }
        match &self.token {
            Some(token) if !self.has_token(token, uri, headers) => Err((
                StatusCode::UNAUTHORIZED,
                "open the address that `sinew studio` printed: it holds a token",
            )),
            _ => Ok(()),
        }
    }

    fn is_own_host(&self, host: &str) -> bool {
        let (name, port) = split_host(host);
        if port != self.address.port() {
            return false;
        }
        match name.parse::<IpAddr>() {
            Ok(ip) => {
                ip == self.address.ip()
                    || (self.address.ip().is_loopback() && ip.is_loopback())
                    // Bound to all addresses: any number is ours, but no name is.
                    || self.address.ip().is_unspecified()
            }
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    && (self.address.ip().is_loopback() || self.address.ip().is_unspecified())
            }
        }
    }

    fn has_token(&self, token: &str, uri: &Uri, headers: &HeaderMap) -> bool {
        let in_query = uri.query().unwrap_or("").split('&').filter_map(|pair| pair.strip_prefix("token="));
        let cookies = text(headers, header::COOKIE).unwrap_or("");
        let in_cookie =
            cookies.split(';').filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
        in_query.chain(in_cookie).any(|given| is_equal(given, token))
    }

    /// The cookie that lets the page's further requests through.
    pub fn cookie(&self) -> Option<HeaderValue> {
        let token = self.token.as_ref()?;
        HeaderValue::from_str(&format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict")).ok()
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Name and port, which browsers leave out if it is 80; brackets of IPv6 taken off.
fn split_host(host: &str) -> (&str, u16) {
    let parts = host.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
    let (name, port) = parts.unwrap_or((host, 80));
    (name.trim_start_matches('[').trim_end_matches(']'), port)
}

/// Compare without telling by the time it takes how much was right.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Letters nobody can guess.
///
/// # Errors
/// If the system has no randomness to give.
pub fn secret() -> anyhow::Result<String> {
    let mut bytes = [0u8; 18];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn status(guard: &Guard, method: Method, uri: &str, pairs: &[(&'static str, &str)]) -> u16 {
        match guard.check(&method, &uri.parse().unwrap(), &headers(pairs)) {
            Ok(()) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    #[test]
    fn other_sites_and_names_are_refused() {
        let guard = Guard::new("127.0.0.1:7717".parse().unwrap(), None);
        let get = |pairs: &[(&'static str, &str)]| status(&guard, Method::GET, "/", pairs);
        assert_eq!(get(&[("host", "127.0.0.1:7717")]), 200);
        assert_eq!(get(&[("host", "localhost:7717")]), 200);
        // A name that somebody pointed at us, another port, no host, no port.
        for host in [
            "evil.example:7717",
            "127.0.0.1:7718",
            "127.0.0.1",
            "localhost.evil.example:7717",
            "8.8.8.8:7717",
        ] {
            assert_eq!(get(&[("host", host)]), 421, "{host}");
        }
        assert_eq!(get(&[]), 400);
        // Another site's page, and no page at all where one must be.
        let host = ("host", "127.0.0.1:7717");
        let upgrade = ("upgrade", "websocket");
        for origin in ["http://evil.example", "http://127.0.0.1:7718", "https://127.0.0.1:7717", "null"] {
            assert_eq!(get(&[host, upgrade, ("origin", origin)]), 403, "{origin}");
            assert_eq!(status(&guard, Method::POST, "/upload", &[host, ("origin", origin)]), 403);
        }
        assert_eq!(get(&[host, upgrade]), 403);
        assert_eq!(get(&[host, upgrade, ("origin", "http://127.0.0.1:7717")]), 200);
        // The origin must be the host's, not merely one of ours.
        assert_eq!(get(&[host, upgrade, ("origin", "http://localhost:7717")]), 403);
    }

    #[test]
    fn on_the_network_a_token_is_asked_for() {
        let guard = Guard::new("0.0.0.0:80".parse().unwrap(), Some("abc".into()));
        let host = ("host", "192.168.1.5:80");
        assert_eq!(status(&guard, Method::GET, "/", &[host]), 401);
        assert_eq!(status(&guard, Method::GET, "/?token=abd", &[host]), 401);
        assert_eq!(status(&guard, Method::GET, "/?token=abc", &[host]), 200);
        assert_eq!(status(&guard, Method::GET, "/?token=abc", &[("host", "192.168.1.5")]), 200);
        assert_eq!(status(&guard, Method::GET, "/?token=abc", &[("host", "[::1]")]), 200);
        assert_eq!(status(&guard, Method::GET, "/app.js", &[host, ("cookie", "a=b; sinew_token=abc")]), 200);
        assert_eq!(status(&guard, Method::GET, "/app.js", &[host, ("cookie", "sinew_token=ab")]), 401);
        assert_eq!(status(&guard, Method::GET, "/?token=abc", &[("host", "evil.example:80")]), 421);
        assert!(guard.url().ends_with("/?token=abc"));
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}
