//! The reference page, made of the table.

use super::{FUNCTIONS, FormId, SUFFIXES, UNITS, VERBS, Verb};
use std::fmt::Write;

const HEAD: &str = "\
# Rules

<!-- Made of the table the parser uses (`UPDATE_GOLDEN=1 cargo test -p sinew_constrain --test reference`); do not edit. -->

Rules that a pose must satisfy are written as text, one rule per line, verb first:

```
plane Floor  = through StepMarker normal FloorNormal1 -> FloorNormal2
point ankles = mid(AnkleL, AnkleR)
case 1 \"right foot on the step\"
  pin FootR to StepMarker
case 2 \"hands as wide as the box\"
  distance WristL WristR = distance BoxMarker1 BoxMarker2
range KneeR.rx in 0 .. 150 deg
maximize HeadTop.y priority 2
```

`sinew solve RULES --skeleton FILE` solves them; `--explain` shows the equations, `--format` formats the text.

- `#` begins a comment. `case` begins a group and says why it is there; indentation has no meaning.
- Names are those of joints, markers and definitions of the text. Names with spaces or signs, or equal to a word
  of the language, are put in quotes: `pin \"left foot\" to Step`.
- `Joint.tx … Joint.rz` are degrees of freedom (a translation is the coordinate in the parent's space), `Joint.x`,
  `.y`, `.z` coordinates in the world. `A -> B` is the vector from A to B. `(0, 8, 30) cm` is a point.
- A number without a unit is in centimetres if it is a length and in degrees if it is an angle.
- A line that is not understood is reported with its position; nothing is solved until it is corrected.

";

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut out = String::from(HEAD);
    section(&mut out, "Definitions", |verb| !verb.is_rule);
    section(&mut out, "Rules", |verb| verb.is_rule);
    out.push_str("## Suffixes\n\nAny rule may be followed by these.\n\n| suffix | meaning |\n|---|---|\n");
    for suffix in SUFFIXES {
        let usage = format!("{} {}", suffix.name, suffix.argument);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "| `{}` | {} |", usage.trim_end(), suffix.meaning);
    }
    out.push_str("\n## Functions\n\n| function | meaning |\n|---|---|\n");
    for function in FUNCTIONS {
        let _ = writeln!(
            out,
            "| `{}({})` | {} |",
            function.name,
            function.arguments.join(", "),
            function.meaning
        );
    }
    out.push_str("\n## Units\n\n");
    let names: Vec<String> = UNITS.iter().map(|unit| format!("`{}`", unit.name)).collect();
    let _ = writeln!(
        out,
        "{}, and quotients by `s` and `s2` such as `m/s`; `%` is a hundredth.",
        names.join(", ")
    );
    out
}

fn section(out: &mut String, title: &str, belongs: impl Fn(&Verb) -> bool) {
    let _ = write!(out, "## {title}\n\n| line | meaning | example |\n|---|---|---|\n");
    for verb in VERBS.iter().filter(|verb| belongs(verb)) {
        for form in verb.forms {
            let usage = form.usage(verb).replace('|', "\\|");
            let usage =
                if form.id == FormId::Equation { "EXPRESSION =\\|<=\\|>= EXPRESSION".into() } else { usage };
            let _ = writeln!(out, "| `{usage}` | {} | `{}` |", form.meaning, form.example);
        }
    }
    out.push('\n');
}
