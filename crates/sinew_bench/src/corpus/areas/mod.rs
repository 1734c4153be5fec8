//! Areas: each plans its rows and judges one at a time.

mod fit;
mod flesh;
mod host;
mod open;
mod pose;
mod puppet;
mod refit;
mod rig;
mod walk;

use super::{Random, find::Item, lab::Lab, row::Verdict};

/// A capability that is tested.
pub struct Area {
    pub name: &'static str,
    /// Its rows.
    pub plan: for<'a> fn(&'a [Item], &mut Random) -> Vec<Task<'a>>,
    /// Run the product and measure what it wrote.
    pub judge: fn(&Task, &Lab) -> anyhow::Result<Verdict>,
    /// Words in a warning of the product that report the damage this area measures.
    pub damage_words: &'static [&'static str],
}

/// A planned row.
pub struct Task<'a> {
    /// Name of the row: the file, or `clip → rig`.
    pub file: String,
    pub items: Vec<&'a Item>,
}

impl<'a> Task<'a> {
    /// A row about one file.
    pub fn of(item: &'a Item) -> Self {
        Self { file: item.label.clone(), items: vec![item] }
    }

    /// A row about a motion on a character.
    pub fn pair(motion: &'a Item, target: &'a Item) -> Self {
        Self { file: format!("{} → {}", motion.label, target.label), items: vec![motion, target] }
    }
}

macro_rules! area {
    ($module:ident) => {
        Area {
            name: stringify!($module),
            plan: $module::plan,
            judge: $module::judge,
            damage_words: $module::DAMAGE_WORDS,
        }
    };
}

/// All areas, in the order of their rows.
pub const AREAS: [Area; 9] = [
    area!(open),
    area!(host),
    area!(rig),
    area!(pose),
    area!(walk),
    area!(fit),
    area!(refit),
    area!(puppet),
    area!(flesh),
];
