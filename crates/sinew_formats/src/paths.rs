//! `paths.json`: where handles should go over time, and the ground below.
//!
//! ```json
//! {"walk": {"line": [[0, 0], [0, 4]], "feet": ["foot.L", "foot.R"], "stride": 0.6, "seconds": 1.2},
//!  "paths": [{"handle": "hand.L", "points": [[0.3, 1.2, 0.4], [0.3, 1.5, 0.4]], "seconds": 2, "pin": true}],
//!  "ground": {"hills": {"height": 0.3, "length": 3}}}
//! ```
//! Positions are in metres, those of `line` on the ground as x and z. A path has `times`, or `seconds` that are
//! distributed by length. `carries` marks paths of which one at a time carries the body: the feet. `keyframes` blends
//! from one of the `examples` to the next in `seconds` each.

mod read;

use crate::{Fault, FormatError, json::read_json, text::file_error};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_geom::{
    GeomError,
    path::{Ground, HeightField, Path, Walk},
};

const SHAPE: &str = r#"expected {"paths":[{"handle":"hand.L","points":[[0.3,1.2,0.4],[0.3,1.5,0.4]],"seconds":2}]} or {"walk":{"line":[[0,0],[0,4]],"feet":["foot.L","foot.R"]}}"#;

/// Content of a file of paths.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathFile {
    /// Handles with their paths.
    pub paths: Vec<HandlePath>,
    /// A walk along a line, by two feet.
    pub walk: Option<WalkData>,
    /// The path of the body, if it should face along it.
    pub way: Option<Path>,
    /// The ground below.
    pub ground: Option<Ground>,
    /// Examples one after another.
    pub keyframes: Option<KeyframesData>,
}

/// A handle and where it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlePath {
    /// Its name.
    pub handle: String,
    /// Where it should be over time.
    pub path: Path,
    /// Whether it must be there.
    pub is_pinned: bool,
    /// Whether it may carry the body.
    pub carries: bool,
}

/// A file of paths as it is written, before it is checked: what documents store and users edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Paths", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct PathsData {
    /// Handles with their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub paths: Vec<PathData>,
    /// A walk along a line, by two feet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<WalkData>,
    /// The path of the body, if it should face along it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<WayData>,
    /// The ground below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<GroundData>,
    /// Examples one after another, instead of paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyframes: Option<KeyframesData>,
}

/// A handle and the points it goes through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "HandlePath", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct PathData {
    /// Its name.
    pub handle: String,
    /// Points in order.
    pub points: Vec<[f64; 3]>,
    /// Time of each point, in seconds; by length if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    /// Total duration, without times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether the handle must be there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub pin: bool,
    /// Whether it may carry the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub carries: bool,
}

/// The path of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Way", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct WayData {
    /// Points in order.
    pub points: Vec<[f64; 3]>,
    /// Time of each point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    /// Total duration, without times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A walk along a line on the ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Walk", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct WalkData {
    /// Points x, z.
    pub line: Vec<[f64; 2]>,
    /// Names of the left and the right foot.
    pub feet: [String; 2],
    /// Distance between two footprints of the same foot; in proportion to the body if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<f64>,
    /// Time between two footprints of the same foot.
    #[serde(default = "default_secs")]
    pub seconds: f64,
    /// How high a foot is lifted; in proportion to the body if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<f64>,
    /// Share of the time that a foot is planted.
    #[serde(default = "default_stance")]
    pub stance: f64,
}

/// Of the height of a body: a stride, and how high a foot is lifted.
const STRIDE: f64 = 0.35;
const LIFT: f64 = 0.035;

impl WalkData {
    /// The walk of a body of some height.
    pub fn build(&self, height: f64) -> Walk {
        Walk {
            line: self.line.clone(),
            stride: self.stride.unwrap_or(STRIDE * height),
            secs: self.seconds,
            lift: self.lift.unwrap_or(LIFT * height),
            stance: self.stance,
        }
    }
}

fn default_secs() -> f64 {
    1.2
}
fn default_stance() -> f64 {
    0.5
}

/// Ground in its serial form, see [`Ground`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Ground"))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum GroundData {
    Flat(f64),
    Slope(f64),
    Steps {
        rise: f64,
        run: f64,
        #[serde(default)]
        start: f64,
        count: usize,
    },
    Hills {
        height: f64,
        length: f64,
    },
    Field {
        #[serde(default)]
        origin: [f64; 2],
        cell: f64,
        heights: Vec<Vec<f64>>,
    },
}

