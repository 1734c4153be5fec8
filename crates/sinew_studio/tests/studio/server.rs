//! A server of its own, and a page that believes what it is sent.

use serde_json::{Value, json};
use sinew_studio::{StudioOptions, serve};
use std::{
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    sync::mpsc::channel,
    time::Duration,
};
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

/// A server of its own, which lives until the tests end.
pub struct Server {
    pub host: String,
    /// The launch link, without the host.
    pub path: String,
    /// What a browser is given when it opens the link.
    pub cookie: String,
    pub folder: PathBuf,
}

impl Server {
    pub fn start(name: &str, options: impl FnOnce(&Path) -> StudioOptions) -> Self {
        let folder = std::env::temp_dir().join(format!("sinew-studio-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("root")).unwrap();
        let options = StudioOptions {
            home: Some(folder.join("home")),
            root: Some(folder.join("root")),
            ..options(&folder)
        };
        let (sender, urls) = channel();
        std::thread::spawn(move || {
            serve(&options, |url, _| {
                sender.send(url.to_owned())?;
                Ok(())
            })
        });
        let url = urls.recv_timeout(Duration::from_secs(60)).expect("the server starts");
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
        let (host, path) = (host.to_owned(), format!("/{path}"));
        let mut server = Self { host, path, cookie: "none=1".into(), folder };
        let (status, page) = server.get(&server.path);
        assert_eq!(status, 200);
        let set = page.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{set}");
        server.cookie = set.split(';').next().unwrap().to_owned();
        server
    }

    pub fn sample(name: &str) -> Self {
        Self::start(name, |_| StudioOptions::default())
    }

    /// Status and body of a request of our own making.
    pub fn raw(&self, head: &str, body: &[u8]) -> (u16, String) {
        self.raw_with(&format!("{head}Cookie: {}\r\n", self.cookie), body)
    }

    /// The same, without the cookie.
    pub fn raw_with(&self, head: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        // It may have answered and gone before everything was sent.
        let _ = stream.write_all(body);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, text)
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.host), b"")
    }

    pub fn upload(&self, drop: &str, name: &str, body: &[u8]) -> u16 {
        let (host, n) = (&self.host, body.len());
        let head = format!(
            "POST /upload?drop={drop}&name={name} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: {n}\r\n"
        );
        self.raw(&head, body).0
    }

    pub fn page(&self) -> Page {
        let mut request = format!("ws://{}/ws", self.host).into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("http://{}", self.host).parse().unwrap());
        request.headers_mut().insert("cookie", self.cookie.parse().unwrap());
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        let mut page = Page {
            socket,
            state: Value::Null,
            heard: Vec::new(),
            frames: Vec::new(),
            notices: Vec::new(),
            replies: Vec::new(),
            next: 1,
            jobs: 0,
        };
        while page.state.is_null() || page.frames.is_empty() {
            page.hear();
        }
        page
    }
}

/// A client that applies every message it receives.
pub struct Page {
    pub socket: WebSocket<TcpStream>,
    pub state: Value,
    /// All messages of the state.
    pub heard: Vec<Value>,
    pub frames: Vec<Vec<u8>>,
    pub notices: Vec<Value>,
    /// Ids of the requests that were answered.
    pub replies: Vec<Value>,
    pub next: u64,
    pub jobs: usize,
}

pub fn word(bytes: &[u8], index: usize) -> u32 {
    u32::from_le_bytes(bytes[index * 4..index * 4 + 4].try_into().unwrap())
}

/// Tag, first number, second number and content of each section.
pub fn sections(bytes: &[u8]) -> Vec<(u32, u32, u32, &[u8])> {
    let (mut rest, mut found) = (&bytes[48..], Vec::new());
    while !rest.is_empty() {
        let n = word(rest, 3) as usize;
        found.push((word(rest, 0), word(rest, 1), word(rest, 2), &rest[16..16 + n]));
        rest = &rest[16 + n.next_multiple_of(4)..];
    }
    found
}

impl Page {
    /// Take one message; text is returned.
    pub fn hear(&mut self) -> Value {
        match self.socket.read().expect("an answer in time") {
            Message::Text(text) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                match value["type"].as_str().unwrap() {
                    "state" => self.take(&value),
                    "notice" => self.notices.push(value.clone()),
                    "job" => self.jobs += 1,
                    "reply" => self.replies.push(value["id"].clone()),
                    _ => {}
                }
                value
            }
            Message::Binary(bytes) => {
                let frame = word(&bytes, 1);
                self.frames.push(bytes.to_vec());
                self.send(&json!({ "type": "ack", "frame": frame }));
                Value::Null
            }
            other => panic!("{other:?}"),
        }
    }

    /// What changed of the state, as the page of PROTOCOL.md takes it.
    pub fn take(&mut self, news: &Value) {
        self.heard.push(news.clone());
        let before = std::mem::replace(&mut self.state, json!({}));
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        self.state = before.as_object().map_or_else(|| json!({}), |_| before.clone());
        for (key, value) in news.as_object().unwrap() {
            self.state[key] = match key.as_str() {
                "moves" => {
                    let kept = list(&before["moves"]).into_iter().take(number(&value["keep"]));
                    kept.chain(list(&value["moves"])).collect()
                }
                "history" => {
                    let gone = number(&value["first"]).saturating_sub(number(&before["history"]["first"]));
                    let steps = list(&before["history"]["steps"]).into_iter().skip(gone);
                    let steps: Vec<Value> =
                        steps.take(number(&value["keep"])).chain(list(&value["steps"])).collect();
                    json!({ "first": value["first"], "steps": steps, "at": value["at"] })
                }
                _ => value.clone(),
            };
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Ask and wait for the answer.
    pub fn ask(&mut self, mut message: Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        message["id"] = json!(id);
        self.send(&message);
        loop {
            let heard = self.hear();
            if heard["type"] == "reply" && heard["id"] == id {
                return match heard["error"].as_str() {
                    Some(error) => Err(error.to_owned()),
                    None => Ok(heard["ok"].clone()),
                };
            }
        }
    }

    pub fn until(&mut self, what: impl Fn(&Self) -> bool) {
        while !what(self) {
            self.hear();
        }
    }

    /// Move something and wait for the frame that shows it.
    pub fn drag(&mut self, drag: u32, step: Value, end: bool) {
        self.send(&json!({ "type": "drag", "drag": drag, "move": step, "end": end }));
        self.until(|page| page.frames.last().is_some_and(|frame| word(frame, 5) == drag));
    }

    pub fn last_frame(&self) -> &[u8] {
        self.frames.iter().rev().find(|frame| word(frame, 0) == 2).unwrap()
    }

    pub fn handle(&self, name: &str) -> &Value {
        let handles = self.state["handles"].as_array().unwrap();
        handles.iter().find(|handle| handle["name"] == name).unwrap_or(&Value::Null)
    }
}
