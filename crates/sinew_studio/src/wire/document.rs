//! Writes `protocol.ts` and the tables of `PROTOCOL.md` from the types. `UPDATE=1 cargo test -p sinew_studio protocol`
//! writes them; without, the test fails if they are stale.

use super::{Ack, GestureId, JobState, Notice, Request, Work, registry::Registry, registry::registry};
use std::{collections::BTreeMap, fmt::Write, path::Path};
use ts_rs::{Config, TS, TypeVisitor};

/// Longest line of `protocol.ts`.
const WIDTH: usize = 116;

/// Types that were met.
pub struct Document {
    config: Config,
    /// Declarations by name.
    types: BTreeMap<String, (Option<String>, String)>,
}

/// A request as it is written down.
#[derive(Debug)]
pub struct RequestText {
    docs: String,
    fields: String,
    reply: String,
    work: Work,
}

struct Visitor<'a>(&'a mut Document);

impl TypeVisitor for Visitor<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.0.declare::<T>();
    }
}

impl Document {
    fn new() -> Self {
        Self { config: Config::new().with_large_int("number"), types: BTreeMap::new() }
    }

    fn declare<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_some() {
            let name = T::ident(&self.config);
            if self.types.contains_key(&name) {
                return;
            }
            // First the name, because types may contain themselves.
            self.types.insert(name.clone(), (None, String::new()));
            let text = T::decl(&self.config);
            self.types.insert(name, (T::docs(), text));
        }
        T::visit_dependencies(&mut Visitor(self));
        T::visit_generics(&mut Visitor(self));
    }

    /// What a type is, without its name, and its documentation; what it is made of is declared.
    pub fn shape<T: TS + 'static>(&mut self) -> (String, String) {
        T::visit_dependencies(&mut Visitor(self));
        T::visit_generics(&mut Visitor(self));
        (plain(&T::docs().unwrap_or_default()), T::inline(&self.config))
    }

    /// A type by its name, which is declared, and its documentation.
    pub fn named<T: TS + 'static>(&mut self) -> (String, String) {
        self.declare::<T>();
        (plain(&T::docs().unwrap_or_default()), T::name(&self.config))
    }

    /// A request, its reply and documentation.
    pub fn request<R: Request>(&mut self) -> RequestText {
        let (docs, fields) = self.shape::<R>();
        R::Reply::visit_dependencies(&mut Visitor(self));
        R::Reply::visit_generics(&mut Visitor(self));
        self.declare::<R::Reply>();
        RequestText { docs, fields, reply: R::Reply::name(&self.config), work: R::WORK }
    }
}

