//! Example-based animation beside the methods of the thesis (H19): tables 9.6 to 9.8, the walk of appendix F, the
//! energy plots of appendix B. `docs/examples.md` says what agrees with the thesis and what does not.

mod cases;
mod plots;
mod speed;
mod table;
mod walk;

/// Print all tables and write all plots.
pub fn run() -> anyhow::Result<()> {
    table::print(&table::rows()?);
    walk::run()?;
    speed::run()?;
    plots::write(std::path::Path::new("target/bench/examples"))
}
