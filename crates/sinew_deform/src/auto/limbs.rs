//! Which arcs of the tree are limbs, and where each limb ends at the body.
//!
//! # Source
//! Sinew's own. A limb may widen towards the body, but not quickly: its base is where `g − 2 s` is smallest, that is,
//! where the level sets behind it begin to widen faster than a slender cone. How limb-like a part is, is measured by
//! `A / g²`: half a ball has 0.16, a finger more than 1. A cut must be a single loop; otherwise it surrounds something
//! that is not a limb.
//! # Symbols
//! `g` girth of a cut; `s` its distance from the tip; `A` area beyond it, without limbs found further out
//! # Cost
//! Linear in the number of strips.

use super::{
    profile::Strip,
    regions::Cut,
    tree::{Arc, Tree},
};

/// Share of the surface that the body must have once the limbs are removed.
pub(super) const MIN_BODY_SHARE: f64 = 0.15;

/// Length in girths above which a limb has two segments unless the user asks for a number.
pub(super) const TWO_SEGMENT_LENGTH: f64 = 0.6;

/// Least `A / g²` of a limb that ends in a tip.
const MIN_STRETCH: f64 = 0.24;

/// The same for what carries several limbs: a chest with a head and two arms is not a limb, a hand with fingers is.
const MIN_FORK_STRETCH: f64 = 0.6;

/// Girth a limb may gain per length towards the body: a cone of 18° to each side.
const MAX_WIDENING: f64 = 2.0;

/// Share of all area beyond which nothing is a limb: the level sets there close around the middle of the body.
const MAX_AREA_SHARE: f64 = 0.55;

/// Share of a limb's area above which what it meets is not just a bump on it, as a heel is on a leg.
const MIN_COMPARABLE_SHARE: f64 = 0.5;

/// Share of a level set that its longest loop must have to be the end of a limb.
const MIN_LOOP_SHARE: f64 = 0.8;

/// A limb, or the rest of it once smaller limbs on it are removed.
#[derive(Debug, Clone)]
pub(super) struct Limb {
    /// Places to cut, from the base to the tip. Each lies at the nearer side of its strip.
    pub slices: Vec<Slice>,
    /// `A / g²`.
    pub stretch: f64,
    /// Area without limbs found further out.
    pub area: f64,
}

/// A strip of a limb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub strip: Strip,
    pub cut: Cut,
    /// `A`.
    own: f64,
}

impl Limb {
    /// A limb from its strips and cuts, the tip first.
    pub fn new(slices: &[(Strip, Cut)], stretch: f64) -> Self {
        let slice = |&(strip, cut): &(Strip, Cut)| Slice { strip, cut, own: cut.above };
        let area = slices.last().map_or(0.0, |(_, cut)| cut.above);
        Self { slices: slices.iter().rev().map(slice).collect(), stretch, area }
    }

    /// From the base to the tip, along the surface.
    pub fn length(&self) -> f64 {
        self.slices.iter().map(|slice| slice.strip.width()).sum()
    }

    /// Girth where half of the limb is thicker.
    pub fn girth(&self) -> f64 {
        let mut girths: Vec<f64> = self.slices.iter().map(|slice| slice.strip.girth).collect();
        girths.sort_by(f64::total_cmp);
        girths.get(girths.len() / 2).copied().unwrap_or(0.0)
    }

    /// Length in girths.
    pub fn slenderness(&self) -> f64 {
        let usual = self.length() / self.girth().max(f64::MIN_POSITIVE);
        // Half of the girths around a tip are those of its cap, which are short: a head would seem slender.
        if self.is_from_tip() { usual.min(self.stretch) } else { usual }
    }

    /// Whether it is measured by the distance from its tip, rather than by remoteness.
    pub fn is_from_tip(&self) -> bool {
        self.slices.first().is_some_and(|slice| slice.cut.field != 0)
    }

    /// Area with limbs found further out.
    pub fn above(&self) -> f64 {
        self.slices.first().map_or(0.0, |slice| slice.cut.above)
    }

    /// Drop slices next to the body until at most `share` of the area is left.
    pub fn shorten(&mut self, share: f64) {
        let most = share * self.area;
        let excess = self.slices.iter().take_while(|slice| slice.own > most).count();
        self.slices.drain(..excess.min(self.slices.len().saturating_sub(1)));
        self.area = self.slices.first().map_or(0.0, |slice| slice.own);
    }
}

