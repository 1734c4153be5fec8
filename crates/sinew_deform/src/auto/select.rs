//! Which protrusions become limbs beside those found by remoteness, and limbs of one side carried to the other.

use super::{
    component::Component,
    limbs::{Limb, MIN_BODY_SHARE, TWO_SEGMENT_LENGTH},
    mirror::Mirror,
    protrusions::{Protrusion, find_protrusions},
    regions::{Fields, find_piece},
};
use std::ops::ControlFlow;

/// Share of the smaller of two regions up to which they only touch, and without which one still holds the other.
const OVERLAP_TOLERANCE: f64 = 0.02;

/// Share of what carries it that a limb on a limb may have: a finger is a limb, half of a head is not.
const MAX_CARRIER_SHARE: f64 = 0.2;

/// Share of a region above which a limb in it is the same limb, found shorter.
const SAME_LIMB_SHARE: f64 = 0.4;

/// Factor by which the area of a protrusion must be larger to replace the same limb.
const REPLACEMENT_AREA_RATIO: f64 = 1.2;

/// Share of a region that must be left once limbs on it are removed: of a head with ears, not of a shoulder.
const MIN_OWN_SHARE: f64 = 0.65;

/// Share of two regions together that both must cover to be a limb and its twin.
const MIN_TWIN_OVERLAP: f64 = 0.3;

/// Vertices of a limb.
struct Region {
    inside: Vec<bool>,
    area: f64,
}

impl Region {
    fn new(part: &Component, inside: Vec<bool>) -> Self {
        let area = part.vertex_areas.iter().zip(&inside).map(|(a, &x)| if x { *a } else { 0.0 }).sum();
        Self { inside, area }
    }

    fn of_limb(part: &Component, fields: &Fields, limb: &Limb) -> Self {
        let mut inside = vec![false; part.mesh.n_vertices()];
        if let Some(slice) = limb.slices.first() {
            let piece = find_piece(part, fields.of(&slice.cut), &slice.cut);
            piece.into_iter().for_each(|v| inside[v as usize] = true);
        }
        Self::new(part, inside)
    }

    fn shared(&self, part: &Component, other: &Self) -> f64 {
        let both = self.inside.iter().zip(&other.inside).map(|(&a, &b)| a && b);
        part.vertex_areas.iter().zip(both).map(|(a, x)| if x { *a } else { 0.0 }).sum()
    }
}

/// How a region lies to one that is already a limb.
enum Relation {
    Apart,
    Within,
    Around,
    /// It is that limb, found shorter and to be replaced.
    Better,
    Clash,
}

fn relate(part: &Component, new: &Region, limb: &Limb, old: &Region) -> Relation {
    let shared = new.shared(part, old);
    let same = shared >= (1.0 - SAME_LIMB_SHARE) * old.area && old.area >= SAME_LIMB_SHARE * new.area;
    if shared <= OVERLAP_TOLERANCE * new.area.min(old.area) {
        Relation::Apart
    } else if same {
        // Limbs of several segments are long enough for remoteness to see where they end.
        let stubby = !limb.is_from_tip() && limb.slenderness() < TWO_SEGMENT_LENGTH;
        if stubby && new.area > REPLACEMENT_AREA_RATIO * old.area {
            Relation::Better
        } else {
            Relation::Clash
        }
    } else if shared >= (1.0 - OVERLAP_TOLERANCE) * new.area && new.area <= MAX_CARRIER_SHARE * old.area {
        Relation::Within
    } else if shared >= (1.0 - OVERLAP_TOLERANCE) * old.area {
        Relation::Around
    } else {
        Relation::Clash
    }
}

