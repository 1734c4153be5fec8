//! Results of the corpus: JSON for programs, a page with a contact sheet per row, and a table for the documentation.

use super::row::{Row, short};
use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

/// Write a file in one step, so that a full disk leaves the old one intact.
pub fn save(path: &Path, content: &str) -> anyhow::Result<()> {
    let beside = path.with_extension(format!("part-{}", std::process::id()));
    let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // A partially written file is useless.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| {
        format!(
            "{}: the report could not be written; free some space, or choose another place",
            path.display()
        )
    })
}

pub fn to_json(rows: &[Row]) -> String {
    json!({ "rows": rows.iter().map(Row::to_json).collect::<Vec<_>>() }).to_string()
}

/// How many rows of each area pass, and how many of the others the product itself warned about.
pub fn summary(rows: &[Row]) -> String {
    let mut text =
        format!("{:<8} {:>5} {:>6} {:>6} {:>7} {:>9}\n", "area", "rows", "green", "red", "silent", "seconds");
    for (area, rows) in by_area(rows) {
        let green = rows.iter().filter(|row| row.pass).count();
        let silent = rows.iter().filter(|row| !row.pass && !row.used.warned).count();
        let seconds: f64 = rows.iter().map(|row| row.used.seconds).sum();
        let _ = writeln!(
            text,
            "{area:<8} {:>5} {green:>6} {:>6} {silent:>7} {seconds:>9.1}",
            rows.len(),
            rows.len() - green
        );
    }
    text
}

fn by_area(rows: &[Row]) -> BTreeMap<&'static str, Vec<&Row>> {
    let mut areas: BTreeMap<&'static str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| areas.entry(row.area).or_default().push(row));
    areas
}

