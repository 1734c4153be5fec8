//! The objective of a search: seven terms, each with a factor.
//!
//! # Source
//! Hansen (2006), §7.4, eqs. 7.1–7.8, with the constants of table 7.2. Distances are measured in [`PoseSpace::unit`].
//! Differs: eq. 7.6 is undefined where all weights are zero; there it counts as zero, because no example is in use.
//!
//! [`PoseSpace::unit`]: super::PoseSpace::unit

use crate::DeformError;
use std::{fmt, mem::discriminant, str::FromStr};

/// A term of the objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// `target` (`dtt`, eq. 7.1): how far handles are from their targets.
    DistanceToTarget,
    /// `few-examples` (`neu`, eq. 7.2): number of examples in use beyond a free number.
    ExamplesUsed {
        /// How many may be in use at no cost.
        free: usize,
    },
    /// `last-pose` (`dtl`, eq. 7.3): how far handles are from where they were in the last frame.
    DistanceToLast,
    /// `small-weights` (`sow`, eq. 7.4): sum of the weights.
    SumOfWeights,
    /// `sum-to-one` (`omsow`, eq. 7.5): how far the weights are from summing to 1.
    OneMinusSum,
    /// `single-example` (`now`, eq. 7.6): one weight of 1 is better than two of a half.
    NumberOfWeights,
    /// `like-examples` (`dfe`, eq. 7.8): how much the pose differs from the examples.
    DifferenceFromExamples,
}

/// A weight above this is in use (`ε` of eq. 7.2).
pub(super) const MIN_USED_WEIGHT: f64 = 0.01;
/// Width of the Gaussian of eq. 7.7 (`ρ`), in units.
pub(super) const GAUSSIAN_WIDTH: f64 = 1.0;
/// Examples that may be in use at no cost by default.
const DEFAULT_FREE_EXAMPLES: usize = 4;

impl Term {
    /// All terms, in the order of Hansen (2006).
    pub const ALL: [Self; 7] = [
        Self::DistanceToTarget,
        Self::ExamplesUsed { free: DEFAULT_FREE_EXAMPLES },
        Self::DistanceToLast,
        Self::SumOfWeights,
        Self::OneMinusSum,
        Self::NumberOfWeights,
        Self::DifferenceFromExamples,
    ];

    /// Name in the text of an objective.
    pub fn name(self) -> &'static str {
        match self {
            Self::DistanceToTarget => "target",
            Self::ExamplesUsed { .. } => "few-examples",
            Self::DistanceToLast => "last-pose",
            Self::SumOfWeights => "small-weights",
            Self::OneMinusSum => "sum-to-one",
            Self::NumberOfWeights => "single-example",
            Self::DifferenceFromExamples => "like-examples",
        }
    }

    /// Abbreviation of Hansen (2006), which can be written instead of the name.
    pub fn abbreviation(self) -> &'static str {
        match self {
            Self::DistanceToTarget => "dtt",
            Self::ExamplesUsed { .. } => "neu",
            Self::DistanceToLast => "dtl",
            Self::SumOfWeights => "sow",
            Self::OneMinusSum => "omsow",
            Self::NumberOfWeights => "now",
            Self::DifferenceFromExamples => "dfe",
        }
    }

    /// The term of a name or an abbreviation, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let matches = |term: &Self| {
            term.name().eq_ignore_ascii_case(name) || term.abbreviation().eq_ignore_ascii_case(name)
        };
        Self::ALL.into_iter().find(matches)
    }

    /// What it does, for users.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::DistanceToTarget => "reach the targets",
            Self::ExamplesUsed { .. } => "use few examples",
            Self::DistanceToLast => "stay near the last pose",
            Self::SumOfWeights => "keep weights small",
            Self::OneMinusSum => "let weights sum to 1",
            Self::NumberOfWeights => "prefer one example to two",
            Self::DifferenceFromExamples => "look like an example",
        }
    }

    /// `k` of table 7.2.
    pub fn default_factor(self) -> f64 {
        match self {
            Self::DistanceToTarget => 1.0,
            Self::OneMinusSum | Self::DifferenceFromExamples => 0.2,
            _ => 0.1,
        }
    }
}

/// A sum of terms. As text: `target + 0.2 sum-to-one + 0.3 like-examples`, or with the abbreviations of Hansen (2006)
/// `dtt+0.2omsow+0.3dfe`; a term without a number has the constant of table 7.2, and `few-examples(3)` allows three
/// examples at no cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    terms: Vec<(Term, f64)>,
}

/// The objective with which Hansen (2006) times his optimisers (table 9.6): reach the targets, weights sum to 1.
impl Default for Objective {
    fn default() -> Self {
        Self::new(
            [Term::DistanceToTarget, Term::OneMinusSum].map(|term| (term, term.default_factor())).to_vec(),
        )
    }
}

