//! Sinew beside its peers: the same work in the same run, the ratio, and what the machine could do at best.
//!
//! `cargo run --release -p sinew_bench -- deform|edits|examples|fit|flesh|frames|load|puppet|refit|rig|rules|skin|solve`

mod adaptive;
mod deform;
mod examples;
mod fit;
mod flesh;
mod load;
mod measure;
mod puppet;
mod refit;
mod rig;
mod rules;
mod scenes;
mod skin;
mod solve;
mod transfer;

fn main() -> anyhow::Result<()> {
    let areas: Vec<String> = std::env::args().skip(1).collect();
    anyhow::ensure!(
        !areas.is_empty(),
        "usage: sinew_bench deform|edits|examples|fit|flesh|frames|load|puppet|refit|rig|rules|skin|solve …"
    );
    // These take options of their own.
    let options = &areas[1..];
    match areas[0].as_str() {
        "examples" => return examples::run(options),
        "fit" => return fit::run(options),
        "flesh" => return flesh::run(options),
        "puppet" => return puppet::run(options),
        "refit" => return refit::run(options),
        "rig" => return rig::run(options),
        "rules" => return rules::run(options),
        _ => {}
    }
    for area in &areas {
        match area.as_str() {
            "deform" => deform::run()?,
            "edits" => deform::standard_edits()?,
            "frames" => deform::frames()?,
            "load" => load::run()?,
            "skin" => skin::run()?,
            "solve" => solve::run()?,
            other => {
                anyhow::bail!(
                    "there is no bench {other:?}; there are deform, edits, examples, fit, flesh, frames, load, puppet, refit, rig, rules, skin and solve"
                )
            }
        }
    }
    Ok(())
}
