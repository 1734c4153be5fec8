//! Access to the server: only pages that were opened with its launch link have it.
//!
//! A web page of another site can make a browser send requests to loopback. It cannot choose the `Origin` header,
//! and a name of its own that it points at us (DNS rebinding) shows in the `Host` header. So both are checked. Other users of
//! this machine, and with `--listen` others on the network, can send what they like: they lack the token, a cookie that
//! a browser is given when it opens the launch link. Each link works once.

use crate::locks::Ranked;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// Launch links that have not been used; older ones are void.
const MAX_LINKS: usize = 8;

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
    token: Arc<str>,
    links: Arc<Ranked<Vec<String>>>,
}

/// What is answered to those who lack the token.
pub const NEEDS_LINK: &str = "this needs the launch link that `sinew studio` printed; each link works once, and the page \
    /launch shows another one in a browser where the studio is open";

impl Guard {
    /// For a server bound to an address.
    pub fn new(address: SocketAddr, token: &str) -> Self {
        Self { address, token: token.into(), links: Arc::default() }
    }

    /// A new launch link.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn link(&self) -> anyhow::Result<String> {
        let host = if self.address.ip().is_unspecified() {
            SocketAddr::new(IpAddr::from([127, 0, 0, 1]), self.address.port())
        } else {
            self.address
        };
        let key = secret()?;
        let mut links = self.links.lock();
        links.push(key.clone());
        if links.len() > MAX_LINKS {
            links.remove(0);
        }
        Ok(format!("http://{host}/?launch={key}"))
    }

    /// Whether a request is allowed; with the cookie to set if it came by a launch link.
    ///
    /// # Errors
    /// What to answer instead.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Option<HeaderValue>, (StatusCode, &'static str)> {
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
        if self.has_token(headers) {
            return Ok(None);
        }
        match method == Method::GET && uri.path() == "/" && self.use_link(uri) {
            true => Ok(self.cookie()),
            false => Err((StatusCode::UNAUTHORIZED, NEEDS_LINK)),
        }
    }

    /// Whether a launch link was used that has not been before.
    fn use_link(&self, uri: &Uri) -> bool {
        let given = uri.query().unwrap_or("").split('&').find_map(|pair| pair.strip_prefix("launch="));
        let mut links = self.links.lock();
        let found = given.and_then(|given| links.iter().position(|link| is_equal(given, link)));
        found.map(|at| links.remove(at)).is_some()
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

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = text(headers, header::COOKIE).unwrap_or("");
        let mut given =
            cookies.split(';').filter_map(|pair| pair.trim().strip_prefix(&*name)?.strip_prefix('='));
        given.any(|given| is_equal(given, &self.token))
    }

    /// Browsers share cookies between ports, so that each port has its own.
    fn cookie_name(&self) -> String {
        format!("sinew_{}", self.address.port())
    }

    /// The cookie that lets the page's further requests through.
    fn cookie(&self) -> Option<HeaderValue> {
        let (name, token) = (self.cookie_name(), &self.token);
        HeaderValue::from_str(&format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict")).ok()
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

/// Compare in a time that does not depend on how much is right.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Unguessable letters.
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
            Ok(_) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    #[test]
    fn other_sites_and_names_are_refused() {
        let guard = Guard::new("127.0.0.1:7717".parse().unwrap(), "abc");
        let cookie = ("cookie", "sinew_7717=abc");
        let get =
            |pairs: &[(&'static str, &str)]| status(&guard, Method::GET, "/", &[pairs, &[cookie]].concat());
        assert_eq!(get(&[("host", "127.0.0.1:7717")]), 200);
        assert_eq!(get(&[("host", "localhost:7717")]), 200);
        // A foreign name for our address, another port, no host, no port.
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
            assert_eq!(status(&guard, Method::POST, "/upload", &[host, cookie, ("origin", origin)]), 403);
        }
        assert_eq!(get(&[host, upgrade]), 403);
        assert_eq!(get(&[host, upgrade, ("origin", "http://127.0.0.1:7717")]), 200);
        // The origin must be the host's, not merely one of ours.
        assert_eq!(get(&[host, upgrade, ("origin", "http://localhost:7717")]), 403);
    }

    #[test]
    fn a_launch_link_works_once() {
        let guard = Guard::new("0.0.0.0:80".parse().unwrap(), "abc");
        let host = ("host", "192.168.1.5:80");
        let get = |uri: &str, pairs: &[(&'static str, &str)]| status(&guard, Method::GET, uri, pairs);
        assert_eq!(get("/", &[host]), 401);
        let link = guard.link().unwrap();
        let path = link.strip_prefix("http://127.0.0.1:80").unwrap();
        assert_eq!(get(&path.replace("launch", "token"), &[host]), 401);
        assert_eq!(get(&path[..path.len() - 1], &[host]), 401);
        assert_eq!(get(path, &[("host", "evil.example:80")]), 421);
        // Only the page itself is opened by it.
        assert_eq!(get(&path.replace('/', "/app.js"), &[host]), 401);
        let cookie = guard.check(&Method::GET, &path.parse().unwrap(), &headers(&[host])).unwrap().unwrap();
        assert_eq!(cookie, "sinew_80=abc; Path=/; HttpOnly; SameSite=Strict");
        assert_eq!(get(path, &[host]), 401);
        assert_eq!(get(path, &[("host", "192.168.1.5"), ("cookie", "a=b; sinew_80=abc")]), 200);
        assert_eq!(get("/", &[("host", "[::1]"), ("cookie", "sinew_80=abc")]), 200);
        for wrong in ["sinew_80=ab", "sinew_81=abc", "sinew_80abc", "xsinew_80=abc"] {
            assert_eq!(get("/app.js", &[host, ("cookie", wrong)]), 401, "{wrong}");
        }
        // The oldest unused links are void.
        let first = guard.link().unwrap();
        (0..MAX_LINKS).for_each(|_| drop(guard.link().unwrap()));
        assert_eq!(get(first.strip_prefix("http://127.0.0.1:80").unwrap(), &[host]), 401);
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}