impl Objective {
    /// A sum of terms; of a term that is named twice the factors are added. Without a distance to targets there
    /// would be nothing to reach, so it is always there.
    pub fn new(terms: Vec<(Term, f64)>) -> Self {
        let mut kept: Vec<(Term, f64)> = Vec::new();
        for (term, factor) in terms {
            match kept.iter_mut().find(|(other, _)| discriminant(other) == discriminant(&term)) {
                Some(same) => *same = (term, same.1 + factor),
                None => kept.push((term, factor)),
            }
        }
        if !kept.iter().any(|(term, _)| *term == Term::DistanceToTarget) {
            kept.insert(0, (Term::DistanceToTarget, 1.0));
        }
        Self { terms: kept }
    }

    /// The objective for motion (table 9.8): handles should also move little from one frame to the next.
    pub fn for_motion() -> Self {
        let terms = [Term::DistanceToTarget, Term::OneMinusSum, Term::DistanceToLast];
        Self::new(terms.map(|term| (term, term.default_factor())).to_vec())
    }

    /// Its terms with their factors.
    pub fn terms(&self) -> &[(Term, f64)] {
        &self.terms
    }

    /// Factor of a kind of term; 0 if it is not there.
    pub(super) fn factor(&self, kind: Term) -> f64 {
        let is_same = |(term, _): &&(Term, f64)| discriminant(term) == discriminant(&kind);
        self.terms.iter().find(is_same).map_or(0.0, |(_, factor)| *factor)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (term, factor)) in self.terms.iter().enumerate() {
            let plus = if at > 0 { " + " } else { "" };
            let number = if *factor == 1.0 { String::new() } else { format!("{factor} ") };
            write!(f, "{plus}{number}{}", term.name())?;
            if let Term::ExamplesUsed { free } = term {
                write!(f, "({free})")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Objective {
    type Err = DeformError;

    fn from_str(text: &str) -> Result<Self, DeformError> {
        let terms =
            text.split('+').map(|part| parse_term(part.trim(), text)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(terms))
    }
}

fn parse_term(part: &str, text: &str) -> Result<(Term, f64), DeformError> {
    let refuse = |cause: String| DeformError::Setting { what: "objective", cause };
    // An exponent would be read as the beginning of a name, and is not needed here.
    let split = part.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(part.len());
    let (number, name) = part.split_at(split);
    let number = number.trim().trim_end_matches('*').trim();
    let (name, argument) = match name.split_once('(') {
        Some((name, rest)) => {
            let inner = rest.trim_end().strip_suffix(')');
            (name.trim(), Some(inner.ok_or_else(|| refuse(format!("a ) is missing in {text:?}")))?))
        }
        None => (name.trim(), None),
    };
    let known = || Term::ALL.map(|term| format!("{} ({})", term.name(), term.abbreviation())).join(", ");
    let mut term = Term::from_name(name)
        .ok_or_else(|| refuse(format!("there is no term {name:?} in {text:?}; there are: {}", known())))?;
    match (&mut term, argument) {
        (_, None) => {}
        (Term::ExamplesUsed { free }, Some(argument)) => {
            *free = argument.trim().parse().map_err(|_| {
                refuse(format!("{argument:?} is not a number of examples; write it as few-examples(3)"))
            })?;
        }
        (_, Some(_)) => {
            return Err(refuse(format!("only few-examples takes a number in brackets, not {name}")));
        }
    }
    let factor = match number {
        "" => term.default_factor(),
        _ => number.parse().map_err(|_| refuse(format!("{number:?} is not a number in {text:?}")))?,
    };
    if !(0.0..=1e6).contains(&factor) {
        return Err(refuse(format!("{factor} of {name} is not within 0 and 1000000")));
    }
    Ok((term, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_and_written() {
        let objective: Objective = "dtt + 0.2OMSoW+0.3*dfe +neu(3)".parse().unwrap();
        assert_eq!(
            objective.to_string(),
            "target + 0.2 sum-to-one + 0.3 like-examples + 0.1 few-examples(3)"
        );
        assert_eq!(objective.to_string().parse::<Objective>().unwrap(), objective);
        assert_eq!(Objective::default().to_string(), "target + 0.2 sum-to-one");
        // The distance to targets is always there, and a term named twice is one term.
        assert_eq!("sow+0.5sow".parse::<Objective>().unwrap().to_string(), "target + 0.6 small-weights");
    }

    #[test]
    fn wrong_text_says_what_is_wrong() {
        let cases = [
            ("", "there is no term"),
            ("dtt+", "there is no term"),
            ("dtt+foo", "\"foo\""),
            ("xdtt", "\"xdtt\""),
            ("0.2.1dtt", "not a number"),
            ("dtt-0.2sow", "no term"),
            ("dtt+neu(x)", "few-examples(3)"),
            ("dtt+neu(3", "is missing"),
            ("dtt(2)", "only few-examples"),
            ("-1dtt", "not within"),
            ("99999999dtt", "not within"),
            ("target - 0.2 sum-to-one", "no term"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
