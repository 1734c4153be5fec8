//! Values of expressions: numbers with dimensions, points and vectors, planes and lines.

use super::arrow::Arrow;
use crate::{language::Dimension, symbolic::Expr};
use sinew_geom::path::PlacedGround;
use std::sync::Arc;

/// A number, a length, an angle, …
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar {
    pub expr: Expr,
    /// `None` for a bare number, which takes the unit of its context.
    pub dimension: Option<Dimension>,
    pub shape: Shape,
}

/// Forms of scalars by which equations are recognised; operands are indices of arrows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Other,
    Length(usize),
    Dot(usize, usize),
}

/// A point or a vector.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    pub body: VectorBody,
    /// `None` for bare coordinates.
    pub dimension: Option<Dimension>,
    /// 1 for a point, 0 for a vector, `None` for bare coordinates, which are either.
    pub points: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) enum VectorBody {
    Arrow(Arrow),
    Any([Expr; 3]),
}

/// A plane, or a line with its direction.
#[derive(Debug, Clone)]
pub(crate) struct Flat {
    pub through: Vector,
    pub direction: Vector,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Scalar(Scalar),
    Vector(Vector),
    Plane(Flat),
    Line(Flat),
    Ground(Arc<PlacedGround>),
    /// Several points, in lists.
    Points(Vec<Vector>),
}

/// What points may be above or below.
#[derive(Debug, Clone)]
pub(crate) enum Solid {
    Flat(Flat),
    Ground(Arc<PlacedGround>),
}

impl Value {
    /// Its kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(scalar) => scalar.dimension.map_or("a number", |d| d.describe()),
            Self::Vector(vector) if vector.is_point() && vector.points.is_some() => "a point",
            Self::Vector(vector) if vector.points.is_none() => "a triple of numbers",
            Self::Vector(_) => "a vector",
            Self::Plane(_) => "a plane",
            Self::Line(_) => "a line",
            Self::Ground(_) => "the ground",
            Self::Points(_) => "a list of points",
        }
    }
}

impl Vector {
    pub fn point(arrow: Arrow) -> Self {
        Self { body: VectorBody::Arrow(arrow), dimension: Some(Dimension::LENGTH), points: Some(1.0) }
    }

    /// A direction of unit length.
    pub fn direction(arrow: Arrow) -> Self {
        Self { body: VectorBody::Arrow(arrow), dimension: Some(Dimension::NUMBER), points: Some(0.0) }
    }

    pub fn is_point(&self) -> bool {
        self.points.is_none_or(|points| (points - 1.0).abs() < 1e-9)
    }

    pub fn is_vector(&self) -> bool {
        self.points.is_none_or(|points| points.abs() < 1e-9)
    }
}

impl Dimension {
    /// Factor of a bare number of this dimension: centimetres and degrees.
    pub(crate) fn bare_factor(self) -> f64 {
        0.01f64.powi(i32::from(self.length)) * 1f64.to_radians().powi(i32::from(self.angle))
    }

    pub(crate) fn times(self, other: Self, sign: i8) -> Self {
        Self {
            length: self.length.saturating_add(sign * other.length),
            angle: self.angle.saturating_add(sign * other.angle),
            time: self.time.saturating_add(sign * other.time),
            is_frames: self.is_frames || other.is_frames,
            scale: 1.0,
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match (self.length, self.angle, self.time, self.is_frames) {
            (0, 0, 0, false) => "a number",
            (1, 0, 0, false) => "a length",
            (2, 0, 0, false) => "an area",
            (3, 0, 0, false) => "a volume",
            (0, 1, 0, false) => "an angle",
            (0, 0, 1, false) => "a time",
            (1, 0, -1, false) => "a speed",
            (1, 0, -2, false) => "an acceleration",
            (0, 0, 0, true) => "a number of frames",
            _ => "a quantity of another unit",
        }
    }
}
