//! `paths.json`: where handles should go over time, and the ground below.
//!
//! ```json
//! {"walk": {"line": [[0, 0], [0, 4]], "feet": ["foot.L", "foot.R"], "stride": 0.6, "seconds": 1.2},
//!  "paths": [{"handle": "hand.L", "points": [[0.3, 1.2, 0.4], [0.3, 1.5, 0.4]], "seconds": 2, "pin": true}],
//!  "ground": {"hills": {"height": 0.3, "length": 3}}}
//! ```
//! Places are in metres, those of `line` on the ground as x and z. A path has `times`, or `seconds` that are shared out
//! by length. `carries` marks paths of which one at a time holds the body: the feet.

use crate::{Fault, FormatError, Place, text::whole, text::without_mark};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_geom::{
    GeomError,
    path::{Ground, HeightField, Path, Walk},
};

const SHAPE: &str = r#"expected {"paths":[{"handle":"hand.L","points":[[0.3,1.2,0.4],[0.3,1.5,0.4]],"seconds":2}]} or {"walk":{"line":[[0,0],[0,4]],"feet":["foot.L","foot.R"]}}"#;

/// What a file of paths says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathFile {
    /// Handles with their paths.
    pub paths: Vec<HandlePath>,
    /// A walk along a line, by two feet.
    pub walk: Option<(Walk, [String; 2])>,
    /// Where the body goes, if it is to look along it.
    pub way: Option<Path>,
    /// What it stands on.
    pub ground: Option<Ground>,
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

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Root {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<RawPath>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    walk: Option<RawWalk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    way: Option<RawWay>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ground: Option<RawGround>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPath {
    handle: String,
    points: Vec<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pin: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    carries: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWay {
    points: Vec<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWalk {
    line: Vec<[f64; 2]>,
    feet: [String; 2],
    #[serde(default = "default_stride")]
    stride: f64,
    #[serde(default = "default_secs")]
    seconds: f64,
    #[serde(default = "default_lift")]
    lift: f64,
    #[serde(default = "default_stance")]
    stance: f64,
}

fn default_stride() -> f64 {
    0.6
}
fn default_secs() -> f64 {
    1.2
}
fn default_lift() -> f64 {
    0.06
}
fn default_stance() -> f64 {
    0.5
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawGround {
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

/// Time that a path takes which says nothing about it.
const DEFAULT_SECS: f64 = 2.0;

/// Read paths. Whether the handles exist is not known here.
///
/// # Errors
/// If it is no such file, or a path, walk or ground makes no sense: told with its place.
pub fn read_paths(bytes: &[u8], name: &str) -> Result<PathFile, FormatError> {
    let text = without_mark(bytes);
    if text.trim_ascii().is_empty() {
        return Err(whole(name, "the file is empty", SHAPE));
    }
    let root: Root = serde_json::from_slice(text).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        FormatError::faults(name, vec![fault.with_remedy(SHAPE)])
    })?;
    let mut faults = Vec::new();
    let mut told = |place: String, error: &GeomError| {
        faults.push(Fault::json(place, error.to_string()).with_remedy("correct it there"));
    };
    let mut file = PathFile::default();
    for (at, raw) in root.paths.into_iter().enumerate() {
        match build(&raw.points, raw.times, raw.seconds) {
            Ok(path) => file.paths.push(HandlePath {
                handle: raw.handle,
                path,
                is_pinned: raw.pin,
                carries: raw.carries,
            }),
            Err(error) => told(format!("/paths/{at}"), &error),
        }
    }
    if let Some(raw) = root.way {
        match build(&raw.points, raw.times, raw.seconds) {
            Ok(path) => file.way = Some(path),
            Err(error) => told("/way".into(), &error),
        }
    }
    if let Some(raw) = root.walk {
        let RawWalk { line, feet, stride, seconds, lift, stance } = raw;
        file.walk = Some((Walk { line, stride, secs: seconds, lift, stance }, feet));
    }
    if let Some(raw) = root.ground {
        match build_ground(raw) {
            Ok(ground) => file.ground = Some(ground),
            Err(error) => told("/ground".into(), &error),
        }
    }
    if !faults.is_empty() {
        return Err(FormatError::faults(name, faults));
    }
    if file.paths.is_empty() && file.walk.is_none() {
        return Err(whole(name, "there is neither a path nor a walk in it", SHAPE));
    }
    Ok(file)
}

fn build_ground(raw: RawGround) -> Result<Ground, GeomError> {
    let ground = match raw {
        RawGround::Flat(height) => Ground::Flat(height),
        RawGround::Slope(degrees) => Ground::Slope(degrees),
        RawGround::Steps { rise, run, start, count } => Ground::Steps { rise, run, start, count },
        RawGround::Hills { height, length } => Ground::Hills { height, length },
        RawGround::Field { origin, cell, heights } => Ground::Field(HeightField::new(origin, cell, heights)?),
    };
    ground.check().map(|()| ground)
}

/// Read a ground alone: `{"ground": …}` as in a file of paths, whose other entries may be missing.
///
/// # Errors
/// If it is no such file, or the ground makes no sense.
pub fn read_ground(bytes: &[u8], name: &str) -> Result<Ground, FormatError> {
    const SHAPE: &str =
        r#"expected {"ground":{"field":{"origin":[0,0],"cell":0.5,"heights":[[0,0.1],[0,0.2]]}}}"#;
    let root: Root = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        FormatError::faults(name, vec![fault.with_remedy(SHAPE)])
    })?;
    let raw = root.ground.ok_or_else(|| whole(name, "there is no `ground` in it", SHAPE))?;
    build_ground(raw).map_err(|error| {
        FormatError::faults(
            name,
            vec![Fault::json("/ground", error.to_string()).with_remedy("correct it there")],
        )
    })
}

fn build(points: &[[f64; 3]], times: Option<Vec<f64>>, secs: Option<f64>) -> Result<Path, GeomError> {
    let points: Vec<DVec3> = points.iter().map(|p| DVec3::from_array(*p)).collect();
    match times {
        Some(times) => Path::new(points, times),
        None => Path::over(points, secs.unwrap_or(DEFAULT_SECS)),
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
        let (walk, feet) = file.walk.unwrap();
        assert_eq!((walk.stride, walk.secs, feet[1].as_str()), (0.5, 1.2, "b"));
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
        assert_eq!(read_ground(text, "g.json").unwrap().height(0.5, 0.0), 0.5);
        for (text, expected) in
            [("", "EOF"), ("{}", "no `ground`"), (r#"{"ground":{"slope":80}}"#, "/ground")]
        {
            let error = read_ground(text.as_bytes(), "g.json").unwrap_err().to_string();
            assert!(error.contains("g.json") && error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let cases = [
            ("", "is empty"),
            ("{}", "neither a path nor a walk"),
            ("[1]", "invalid type"),
            (r#"{"paths":[{"handle":"a","points":[]}]}"#, "/paths/0"),
            (r#"{"paths":[{"handle":"a","points":[[0,0,0],[1,0,0]],"times":[1,0]}]}"#, "times must rise"),
            (r#"{"paths":[{"handle":"a","points":[[0,0,0]],"seconds":-1}]}"#, "above 0"),
            (r#"{"paths":[{"handle":"a"}]}"#, "points"),
            (r#"{"path":[]}"#, "unknown field"),
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
