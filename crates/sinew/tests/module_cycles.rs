//! Modules beside each other must not use each other in a circle, in any crate and at any depth. What a module re-exports is
//! followed to where it is defined. A parent and its children may use each other; tests do not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Crates whose outermost modules know each other: documents hold the data of capabilities whose operations take documents,
/// and the studio owns the capabilities that act on it. Modules within these are in order.
const KNOWN: [&str; 2] = ["sinew_session", "sinew_studio"];

/// Names of a module from the root of its crate, or of anything in it.
type Names = Vec<String>;

/// Words and signs of a source file without comments, texts and what is compiled for tests only.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'r' if rest.starts_with("r#\"") => rest.find("\"#").map_or(rest.len(), |end| end + 2),
            '"' => end_of_text(rest),
            '\'' if rest[1..].starts_with('\\') => 4 + rest[3..].find('\'').unwrap_or(0),
            '\'' if rest.chars().nth(2) == Some('\'') => {
                rest.char_indices().nth(3).map_or(rest.len(), |at| at.0)
            }
            ':' if rest.starts_with("::") => 2,
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        if is_word(first) && !rest.starts_with("r#\"") || ":{}()[];,*#=<".contains(first) {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    without_tests(&tokens)
}

fn end_of_text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Without items behind `#[cfg(test)]`.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].starts_with(&TEST) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        let mut depth = 0;
        while at < tokens.len() {
            depth += i32::from(tokens[at] == "{") - i32::from(tokens[at] == "}");
            at += 1;
            if depth == 0 && matches!(tokens[at - 1], "}" | ";") {
                break;
            }
        }
    }
    kept
}

/// A name that a module uses: what it is called there, and its path.
struct Used {
    name: String,
    path: Names,
}

/// All paths in a file: those of `use`, and those written out.
fn used_in(tokens: &[&str]) -> Vec<Used> {
    let is_name = |token: &str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut used = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" && tokens.get(at + 1) != Some(&"<") {
            at = 1 + read_tree(tokens, at + 1, &[], &mut used);
        } else if is_name(tokens[at]) && tokens.get(at + 1) == Some(&"::") {
            let mut path = vec![tokens[at].to_owned()];
            while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|next| is_name(next)) {
                at += 2;
                path.push(tokens[at].to_owned());
            }
            used.push(Used { name: String::new(), path });
            at += 1;
        } else {
            at += 1;
        }
    }
    used
}