/// The words of a comment.
fn plain(comment: &str) -> String {
    let lines =
        comment.lines().map(|line| line.trim_start_matches(['/', '*', ' ']).trim_end_matches("*/").trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_empty(fields: &str) -> bool {
    fields == "Record<string, never>" || fields == "Record<symbol, never>"
}

/// `protocol.ts`.
fn typescript(registry: &Registry) -> String {
    let mut document = Document::new();
    let requests: Vec<_> = registry.requests.iter().map(|r| (r.name, (r.describe)(&mut document))).collect();
    let gestures: Vec<_> = registry.gestures.iter().map(|g| (g.name, (g.describe)(&mut document))).collect();
    let parts: Vec<_> = registry.parts.iter().map(|part| (part.describe)(&mut document).1).collect();
    let choices: Vec<_> = registry.choices.iter().map(|part| (part.describe)(&mut document).1).collect();
    document.declare::<JobState>();
    document.declare::<Notice>();
    let ack = document.shape::<Ack>().1;
    let mut text = String::from(HEAD);
    for (docs, declaration) in document.types.values() {
        if let Some(docs) = docs {
            comment(&mut text, &plain(docs));
        }
        let declaration = declaration.trim().trim_end_matches(';');
        let _ = writeln!(text, "export {};\n", broken(declaration));
    }
    comment(&mut text, "What a gesture streams.");
    let gesture = |(name, (_, shape)): &(&str, (String, String))| format!("{{ {name}: {shape} }}");
    let _ = writeln!(text, "export type Gestured =\n  | {};\n", join(gestures.iter().map(gesture)));
    comment(&mut text, "What a page may ask for; `id` is added when an answer is wanted.");
    let request = |(name, request): &(&str, RequestText)| match is_empty(&request.fields) {
        true => format!("{{ type: '{name}' }}"),
        false => format!("({{ type: '{name}' }} & {})", broken(&request.fields)),
    };
    let first = [
        format!("({{ type: 'ack' }} & {ack})"),
        "{ type: 'drag'; drag: number; move: Gestured; end?: boolean }".to_owned(),
    ];
    let all = first.into_iter().chain(requests.iter().map(request));
    let _ = writeln!(text, "export type Outgoing =\n  | {};\n", join(all));
    comment(&mut text, "What is answered to each.");
    let reply = |(name, request): &(&str, RequestText)| format!("  {name}: {};", request.reply);
    let _ = writeln!(
        text,
        "export interface Replies {{\n{}\n}}\n",
        requests.iter().map(reply).collect::<Vec<_>>().join("\n")
    );
    comment(&mut text, "Keys of the `welcome` message.");
    let shapes = |shapes: &[String]| shapes.iter().map(|shape| broken(shape)).collect::<Vec<_>>().join(" & ");
    let _ = writeln!(text, "export type Welcome = {};\n", shapes(&choices));
    comment(&mut text, "All keys of the `state` message; a message has those whose part changed.");
    let _ = writeln!(text, "export type State = {};\n", shapes(&parts));
    text.push_str(TAIL);
    text
}

fn join(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n  | ")
}

fn comment(text: &mut String, words: &str) {
    if !words.is_empty() {
        let _ = writeln!(text, "/** {words} */");
    }
}

/// A type over several lines where it is too long for one: its alternatives, or the fields of its object.
fn broken(declaration: &str) -> String {
    let declaration = &without_breaks(declaration);
    if declaration.len() <= WIDTH && !declaration.contains("/**") {
        return declaration.clone();
    }
    let is_union = breaks(declaration).any(|(_, letter, open)| letter == '|' && open.is_empty());
    let mut text = String::new();
    for (at, letter, open) in breaks(declaration) {
        let is_outer = !is_union && open == "{";
        let is_documented = |rest: &str| rest.trim_start().starts_with("/**");
        match letter {
            '|' if is_union && open.is_empty() => text.push_str("\n  |"),
            '{' if is_outer => text.push_str("{\n  "),
            ',' if is_outer => text.push_str(";\n  "),
            '}' if is_outer => {
                text.truncate(text.trim_end().len());
                text.push_str("\n}");
            }
            ' ' if text.ends_with([' ', '\n']) => {}
            '/' if text.ends_with('*') && is_outer && !is_documented(&declaration[at..]) => {
                text.push_str("/\n  ")
            }
            letter => text.push(letter),
        }
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Letters with the brackets that are open around them (a bracket itself counts); those of comments as in a bracket, but
/// for the last.
fn breaks(text: &str) -> impl Iterator<Item = (usize, char, String)> + '_ {
    let (mut open, mut in_comment) = (String::new(), false);
    text.char_indices().map(move |(at, letter)| {
        let rest = &text[at..];
        if rest.starts_with("/**") {
            in_comment = true;
        }
        if in_comment {
            in_comment = !text[..at + letter.len_utf8()].ends_with("*/") || rest.starts_with("/**");
            return (at, letter, if in_comment { format!("{open}#") } else { open.clone() });
        }
        let around = match letter {
            '{' | '[' | '<' | '(' => {
                open.push(letter);
                open.clone()
            }
            '}' | ']' | '>' | ')' => {
                let around = open.clone();
                open.pop();
                around
            }
            _ => open.clone(),
        };
        (at, letter, around)
    })
}

/// Comments of several lines as one, and no line breaks.
fn without_breaks(text: &str) -> String {
    let lines = text.lines().map(str::trim).map(|line| match line.strip_prefix('*') {
        Some(rest) if !rest.starts_with('/') => rest.trim(),
        _ => line,
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

const HEAD: &str = "// Generated from the types of the server; do not edit. `UPDATE=1 cargo test -p sinew_studio protocol` writes it.
/* eslint-disable */

export type Vec3 = [number, number, number];
export type Point = [number, number];
export type Quat = [number, number, number, number];
export type Limb = 'torso' | 'arm.L' | 'arm.R' | 'leg.L' | 'leg.R';
/** All settings; commands may name some of them. */
export type Edit = Required<EditChange>;
export type Search = Required<SearchChange>;

";

const TAIL: &str = "/** What changed of the document. */
export type DocChange = Partial<State>;

/** The document as a page knows it: of moves and steps, which come in part, all of them. */
export type Doc = Omit<State, 'moves' | 'history'> & {
  moves: Move[];
  history: { first: number; steps: string[]; at: number };
};

export type Incoming =
  | ({ type: 'welcome' } & Welcome)
  | ({ type: 'state' } & DocChange)
  | { type: 'reply'; id: number; ok?: unknown; error?: string; needs_path?: boolean; exists?: boolean }
  | ({ type: 'job' } & Job)
  | ({ type: 'notice' } & Notice);
";

/// The tables of `PROTOCOL.md`, by the name of their place.
fn tables(registry: &Registry) -> [(&'static str, String); 3] {
    let mut document = Document::new();
    let cell = |text: &str| flat(text).replace('|', "\\|");
    let mut requests = String::from("| type | fields | reply | does |\n|---|---|---|---|\n");
    for entry in &registry.requests {
        let request = (entry.describe)(&mut document);
        let fields =
            if is_empty(&request.fields) { String::new() } else { format!("`{}`", cell(&request.fields)) };
        let reply =
            if request.reply == "Done" { String::new() } else { format!("`{}`", cell(&request.reply)) };
        let job = if request.work == Work::Long { "Job: " } else { "" };
        let large = match entry.max_bytes > super::MAX_BYTES {
            true => format!(" Up to {} MB.", entry.max_bytes >> 20),
            false => String::new(),
        };
        let _ =
            writeln!(requests, "| `{}` | {fields} | {reply} | {job}{}{large} |", entry.name, request.docs);
    }
    let mut gestures = String::from("| key of `move` | value | does |\n|---|---|---|\n");
    for entry in &registry.gestures {
        let (docs, shape) = (entry.describe)(&mut document);
        let _ = writeln!(gestures, "| `{}` | `{}` | {docs} |", entry.name, cell(&shape));
    }
    let mut state = String::from("| keys |\n|---|\n");
    for entry in &registry.parts {
        let (_, shape) = (entry.describe)(&mut document);
        let _ = writeln!(state, "| `{}` |", cell(&shape));
    }
    [("requests", requests), ("gestures", gestures), ("state", state)]
}

/// A type on one line, without comments.
fn flat(text: &str) -> String {
    let mut plain = text.to_owned();
    while let (Some(start), Some(end)) = (plain.find("/**"), plain.find("*/")) {
        plain.replace_range(start..end + 2, "");
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ").replace(", }", " }")
}

/// The text between two marks is what was generated.
fn with_tables(mut text: String, tables: &[(&str, String)]) -> String {
    for (name, table) in tables {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->"));
        let from = text.find(&begin).expect("the mark is there") + begin.len();
        let to = text.find(&end).expect("the mark is there");
        text.replace_range(from..to, table);
    }
    text
}

#[test]
fn protocol_is_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (types, words) = (folder.join("web/src/net/protocol.ts"), folder.join("PROTOCOL.md"));
    let before = std::fs::read_to_string(&words).unwrap();
    let files = [(types, typescript(registry())), (words, with_tables(before, &tables(registry())))];
    for (path, text) in files {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let is_same = std::fs::read_to_string(&path).unwrap() == text;
        assert!(is_same, "{} is stale; run UPDATE=1 cargo test -p sinew_studio protocol", path.display());
    }
}

#[test]
fn names_are_unique() {
    let registry = registry();
    let mut names: Vec<_> = registry.requests.iter().map(|entry| entry.name).collect();
    names.extend(registry.gestures.iter().map(|entry| entry.name));
    names.extend(["ack", "drag"]);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1] || pair[0] == "puppet"), "{names:?}");
    assert_eq!(GestureId { page: 1, drag: 2 }.of_drag().0, (1 << 32) + 2);
}
