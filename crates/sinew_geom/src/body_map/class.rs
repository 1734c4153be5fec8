//! Plans of bodies.

/// The plan of a body: how it stands and what limbs it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodyClass {
    /// Upright on two legs, with arms: people, robots, apes.
    Biped,
    /// On four legs.
    Quadruped,
    /// On two legs under a body along the ground: theropods, kangaroos.
    HorizontalBiped,
    /// Two legs and two wings.
    Bird,
    /// Three or more pairs of legs: insects, spiders, crabs.
    Arthropod,
    /// A chain from head to tail, with or without fins: fish, snakes, worms.
    Swimmer,
    /// Arms all around a body.
    Octopus,
    /// No known plan: a tree of limbs.
    Tree,
}

impl BodyClass {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Biped,
        Self::Quadruped,
        Self::HorizontalBiped,
        Self::Bird,
        Self::Arthropod,
        Self::Swimmer,
        Self::Octopus,
        Self::Tree,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        ["biped", "quadruped", "horizontal-biped", "bird", "insect", "fish", "octopus", "tree"][self as usize]
    }

    /// Class of a name; `spider` and `snake` are accepted as well.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "spider" | "crab" => Some(Self::Arthropod),
            "snake" => Some(Self::Swimmer),
            _ => Self::ALL.into_iter().find(|class| class.name() == name),
        }
    }

    /// The words for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::Biped => "biped",
            Self::Quadruped => "quadruped",
            Self::HorizontalBiped => "two-legged body along the ground",
            Self::Bird => "bird",
            Self::Arthropod => "insect or spider",
            Self::Swimmer => "fish or snake",
            Self::Octopus => "octopus",
            Self::Tree => "tree of limbs of no known kind",
        }
    }
}
