//! Everything a line can express. The parser, the formatter and the reference page all follow this table.

/// What a number measures: powers of metre, radian and second.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Dimension {
    pub length: i8,
    pub angle: i8,
    pub time: i8,
    /// Counted in frames of a clip instead of seconds.
    pub is_frames: bool,
    /// Factor by which the written number was multiplied; not part of what it measures.
    pub scale: f64,
}

impl PartialEq for Dimension {
    fn eq(&self, other: &Self) -> bool {
        let powers = |d: &Self| (d.length, d.angle, d.time, d.is_frames);
        powers(self) == powers(other)
    }
}

impl Dimension {
    /// A mere number.
    pub const NUMBER: Self = Self { length: 0, angle: 0, time: 0, is_frames: false, scale: 1.0 };
    /// Metres.
    pub const LENGTH: Self = Self { length: 1, ..Self::NUMBER };
    /// Radians.
    pub const ANGLE: Self = Self { angle: 1, ..Self::NUMBER };
}

/// A unit: its name, how many metres, radians or seconds it is, and of what.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Unit {
    pub name: &'static str,
    pub factor: f64,
    pub dimension: Dimension,
}

const SECOND: Dimension = Dimension { time: 1, ..Dimension::NUMBER };

/// All units. `m/s`, `cm/s`, `deg/s`, `m/s2` and so on are made of them.
pub const UNITS: &[Unit] = &[
    Unit { name: "cm", factor: 0.01, dimension: Dimension::LENGTH },
    Unit { name: "m", factor: 1.0, dimension: Dimension::LENGTH },
    Unit { name: "mm", factor: 0.001, dimension: Dimension::LENGTH },
    Unit { name: "deg", factor: std::f64::consts::PI / 180.0, dimension: Dimension::ANGLE },
    Unit { name: "rad", factor: 1.0, dimension: Dimension::ANGLE },
    Unit { name: "s", factor: 1.0, dimension: SECOND },
    Unit { name: "s2", factor: 1.0, dimension: Dimension { time: 2, ..Dimension::NUMBER } },
    Unit { name: "frames", factor: 1.0, dimension: Dimension { is_frames: true, ..Dimension::NUMBER } },
    Unit { name: "frame", factor: 1.0, dimension: Dimension { is_frames: true, ..Dimension::NUMBER } },
];

pub(crate) fn find_unit(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.name == name)
}