/// Read a tree of `use` and return where it ends.
fn read_tree(tokens: &[&str], mut at: usize, before: &[String], used: &mut Vec<Used>) -> usize {
    let mut path = before.to_vec();
    while at < tokens.len() {
        match tokens[at] {
            "::" => at += 1,
            "{" => {
                at += 1;
                while at < tokens.len() && !matches!(tokens[at], "}" | ";") {
                    at = read_tree(tokens, at, &path, used);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            ";" | "," | "}" => break,
            "as" => {
                used.push(Used { name: tokens[at + 1].to_owned(), path });
                return at + 2;
            }
            "self" if !path.is_empty() => at += 1,
            word => {
                path.push(word.to_owned());
                at += 1;
            }
        }
    }
    used.push(Used { name: path.last().cloned().unwrap_or_default(), path });
    at
}

/// Modules of a crate, by their names.
type Modules = BTreeMap<Names, Vec<Used>>;

fn read_module(file: &Path, names: &Names, modules: &mut Modules) {
    let text = std::fs::read_to_string(file).unwrap();
    let tokens = tokens(&text);
    modules.insert(names.clone(), used_in(&tokens));
    let stem = file.file_stem().unwrap().to_string_lossy();
    let is_folder = ["lib", "main", "mod"].contains(&stem.as_ref());
    let folder = if is_folder { file.with_file_name("") } else { file.with_extension("") };
    for declared in tokens.windows(3).filter(|three| three[0] == "mod" && three[2] == ";") {
        let files = [folder.join(format!("{}.rs", declared[1])), folder.join(declared[1]).join("mod.rs")];
        if let Some(file) = files.iter().find(|file| file.exists()) {
            read_module(file, &[names.as_slice(), &[declared[1].to_owned()]].concat(), modules);
        }
    }
}

/// The module that defines what a path names; `None` if it is not of this crate.
fn resolve(modules: &Modules, from: &Names, path: &[String], depth: usize) -> Option<Names> {
    let (mut at, mut rest) = (from.clone(), path);
    let is_child = |at: &Names, name: &String| {
        modules.contains_key(&[at.as_slice(), std::slice::from_ref(name)].concat())
    };
    match rest.first()?.as_str() {
        "crate" => (at, rest) = (Names::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                at.pop()?;
                rest = &rest[1..];
            }
        }
        _ if is_child(&at, &rest[0]) => {}
        _ => return None,
    }
    while let Some(name) = rest.first().filter(|name| is_child(&at, name)) {
        at.push(name.clone());
        rest = &rest[1..];
    }
    let Some((name, rest)) = rest.split_first().filter(|_| depth < 8) else { return Some(at) };
    let exported = modules[&at].iter().find(|used| used.name == *name);
    let defined = exported.and_then(|used| {
        let path = [used.path.as_slice(), rest].concat();
        resolve(modules, &at, &path, depth + 1)
    });
    Some(defined.unwrap_or(at))
}

/// Which children of a module use which others, with one place where they do.
type Arrows = BTreeMap<Names, BTreeMap<String, BTreeMap<String, String>>>;

fn arrows(modules: &Modules) -> Arrows {
    let mut arrows = Arrows::new();
    for (from, all) in modules {
        for used in all {
            let Some(to) = resolve(modules, from, &used.path, 0) else { continue };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if common < from.len() && common < to.len() {
                let place = format!("{} uses {}", from.join("::"), used.path.join("::"));
                let of_parent = arrows.entry(from[..common].to_vec()).or_default();
                of_parent.entry(from[common].clone()).or_default().insert(to[common].clone(), place);
            }
        }
    }
    arrows
}

/// The places that lead from a module back to itself.
fn find_circle(graph: &BTreeMap<String, BTreeMap<String, String>>) -> Option<Vec<String>> {
    for start in graph.keys() {
        let mut came_from: BTreeMap<&String, (&String, &String)> = BTreeMap::new();
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(at) = open.pop() {
            for (to, place) in graph.get(at).into_iter().flatten() {
                if to == start {
                    let mut places = vec![place.clone()];
                    let mut back = at;
                    while let Some((before, place)) = came_from.get(back) {
                        places.insert(0, (*place).clone());
                        back = before;
                    }
                    return Some(places);
                }
                if seen.insert(to) {
                    came_from.insert(to, (at, place));
                    open.push(to);
                }
            }
        }
    }
    None
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        let roots: Vec<PathBuf> =
            ["lib.rs", "main.rs"].iter().map(|name| source.join(name)).filter(|root| root.exists()).collect();
        for root in roots {
            let mut modules = Modules::new();
            read_module(&root, &Names::new(), &mut modules);
            for (parent, graph) in arrows(&modules) {
                let is_known =
                    parent.is_empty() && KNOWN.iter().any(|name| root.to_string_lossy().contains(name));
                let circle = find_circle(&graph);
                assert!(
                    circle.is_some() || !is_known,
                    "{} is in order: take it from the list",
                    root.display()
                );
                if let Some(circle) = circle.filter(|_| !is_known) {
                    let at = [&[root.display().to_string()], parent.as_slice()].concat().join("::");
                    circles.push(format!("{at}:\n  {}", circle.join("\n  ")));
                }
            }
        }
    }
    assert!(circles.is_empty(), "modules that use each other in a circle:\n{}", circles.join("\n"));
}

#[test]
fn paths_are_read() {
    let text = "use a::{b, c::{self, d as e}, f::*}; // use x::y;\n fn g() { h::i(\"j::k\", 'l', '\\'', m::n) }\n \
                #[cfg(test)] mod tests { use o::p; }\n #[cfg(test)] use q::r; struct S<'a>(&'a t::u);";
    let tokens = tokens(text);
    let found: Vec<String> = used_in(&tokens).iter().map(|used| used.path.join("::")).collect();
    assert_eq!(found, ["a::b", "a::c", "a::c::d", "a::f::*", "h::i", "m::n", "t::u"]);
}
