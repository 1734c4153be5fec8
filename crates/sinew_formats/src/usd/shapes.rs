//! Blend shapes of a mesh and their weights over time.
//!
//! # Source
//! OpenUSD, *UsdSkelBlendShape*: between the weights of its in-betweens, a shape is interpolated linearly; beyond the last ones it
//! goes on as before. glTF has no in-betweens, so each is a target of its own, and where a weight passes one, a key is added.

use super::mesh::{Targets, fault};
use super::stage::{MeshPlace, Stage};
use super::value::{Prim, Property, Value};
use crate::Fault;
use sinew_geom::Warnings;

/// A shape as the weights at which its targets are reached, rising; one of them is zero, where no target is shown.
struct Shape {
    name: String,
    stops: Vec<(f64, Option<usize>)>,
}

impl Shape {
    /// Set the weights of its targets for its own weight.
    fn show(&self, weight: f64, row: &mut [f32]) {
        let last = self.stops.len() - 1;
        let after = self.stops.partition_point(|(stop, _)| *stop <= weight).clamp(1, last);
        let ((low, from), (high, to)) = (self.stops[after - 1], self.stops[after]);
        let share = (weight - low) / (high - low);
        for (target, value) in [(from, 1.0 - share), (to, share)] {
            target.into_iter().for_each(|target| row[target] += value as f32);
        }
    }

    /// When its weight passes a stop on the way between two keys.
    fn passes(&self, [(start, a), (end, b)]: [(f64, f64); 2], times: &mut Vec<f64>) {
        for (stop, _) in &self.stops {
            let share = (stop - a) / (b - a);
            if share > 1e-6 && share < 1.0 - 1e-6 {
                times.push(start + (end - start) * share);
            }
        }
    }
}

impl Stage<'_> {
    /// The blend shapes of a mesh of `n` vertices.
    ///
    /// # Errors
    /// If one moves a vertex that does not exist.
    pub fn blend_shapes(
        &mut self,
        place: &MeshPlace,
        n: usize,
        warnings: &mut Warnings,
    ) -> Result<Targets, Fault> {
        let prim = place.prim;
        let mut targets = Targets::default();
        let mut shapes = Vec::new();
        let names = prim.value("skel:blendShapes").map(Value::texts).unwrap_or_default();
        let paths = prim.properties.get("skel:blendShapeTargets").and_then(|p| p.targets.as_deref());
        for (name, path) in names.iter().zip(paths.unwrap_or_default()) {
            match self.root.find(path) {
                Some(shape) => shapes.push(self.shape(prim, name, shape, n, &mut targets)?),
                None => warnings.push(format!("{}: there is no blend shape {path}; left out", prim.path)),
            }
        }
        targets.weights = vec![0.0; targets.names.len()];
        let of_skeleton =
            place.skeleton.as_deref().and_then(|path| self.skeletons.get(path)?.animation.clone());
        let source = of_skeleton.or_else(|| place.animation.clone()).and_then(|path| self.root.find(&path));
        if let Some(source) = source.filter(|_| !shapes.is_empty()) {
            set_weights(source, &shapes, &mut targets);
        }
        Ok(targets)
    }

    fn shape(
        &mut self,
        prim: &Prim,
        name: &str,
        shape: &Prim,
        n: usize,
        targets: &mut Targets,
    ) -> Result<Shape, Fault> {
        let chosen = shape.value("pointIndices").map(Value::numbers).unwrap_or_default();
        let mut add = |name: String, offsets: &[f64]| -> Result<usize, Fault> {
            let mut all = vec![0.0; 3 * n];
            for (at, offset) in offsets.as_chunks::<3>().0.iter().enumerate() {
                let vertex =
                    if chosen.is_empty() { at as f64 } else { chosen.get(at).copied().unwrap_or(-1.0) };
                if !(vertex >= 0.0 && vertex < n as f64) {
                    return Err(fault(
                        prim,
                        format!("{} moves vertex {vertex}, but there are {n}", shape.path),
                    ));
                }
                all[3 * vertex as usize..][..3].copy_from_slice(&offset.map(|x| x as f32));
            }
            targets.accessors.push(self.scene.floats(&all, "VEC3", 3));
            targets.names.push(name);
            Ok(targets.names.len() - 1)
        };
        let mut stops = vec![(0.0, None)];
        let offsets = shape.value("offsets").map(Value::numbers).unwrap_or_default();
        stops.push((1.0, Some(add(name.to_owned(), offsets)?)));
        for (own, property) in &shape.properties {
            let between = own.strip_prefix("inbetweens:").filter(|between| !between.contains(':'));
            let (Some(between), Some(weight)) = (between, property.weight) else { continue };
            // Zero and one are the shape itself, as it is and as it is not.
            if stops.iter().any(|(stop, _)| *stop == weight) || !weight.is_finite() {
                continue;
            }
            let offsets = property.first().map(Value::numbers).unwrap_or_default();
            stops.push((weight, Some(add(format!("{name}:{between}"), offsets)?)));
        }
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Shape { name: name.to_owned(), stops })
    }
}

/// Take weights over from an animation.
fn set_weights(source: &Prim, shapes: &[Shape], targets: &mut Targets) {
    let shown = source.value("blendShapes").map(Value::texts).unwrap_or_default();
    let Some(weights) = source.properties.get("blendShapeWeights") else { return };
    let column = |shape: &Shape| shown.iter().position(|name| *name == shape.name);
    let weight = |value: &Value, column: Option<usize>| {
        column
            .and_then(|column| value.numbers().get(column).copied())
            .filter(|x| x.is_finite())
            .unwrap_or(0.0)
    };
    let row = |value: &Value| {
        let mut row = vec![0.0; targets.names.len()];
        shapes.iter().for_each(|shape| shape.show(weight(value, column(shape)), &mut row));
        row
    };
    if let Some(value) = weights.first() {
        targets.weights = row(value);
    }
    let mut times: Vec<f64> = weights.samples.iter().map(|(time, _)| *time).collect();
    for pair in weights.samples.windows(2) {
        for shape in shapes {
            let at = column(shape);
            let key = |(time, value): &(f64, Value)| (*time, weight(value, at));
            shape.passes([key(&pair[0]), key(&pair[1])], &mut times);
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let rows =
        times.iter().filter_map(|&time| Property::at(weights, time)).flat_map(|value| row(&value)).collect();
    (targets.times, targets.values) = (times, rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_betweens_are_passed() {
        let shape = Shape { name: "smile".into(), stops: vec![(0.0, None), (0.5, Some(1)), (1.0, Some(0))] };
        let shown = |weight| {
            let mut row = [0.0; 2];
            shape.show(weight, &mut row);
            row
        };
        assert_eq!(shown(0.0), [0.0, 0.0]);
        assert_eq!(shown(0.25), [0.0, 0.5]);
        assert_eq!(shown(0.5), [0.0, 1.0]);
        assert_eq!(shown(0.75), [0.5, 0.5]);
        assert_eq!(shown(1.5), [2.0, -1.0], "beyond the last stop it goes on as before");
        assert_eq!(shown(-0.5), [0.0, -1.0]);
        let mut times = Vec::new();
        shape.passes([(10.0, 0.0), (20.0, 1.0)], &mut times);
        assert_eq!(times, [15.0]);
    }
}