/// A place in a form.
#[derive(Debug, Clone, Copy)]
pub enum FormPart {
    /// This word or sign.
    Word(&'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An operand: a name, a call, or an expression in parentheses. Its kind is given in capitals.
    Item(&'static str),
    /// An expression, which may be a sum or an arrow.
    Expression(&'static str),
    /// Operands with commas between.
    List(&'static str),
    /// `=`, `<=` or `>=`.
    Relation,
    /// A number that may have a relation before it; without one it is `>=`.
    Bound(&'static str),
    /// `LOW .. HIGH` with a unit.
    Range,
    /// A name that the line defines.
    Name,
    /// Text in quotes.
    Text,
    /// Some of `tx ty tz rx ry rz`.
    Kinds,
    /// All of these or none.
    Optional(&'static [FormPart]),
}

/// Identifies a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FormId {
    Use,
    Free,
    Lock,
    Point,
    Vector,
    Number,
    Plane,
    Line,
    Case,
    Pin,
    PutOn,
    PutSide,
    PutBehind,
    Above,
    Below,
    Aim,
    Parallel,
    Perpendicular,
    Distance,
    Ratio,
    Angle,
    Bend,
    Midpoint,
    Halfway,
    Flat,
    Look,
    Mirror,
    Over,
    Clear,
    Range,
    Keep,
    Hold,
    Limit,
    Maximize,
    Minimize,
    Equation,
}

/// One way to write a line.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Form {
    pub id: FormId,
    pub parts: &'static [FormPart],
    pub meaning: &'static str,
    pub example: &'static str,
}

/// A word that begins a line, with all its forms.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Verb {
    /// Empty for the free equation, which has no verb.
    pub name: &'static str,
    /// Whether it constrains the pose, rather than defining a name.
    pub is_rule: bool,
    pub forms: &'static [Form],
}

use FormPart::{Bound, Expression, Item, Kinds, List, Name, OneOf, Optional, Range, Relation, Text, Word};

macro_rules! form {
    ($id:ident, [$($part:expr),*], $meaning:literal, $example:literal) => {
        Form { id: FormId::$id, parts: &[$($part),*], meaning: $meaning, example: $example }
    };
}

macro_rules! verb {
    ($name:literal, $is_rule:literal, $($form:expr),+) => {
        Verb { name: $name, is_rule: $is_rule, forms: &[$($form),+] }
    };
}

/// All verbs.
#[rustfmt::skip]
pub static VERBS: &[Verb] = &[
    verb!("use", false, form!(Use, [Word("skeleton"), Text],
        "the skeleton file these rules were written for; used if the command names none", r#"use skeleton "skeleton.json""#)),
    verb!("free", false, form!(Free, [Item("JOINT"), Word(":"), Kinds],
        "degrees of freedom of the joint, replacing those it had; new ones have no range without a `range` line", "free Root: tx ty tz rx ry rz")),
    verb!("lock", false, form!(Lock, [Item("JOINT")],
        "the joint does not move", "lock Spine")),
    verb!("point", false, form!(Point, [Name, Word("="), Expression("POINT")],
        "a name for a point", "point ankles = mid(AnkleL, AnkleR)")),
    verb!("vector", false, form!(Vector, [Name, Word("="), Expression("DIRECTION")],
        "a name for a direction or a difference of points", "vector forward = FloorMarker1 -> FloorMarker2")),
    verb!("number", false, form!(Number, [Name, Word("="), Expression("NUMBER")],
        "a name for a number, a length or an angle", "number step = 40 cm")),
    verb!("plane", false, form!(Plane, [Name, Word("="), Word("through"), Item("POINT"), Word("normal"), Expression("DIRECTION")],
        "a plane; its normal points up, out of the solid side", "plane Floor = through StepMarker normal FloorNormal1 -> FloorNormal2")),
    verb!("line", false, form!(Line, [Name, Word("="), Word("through"), Item("POINT"), Word("along"), Expression("DIRECTION")],
        "an infinite line", "line Rail = through BoxMarker1 along BoxMarker1 -> BoxMarker2")),
    verb!("case", false, form!(Case, [],
        "begins a group: an optional number and why these rules are there", r#"case 1 "right foot on the step""#)),

    verb!("pin", true, form!(Pin, [Item("POINT"), Word("to"), Expression("POINT")],
        "the first point is at the second", "pin FootR to StepMarker")),
    verb!("put", true,
        form!(PutOn, [Item("POINT"), Word("on"), Item("PLANE-OR-LINE")],
            "the point lies in the plane, on the line, or on the ground, which is called `Ground`", "put FootL on Floor"),
        form!(PutSide, [Item("POINT"), OneOf(&["above", "below"]), Item("PLANE"), Optional(&[Word("by"), Bound("LENGTH")])],
            "the point is on that side of the plane or of `Ground`, by at least this length (0 by default)", "put WristL above Floor by >= 60 cm"),
        form!(PutBehind, [Item("POINT"), OneOf(&["behind", "beyond"]), Item("POINT"), Optional(&[Word("by"), Bound("LENGTH")]), Word("toward"), Expression("POINT-OR-DIRECTION")],
            "seen in that direction, the first point is behind (beyond) the second by at least this length",
            "put FootL behind FootR by >= 10 cm toward FloorMarker2")),
    verb!("above", true, form!(Above, [List("POINTS"), Item("PLANE")],
        "all these points are above the plane", "above toes(L), toes(R) Floor always")),
    verb!("below", true, form!(Below, [List("POINTS"), Item("PLANE")],
        "all these points are below the plane", "below WristL, WristR Ceiling")),
    verb!("aim", true, form!(Aim, [Expression("DIRECTION"), Word("along"), Expression("DIRECTION")],
        "the first direction equals the second, sign included", "aim FootR -> MiddleToeR along FloorMarker1 -> FloorMarker2")),
    verb!("parallel", true, form!(Parallel, [Expression("DIRECTION"), Word("with"), Expression("DIRECTION")],
        "the directions are parallel or opposite", "parallel ShoulderL -> ShoulderR with HipL -> HipR")),
    verb!("perpendicular", true, form!(Perpendicular, [Expression("DIRECTION"), Word("to"), Expression("DIRECTION")],
        "the directions are at a right angle", "perpendicular Root -> Spine to AnkleL -> AnkleR")),
    verb!("distance", true, form!(Distance, [Item("POINT"), Item("POINT"), Relation, Expression("LENGTH")],
        "distance between the points: equal, at most or at least", "distance WristL WristR = distance BoxMarker1 BoxMarker2")),
    verb!("ratio", true, form!(Ratio, [Item("POINT"), Item("POINT"), Word("to"), Item("POINT"), Item("POINT"), Relation, Expression("NUMBER")],
        "the first distance divided by the second", "ratio FootL FootR to HipL HipR = 2")),
    verb!("angle", true,
        form!(Bend, [Item("POINT"), Item("POINT"), Item("POINT"), Relation, Expression("ANGLE")],
            "the angle at the middle point", "angle ShoulderL ElbowL WristL >= 60 deg"),
        form!(Angle, [Expression("DIRECTION"), Word("and"), Expression("DIRECTION"), Relation, Expression("ANGLE")],
            "the angle between the directions", "angle Root -> Spine and FloorNormal1 -> FloorNormal2 <= 30 deg")),
    verb!("midpoint", true, form!(Midpoint, [Item("POINT"), Word("of"), Item("POINT"), Item("POINT")],
        "the first point is the middle of the other two", "midpoint Root of AnkleL AnkleR")),
    verb!("halfway", true, form!(Halfway, [Item("POINT"), Word("between"), Item("POINT"), Item("POINT")],
        "the first point is as far from the second as from the third", "halfway Root between AnkleL AnkleR")),
    verb!("flat", true, form!(Flat, [Item("JOINT"), Word("on"), Item("PLANE")],
        "the joint's sole lies along the plane: what points up at rest points along the normal", "flat FootL on Floor")),
    verb!("look", true, form!(Look, [Item("JOINT"), Word("at"), Expression("POINT")],
        "the joint faces the point: what points forward (+Z) at rest points there", "look Head at BoxMarker1")),
    verb!("mirror", true, form!(Mirror, [Item("POINT"), Word("with"), Item("POINT"), Word("across"), Item("PLANE")],
        "the points are mirror images", "mirror WristL with WristR across Middle")),
    verb!("over", true, form!(Over, [Item("POINT"), List("POINTS"), Optional(&[Word("by"), Bound("LENGTH")])],
        "seen from above, the first point lies within the polygon of the others, by this distance from its border",
        "over centre() FootL, MiddleToeL, MiddleToeR, FootR")),
    verb!("clear", true, form!(Clear, [Item("POINT"), Item("POINT"), Word("from"), Item("POINT"), Item("POINT"), Word("by"), Bound("LENGTH")],
        "the two segments keep this distance", "clear ElbowL WristL from Root Chest by >= 12 cm")),
    verb!("range", true, form!(Range, [Item("FREEDOM"), Word("in"), Range],
        "the degree of freedom stays within these limits", "range KneeR.rx in 0 .. 150 deg")),
    verb!("keep", true, form!(Keep, [Item("pose, JOINT or FREEDOM")],
        "stay near the starting pose; `weight` is the stiffness, 1 by default", "keep pose weight 0.01")),
    verb!("hold", true, form!(Hold, [Item("POINT")],
        "in a clip: the point may be anywhere, but must not move", "hold FootR during 12 .. 34 fade 4")),
    verb!("limit", true, form!(Limit, [OneOf(&["velocity", "acceleration"]), Item("POINT"), Relation, Expression("SPEED")],
        "in a clip: limit of the speed or acceleration of the point", "limit acceleration(Root) <= 12 m/s2")),
    verb!("maximize", true, form!(Maximize, [Expression("NUMBER")],
        "the number is as large as the other rules allow", "maximize HeadTop.y priority 2")),
    verb!("minimize", true, form!(Minimize, [Expression("NUMBER")],
        "the number is as small as the other rules allow", "minimize distance(WristL, WristR) priority 2")),
    verb!("", true, form!(Equation, [Expression("EXPRESSION"), Relation, Expression("EXPRESSION")],
        "any equation or inequality between numbers, or between points", "dot(Root - ankles, AnkleL - AnkleR) = 0")),
];

/// What may follow a rule.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Suffix {
    pub name: &'static str,
    pub argument: &'static str,
    pub meaning: &'static str,
}

/// All suffixes.
#[rustfmt::skip]
pub const SUFFIXES: &[Suffix] = &[
    Suffix { name: "weight", argument: "NUMBER", meaning: "weight of the rule against others that conflict with it; 1 by default" },
    Suffix { name: "soft", argument: "LENGTH-OR-ANGLE", meaning: "tolerance: may be missed by about this much to stay nearer to the starting pose" },
    Suffix { name: "priority", argument: "1, 2, …", meaning: "never at the cost of a rule with a smaller number; 1 by default" },
    Suffix { name: "during", argument: "FRAME .. FRAME", meaning: "only in these frames of a clip" },
    Suffix { name: "fade", argument: "FRAMES", meaning: "fades in and out over this many frames" },
    Suffix { name: "when", argument: "contact(JOINT)", meaning: "only while the joint touches the ground" },
    Suffix { name: "always", argument: "", meaning: "in all frames, which is the default" },
];

/// A function in expressions.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Function {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    pub meaning: &'static str,
}

/// All functions.
#[rustfmt::skip]
pub const FUNCTIONS: &[Function] = &[
    Function { name: "distance", arguments: &["POINT", "POINT"], meaning: "distance between two points; also `distance A B`" },
    Function { name: "length", arguments: &["VECTOR"], meaning: "length of a vector" },
    Function { name: "dot", arguments: &["VECTOR", "VECTOR"], meaning: "scalar product" },
    Function { name: "cross", arguments: &["VECTOR", "VECTOR"], meaning: "vector product" },
    Function { name: "normalize", arguments: &["VECTOR"], meaning: "the same direction with length 1" },
    Function { name: "mid", arguments: &["POINT", "POINT"], meaning: "the point half-way between" },
    Function { name: "angle", arguments: &["VECTOR", "VECTOR"], meaning: "the angle between two directions, 0 to 180 deg" },
    Function { name: "up", arguments: &["JOINT"], meaning: "direction fixed to the joint that points up (+Y) at rest" },
    Function { name: "forward", arguments: &["JOINT"], meaning: "direction fixed to the joint that points forward (+Z) at rest" },
    Function { name: "left", arguments: &["JOINT"], meaning: "direction fixed to the joint that points to its left (+X) at rest" },
    Function { name: "centre", arguments: &[], meaning: "centre of the body: bones weighted by their length" },
    Function { name: "toes", arguments: &["L or R"], meaning: "all joints of that side with `toe` in their name, in lists of points" },
    Function { name: "sqrt", arguments: &["NUMBER"], meaning: "square root" },
    Function { name: "abs", arguments: &["NUMBER"], meaning: "absolute value" },
    Function { name: "sin", arguments: &["ANGLE"], meaning: "sine" },
    Function { name: "cos", arguments: &["ANGLE"], meaning: "cosine" },
    Function { name: "tan", arguments: &["ANGLE"], meaning: "tangent" },
    Function { name: "atan2", arguments: &["NUMBER", "NUMBER"], meaning: "angle of a point (second, first) from the x axis" },
    Function { name: "x", arguments: &["VECTOR"], meaning: "coordinate; also `Head.x`" },
    Function { name: "y", arguments: &["VECTOR"], meaning: "coordinate; also `Head.y`" },
    Function { name: "z", arguments: &["VECTOR"], meaning: "coordinate; also `Head.z`" },
];

pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}
