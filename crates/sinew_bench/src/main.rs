//! Sinew beside its peers: the same work in the same run, the ratio, and what the machine could do at best.
//!
//! `cargo run --release -p sinew_bench -- deform|edits|examples|fit|flesh|frames|load|puppet|refit|rules|skin|solve`

mod deform;
mod examples;
mod fit;
mod flesh;
mod load;
mod measure;
mod puppet;
mod refit;
mod rules;
mod skin;
mod solve;

fn main() -> anyhow::Result<()> {
    let areas: Vec<String> = std::env::args().skip(1).collect();
    anyhow::ensure!(
        !areas.is_empty(),
        "usage: sinew_bench deform|edits|examples|fit|flesh|frames|load|puppet|refit|rules|skin|solve …"
    );
    // These take options of their own.
    if areas[0] == "fit" {
        return fit::run(&areas[1..]);
    }
    if areas[0] == "flesh" {
        return flesh::run(&areas[1..]);
    }
    if areas[0] == "refit" {
        return refit::run(&areas[1..]);
    }
    if areas[0] == "rules" {
        return rules::run(&areas[1..]);
    }
    for area in &areas {
        match area.as_str() {
            "deform" => deform::run()?,
            "edits" => deform::standard_edits()?,
            "examples" => examples::run()?,
            "frames" => deform::frames()?,
            "load" => load::run()?,
            "puppet" => puppet::run()?,
            "skin" => skin::run()?,
            "solve" => solve::run()?,
            other => {
                anyhow::bail!(
                    "there is no bench {other:?}; there are deform, edits, examples, fit, flesh, frames, load, puppet, refit, rules, skin and solve"
                )
            }
        }
    }
    Ok(())
}