/// A line per row, as it is committed: `| 🟢 | file | measures | what is wrong |`.
pub fn table(rows: &[Row], how: &str) -> String {
    let mut text = format!(
        "# The corpus\n\nEvery capability, with its defaults, on unprepared files, measured on what was written. \
         Made by\n\n```\n{how}\n```\n\nA row that is green here and turns red fails `./test all`. *Silent* rows are red and \
         the product did not warn.\nThe limits are in `crates/sinew_bench/src/corpus/limits.rs`.\n\n```\n{}```\n",
        summary(rows)
    );
    for (area, rows) in by_area(rows) {
        let _ = write!(text, "\n## {area}\n\n| | file | measures | what is wrong |\n|---|---|---|---|\n");
        for row in rows {
            let measures: Vec<String> = row
                .measures
                .iter()
                .filter(|(name, _)| *name != "done")
                .map(|(k, x)| format!("{k} {}", short(*x)))
                .collect();
            let mut wrong = row.broken();
            if !row.pass {
                wrong.extend(row.notes.iter().take(1).cloned());
                wrong.extend((!row.used.warned).then(|| "*silent*".to_owned()));
            }
            let mark = if row.pass { GREEN } else { RED };
            let line = format!(
                "| {mark} | {} | {} | {} |",
                cell(&row.file),
                cell(&measures.join(", ")),
                cell(&wrong.join("; "))
            );
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

const GREEN: &str = "🟢";
const RED: &str = "🔴";

/// Text that fits into a table.
fn cell(text: &str) -> String {
    let flat = text.replace('|', "\\|").replace(['\n', '\r'], " ");
    // Paths of this machine are meaningless on another: the name is enough.
    let name = |word: &'_ str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words = flat.split(' ').map(|word| if word.starts_with('/') { name(word) } else { word.to_owned() });
    let text: String = words.collect::<Vec<_>>().join(" ");
    if text.chars().count() > 400 { text.chars().take(400).chain(['…']).collect() } else { text }
}

/// The rows that a committed table has as green: area and file.
pub fn green_rows(table: &str) -> Vec<(String, String)> {
    let mut area = String::new();
    let mut rows = Vec::new();
    for line in table.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            area = name.to_owned();
        }
        if let Some(rest) = line.strip_prefix(&format!("| {GREEN} | ")) {
            let file = rest.split(" | ").next().unwrap_or_default();
            rows.push((area.clone(), file.to_owned()));
        }
    }
    rows
}

/// Rows that a committed table has as green and that are red now.
pub fn turned_red(rows: &[Row], table: &str) -> Vec<String> {
    let green = green_rows(table);
    let was_green =
        |row: &&Row| green.iter().any(|(area, file)| area == row.area && *file == cell(&row.file));
    let text = |row: &Row| {
        format!("{} {}: {}", row.area, row.file, [row.broken(), row.notes.clone()].concat().join("; "))
    };
    rows.iter().filter(|row| !row.pass).filter(was_green).map(text).collect()
}

/// One page with everything in it.
pub fn page(rows: &[Row], how: &str) -> String {
    let mut html = String::from(
        "<!doctype html><meta charset=utf-8><title>Sinew corpus</title><style>\
         body{font:14px/1.45 system-ui,sans-serif;margin:24px;max-width:1200px}h2{margin-top:32px}\
         .row{border-left:6px solid #3a3;padding:4px 12px;margin:10px 0}.red{border-color:#c33}.silent{background:#fdeaea}\
         .measures span{display:inline-block;margin-right:12px;color:#555}.measures .bad{color:#c00;font-weight:600}\
         .titles span{display:inline-block;width:160px;font-size:11px;color:#777;overflow:hidden}\
         pre,code{font-size:12px;color:#666;white-space:pre-wrap}img{display:block}</style><h1>Sinew corpus</h1>",
    );
    let _ = write!(html, "<pre>{}\n\n{}</pre>", escape(how), escape(&summary(rows)));
    for (area, rows) in by_area(rows) {
        let _ = write!(html, "<h2 id={area}>{area}</h2>");
        rows.iter().for_each(|row| page_row(&mut html, row));
    }
    html
}

fn page_row(html: &mut String, row: &Row) {
    let silent = !row.pass && !row.used.warned;
    let class = if row.pass {
        "row"
    } else if silent {
        "row red silent"
    } else {
        "row red"
    };
    let _ = write!(
        html,
        "<div class='{class}'><b>{}</b> {:.1} s, {:.0} MB",
        escape(&row.file),
        row.used.seconds,
        row.used.peak_mb
    );
    let _ =
        write!(html, "{}<div class=measures>", if silent { " — not reported by the product" } else { "" });
    let broken = row.broken();
    for (name, x) in &row.measures {
        let is_bad = broken.iter().any(|text| text.starts_with(&format!("{name} ")));
        let _ = write!(html, "<span{}>{name} {}</span>", if is_bad { " class=bad" } else { "" }, short(*x));
    }
    let _ = write!(html, "</div>");
    for note in row.notes.iter().chain(&row.used.warnings) {
        let _ = write!(html, "<div>{}</div>", escape(note));
    }
    let _ = write!(html, "<code>{}</code>", escape(&row.used.commands.join("\n")));
    if let Some((titles, png)) = &row.sheet {
        let titles: String = titles.iter().map(|title| format!("<span>{}</span>", escape(title))).collect();
        let _ = write!(
            html,
            "<div class=titles>{titles}</div><img src='data:image/png;base64,{}'>",
            STANDARD.encode(png)
        );
    }
    html.push_str("</div>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::{lab::Usage, row::Verdict};
    use super::*;

    fn row(file: &str, done: f64) -> Row {
        let mut verdict = Verdict::default();
        verdict.set("done", done);
        Row::new(file.into(), "open", verdict, Usage::default())
    }

    #[test]
    fn a_green_row_that_turns_red_is_found_in_the_committed_table() {
        let committed = table(&[row("a|b.obj", 1.0), row("c.obj", 0.0)], "how");
        assert_eq!(green_rows(&committed), [("open".to_owned(), "a\\|b.obj".to_owned())]);
        let now = [row("a|b.obj", 0.0), row("c.obj", 0.0), row("new.obj", 0.0)];
        let red = turned_red(&now, &committed);
        assert_eq!(red.len(), 1, "{red:?}");
        assert!(red[0].starts_with("open a|b.obj: done 0"));
    }

    #[test]
    fn a_report_that_cannot_be_written_leaves_the_old_one() {
        assert!(save(Path::new("/nowhere/report.html"), "text").is_err());
        let full = save(Path::new("/dev/full/report.html"), "text").unwrap_err();
        assert!(format!("{full:#}").contains("choose another place"));
    }
}