/// Add the protrusions of at least a given area that agree with the limbs there are and leave a body. `None` if
/// `progress` asks to stop.
pub(super) fn add_protrusions(
    part: &Component,
    fields: &mut Fields,
    least_area: f64,
    limbs: &mut Vec<Limb>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<()> {
    let (protrusions, tip_fields) = find_protrusions(part, &fields.0[0], least_area, progress)?;
    let mut regions: Vec<Region> = limbs.iter().map(|limb| Region::of_limb(part, fields, limb)).collect();
    let mut number = vec![None; tip_fields.len()];
    for Protrusion { mut limb, field, inside } in protrusions {
        let region = Region::new(part, inside);
        let Some(replaced) = fits(part, &region, limbs, &regions) else { continue };
        let field = *number[field].get_or_insert_with(|| {
            fields.0.push(tip_fields[field].clone());
            fields.0.len() - 1
        });
        limb.slices.iter_mut().for_each(|slice| slice.cut.field = field);
        match replaced {
            Some(k) => (limbs[k], regions[k]) = (limb, region),
            None => {
                limbs.push(limb);
                regions.push(region);
            }
        }
    }
    Some(())
}

/// Whether a region may become a limb, and instead of which.
fn fits(part: &Component, region: &Region, limbs: &[Limb], regions: &[Region]) -> Option<Option<usize>> {
    let mut replaced = None;
    let mut own = region.inside.clone();
    let mut others = region.inside.clone();
    for (k, old) in regions.iter().enumerate() {
        match relate(part, region, &limbs[k], old) {
            Relation::Clash => return None,
            Relation::Better if replaced.is_some() => return None,
            Relation::Better => {
                replaced = Some(k);
                continue;
            }
            Relation::Around => own.iter_mut().zip(&old.inside).for_each(|(own, &x)| *own &= !x),
            Relation::Apart | Relation::Within => {}
        }
        others.iter_mut().zip(&old.inside).for_each(|(any, &x)| *any |= x);
    }
    let own = Region::new(part, own).area;
    let body = part.area - Region::new(part, others).area;
    (own >= MIN_OWN_SHARE * region.area && body >= MIN_BODY_SHARE * part.area).then_some(replaced)
}

/// Give limbs beside the plane of symmetry the mirror image of their twin, or a twin.
pub(super) fn make_even(part: &Component, fields: &mut Fields, mirror: &Mirror, limbs: &mut Vec<Limb>) {
    let mut regions: Vec<Region> = limbs.iter().map(|limb| Region::of_limb(part, fields, limb)).collect();
    let mut order: Vec<usize> = (0..limbs.len()).collect();
    order.sort_by(|&a, &b| regions[b].area.total_cmp(&regions[a].area));
    let mut done = vec![false; limbs.len()];
    for k in order {
        if std::mem::replace(&mut done[k], true) {
            continue;
        }
        let n = part.mesh.n_vertices() as u32;
        let image = Region::new(part, (0..n).map(|v| regions[k].inside[mirror.image(v) as usize]).collect());
        let alike = |other: usize| {
            let shared = image.shared(part, &regions[other]);
            shared / (image.area + regions[other].area - shared).max(f64::MIN_POSITIVE)
        };
        if alike(k) >= MIN_TWIN_OVERLAP {
            continue;
        }
        let twin =
            (0..done.len()).filter(|&other| !done[other]).max_by(|&a, &b| alike(a).total_cmp(&alike(b)));
        let twin = twin.filter(|&other| alike(other) >= MIN_TWIN_OVERLAP);
        match twin {
            Some(other) => {
                limbs[other] = reflect(&limbs[k], fields, mirror);
                regions[other] = image;
                done[other] = true;
            }
            None if fits(part, &image, limbs, &regions) == Some(None) => {
                limbs.push(reflect(&limbs[k], fields, mirror));
                regions.push(image);
                done.push(true);
            }
            None => {}
        }
    }
}

fn reflect(limb: &Limb, fields: &mut Fields, mirror: &Mirror) -> Limb {
    let mut limb = limb.clone();
    let Some(field) = limb.slices.first().map(|slice| slice.cut.field) else { return limb };
    // Remoteness is symmetric already.
    let image = if field == 0 {
        0
    } else {
        fields.0.push(mirror.pull(&fields.0[field]));
        fields.0.len() - 1
    };
    for slice in &mut limb.slices {
        slice.cut.field = image;
        slice.cut.peak = mirror.image(slice.cut.peak);
        slice.strip.center = mirror.reflect(slice.strip.center);
    }
    limb
}
