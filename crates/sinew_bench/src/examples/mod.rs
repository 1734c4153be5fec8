//! Example-based animation beside the methods of the thesis (H19).

mod cases;
mod table;

/// Print all tables.
pub fn run() -> anyhow::Result<()> {
    table::print(&table::rows()?);
    Ok(())
}