/// Slices from some tip to the current level.
#[derive(Default, Clone)]
struct Chain {
    slices: Vec<Slice>,
    is_fork: bool,
    /// Area of limbs already removed.
    taken: f64,
}

/// All limbs of at least a given area.
pub(super) fn find_limbs(tree: &Tree, profiles: &[Vec<Strip>], total: f64, least_area: f64) -> Vec<Limb> {
    let bounds = [least_area, MAX_AREA_SHARE * total];
    let mut limbs = Vec::new();
    let mut chains: Vec<Chain> = Vec::with_capacity(tree.arcs.len());
    let mut areas = vec![0.0; tree.arcs.len()];
    for (index, (arc, strips)) in tree.arcs.iter().zip(profiles).enumerate() {
        let mut chain = begin(arc, &mut chains, &areas, bounds, &mut limbs);
        let mut above: f64 = arc.children.iter().map(|&child| areas[child]).sum();
        for &strip in strips {
            above += strip.area;
            let cut = Cut { field: 0, peak: arc.peak, level: strip.level, girth: strip.girth, above };
            chain.slices.push(Slice { strip, cut, own: above - chain.taken });
        }
        areas[index] = above;
        chains.push(chain);
    }
    // Only the last arc has no parent; what is left of its chain may be a limb as well.
    if let Some(chain) = chains.last() {
        limbs.extend(best_limb(chain, bounds));
    }
    limbs
}

/// The chain an arc continues: its only limb-like child, or a new one where several limbs meet.
fn begin(arc: &Arc, chains: &mut [Chain], areas: &[f64], bounds: [f64; 2], limbs: &mut Vec<Limb>) -> Chain {
    let found: Vec<Option<Limb>> =
        arc.children.iter().map(|&child| best_limb(&chains[child], bounds)).collect();
    let taken: f64 = arc.children.iter().map(|&child| chains[child].taken).sum();
    // A limb that meets something of its own size has come to the body or to another limb.
    let whole: f64 = arc.children.iter().map(|&child| areas[child]).sum();
    let meets_large = |(limb, &child): (&Option<Limb>, &usize)| {
        limb.as_ref().is_some_and(|limb| whole - areas[child] > MIN_COMPARABLE_SHARE * limb.area)
    };
    if found.iter().zip(&arc.children).any(meets_large) || found.iter().flatten().count() >= 2 {
        let mut all = 0.0;
        for (limb, &child) in found.into_iter().zip(&arc.children) {
            all += limb.as_ref().map_or(chains[child].taken, |limb| limb.slices[0].cut.above);
            limbs.extend(limb);
        }
        return Chain { slices: Vec::new(), is_fork: true, taken: all };
    }
    let limb_like =
        (arc.children.iter().zip(&found)).find(|(_, limb)| limb.is_some()).map(|(&child, _)| child);
    let largest = || arc.children.iter().copied().max_by(|&a, &b| areas[a].total_cmp(&areas[b]));
    let main = limb_like.or_else(largest).map(|child| std::mem::take(&mut chains[child]));
    Chain { taken, ..main.unwrap_or_default() }
}

/// The best cut of a chain, if what lies beyond it is a limb.
fn best_limb(chain: &Chain, [least, most]: [f64; 2]) -> Option<Limb> {
    let mut s = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (at, slice) in chain.slices.iter().enumerate() {
        s += slice.strip.width();
        let cost = slice.strip.girth - MAX_WIDENING * s;
        let is_loop = slice.strip.girth > 0.0 && slice.strip.main_share >= MIN_LOOP_SHARE;
        let possible = is_loop && slice.own >= least && slice.cut.above <= most;
        if possible && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, at));
        }
    }
    let (at, best) = best.map(|(_, at)| (at, &chain.slices[at]))?;
    let stretch = best.own / best.strip.girth.powi(2);
    let least_stretch = if chain.is_fork { MIN_FORK_STRETCH } else { MIN_STRETCH };
    (stretch >= least_stretch).then(|| Limb {
        slices: chain.slices[..=at].iter().rev().copied().collect(),
        stretch,
        area: best.own,
    })
}
