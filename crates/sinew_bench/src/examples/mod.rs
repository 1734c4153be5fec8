//! Example-based animation compared with the methods of Hansen (2006): tables 9.6 to 9.8, the walk of appendix F, the
//! energy plots of appendix B. `docs/examples.md` reports which results agree.

mod cases;
mod plots;
mod speed;
mod table;
mod walk;

/// Print tables and write plots: `examples [table] [walk] [speed] [plots]`, all of them unless some are named.
pub fn run(parts: &[String]) -> anyhow::Result<()> {
    let all = ["table", "walk", "speed", "plots"];
    if let Some(other) = parts.iter().find(|part| !all.contains(&part.as_str())) {
        anyhow::bail!("the bench of examples has no part {other:?}; it has {}", all.join(", "));
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|p| p == part);
    if wants("table") {
        table::print(&table::rows()?);
    }
    if wants("walk") {
        walk::run()?;
    }
    if wants("speed") {
        speed::run()?;
    }
    if wants("plots") {
        plots::write(std::path::Path::new("target/bench/examples"))?;
    }
    Ok(())
}