/// Examples one after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Keyframes"))]
#[serde(deny_unknown_fields)]
pub struct KeyframesData {
    /// Their names.
    pub examples: Vec<String>,
    /// Seconds from one to the next.
    #[serde(default = "default_key_secs")]
    pub seconds: f64,
}

fn default_key_secs() -> f64 {
    0.5
}

impl GroundData {
    /// The ground it describes.
    ///
    /// # Errors
    /// If its numbers are invalid.
    pub fn build(&self) -> Result<Ground, GeomError> {
        let ground = match self.clone() {
            Self::Flat(height) => Ground::Flat(height),
            Self::Slope(degrees) => Ground::Slope(degrees),
            Self::Steps { rise, run, start, count } => Ground::Steps { rise, run, start, count },
            Self::Hills { height, length } => Ground::Hills { height, length },
            Self::Field { origin, cell, heights } => Ground::Field(HeightField::new(origin, cell, heights)?),
        };
        ground.check().map(|()| ground)
    }
}

impl From<&Ground> for GroundData {
    fn from(ground: &Ground) -> Self {
        match ground {
            Ground::Flat(height) => Self::Flat(*height),
            Ground::Slope(degrees) => Self::Slope(*degrees),
            &Ground::Steps { rise, run, start, count } => Self::Steps { rise, run, start, count },
            &Ground::Hills { height, length } => Self::Hills { height, length },
            Ground::Field(field) => {
                Self::Field { origin: field.origin(), cell: field.cell(), heights: field.rows().to_vec() }
            }
        }
    }
}

impl PathData {
    /// The path through its points.
    ///
    /// # Errors
    /// If its points or times are invalid.
    pub fn build(&self) -> Result<Path, GeomError> {
        build(&self.points, self.times.clone(), self.seconds)
    }
}

/// Duration of a path that does not give one.
const DEFAULT_SECS: f64 = 2.0;

/// Read paths. Whether the handles exist is not checked here.
///
/// # Errors
/// All faults with their JSON paths: unknown keys, and invalid paths, walks or grounds.
pub fn read_paths(bytes: &[u8], name: &str) -> Result<PathFile, FormatError> {
    read_json(bytes, name, (SHAPE, "correct it there"), read::read_data)?.build(name)
}

impl PathsData {
    /// Check it. Whether handles and examples exist is not checked here. `name` is for messages.
    ///
    /// # Errors
    /// All faults with their JSON paths: invalid paths, walks or grounds; or if there is nothing to follow.
    pub fn build(&self, name: &str) -> Result<PathFile, FormatError> {
        let mut faults = Vec::new();
        let mut report = |place: String, error: &GeomError| {
            faults.push(Fault::json(place, error.to_string()).with_remedy("correct it there"));
        };
        let mut file = PathFile::default();
        for (at, raw) in self.paths.iter().enumerate() {
            let (handle, is_pinned, carries) = (raw.handle.clone(), raw.pin, raw.carries);
            match raw.build() {
                Ok(path) => file.paths.push(HandlePath { handle, path, is_pinned, carries }),
                Err(error) => report(format!("/paths/{at}"), &error),
            }
        }
        if let Some(raw) = &self.way {
            match build(&raw.points, raw.times.clone(), raw.seconds) {
                Ok(path) => file.way = Some(path),
                Err(error) => report("/way".into(), &error),
            }
        }
        file.walk.clone_from(&self.walk);
        match self.ground.as_ref().map(GroundData::build) {
            Some(Ok(ground)) => file.ground = Some(ground),
            Some(Err(error)) => report("/ground".into(), &error),
            None => {}
        }
        file.keyframes = self.keyframes.clone();
        if !faults.is_empty() {
            return Err(FormatError::faults(name, faults));
        }
        if file.paths.is_empty() && file.walk.is_none() && file.keyframes.is_none() {
            return Err(file_error(name, "there is neither a path nor a walk in it", SHAPE));
        }
        Ok(file)
    }
}

/// Bytes of a file of paths.
pub fn write_paths(data: &PathsData) -> Vec<u8> {
    serde_json::to_vec_pretty(data).unwrap_or_default()
}

/// Read a ground alone: `{"ground": …}` as in a file of paths, whose other entries may be missing.
///
/// # Errors
/// All faults with their JSON paths.
pub fn read_ground(bytes: &[u8], name: &str) -> Result<Ground, FormatError> {
    const SHAPE: &str =
        r#"expected {"ground":{"field":{"origin":[0,0],"cell":0.5,"heights":[[0,0.1],[0,0.2]]}}}"#;
    let data = read_json(bytes, name, (SHAPE, "correct it there"), read::read_data)?;
    let raw = data.ground.ok_or_else(|| file_error(name, "there is no `ground` in it", SHAPE))?;
    raw.build().map_err(|error| {
        let fault = Fault::json("/ground", error.to_string()).with_remedy("correct it there");
        FormatError::faults(name, vec![fault])
    })
}

fn build(points: &[[f64; 3]], times: Option<Vec<f64>>, secs: Option<f64>) -> Result<Path, GeomError> {
    let points: Vec<DVec3> = points.iter().map(|p| DVec3::from_array(*p)).collect();
    match times {
        Some(times) => Path::new(points, times),
        None => Path::with_duration(points, secs.unwrap_or(DEFAULT_SECS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_walks_and_grounds_are_read() {
        let text = r#"{"walk":{"line":[[0,0],[0,4]],"feet":["a","b"],"stride":0.5},
            "paths":[{"handle":"hand","points":[[0,1,0],[0,2,0]],"times":[0,3],"pin":true},
                     {"handle":"head","points":[[0,1,0]]}],
            "ground":{"steps":{"rise":0.1,"run":0.3,"count":4}}}"#;
        let file = read_paths(text.as_bytes(), "p.json").unwrap();
        assert_eq!(file.paths[0].path.span(), [0.0, 3.0]);
        assert!(file.paths[0].is_pinned && !file.paths[1].is_pinned);
        let data = file.walk.unwrap();
        let walk = data.build(10.0);
        assert_eq!((walk.stride, walk.secs, data.feet[1].as_str()), (0.5, 1.2, "b"));
        // What is not said follows from the body.
        assert!((walk.lift - 0.35).abs() < 1e-12);
        assert_eq!(file.ground.unwrap().height(0.0, 0.4), 0.2);
        for ground in [
            r#"{"flat":1}"#,
            r#"{"slope":10}"#,
            r#"{"hills":{"height":1,"length":2}}"#,
            r#"{"field":{"cell":1,"heights":[[1,2]]}}"#,
        ] {
            let text = format!(r#"{{"walk":{{"line":[[0,0],[0,1]],"feet":["a","b"]}},"ground":{ground}}}"#);
            assert!(read_paths(text.as_bytes(), "p.json").is_ok(), "{text}");
        }
    }

    #[test]
    fn a_ground_can_stand_alone() {
        let text = br#"{"ground":{"field":{"cell":1,"heights":[[0,1],[0,1]]}}}"#;
        let ground = read_ground(text, "g.json").unwrap();
        assert_eq!(ground.height(0.5, 0.0), 0.5);
        assert_eq!(GroundData::from(&ground).build().unwrap(), ground);
        for (text, expected) in
            [("", "is empty"), ("{}", "no `ground`"), (r#"{"ground":{"slope":80}}"#, "/ground")]
        {
            let error = read_ground(text.as_bytes(), "g.json").unwrap_err().to_string();
            assert!(error.contains("g.json") && error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn faults_are_reported_with_their_place() {
        let cases = [
            ("", "is empty"),
            ("{}", "neither a path nor a walk"),
            ("[1]", "expected an object"),
            (r#"{"paths":[{"handle":"a","points":[]}]}"#, "/paths/0"),
            (r#"{"paths":[{"handle":"a","points":[[0,0,0],[1,0,0]],"times":[1,0]}]}"#, "times must rise"),
            (r#"{"paths":[{"handle":"a","points":[[0,0,0]],"seconds":-1}]}"#, "above 0"),
            (r#"{"paths":[{"handle":"a"}]}"#, "points"),
            (r#"{"path":[]}"#, "did you mean \"paths\"?"),
            (
                r#"{"paths":[{"handle":"a","points":[[0,0,0]]}],"ground":{"hills":{"height":1,"length":0}}}"#,
                "/ground",
            ),
            (r#"{"paths":[{"handle":"a","points":[[0,0,1e999]]}]}"#, "out of range"),
        ];
        for (text, expected) in cases {
            let error = read_paths(text.as_bytes(), "p.json").unwrap_err().to_string();
            assert!(error.contains("p.json") && error.contains(expected), "{text}: {error}");
        }
    }
}
