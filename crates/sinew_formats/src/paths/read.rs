//! Reading a file of paths, with all its faults.

use super::{GroundData, KeyframesData, PathData, PathsData, SHAPE, WalkData, WayData};
use crate::json::{Fields, Node};

const PATH: &str = r#"write {"handle":"hand.L","points":[[0.3,1.2,0.4],[0.3,1.5,0.4]],"seconds":2}"#;
const WAY: &str = r#"write {"points":[[0,0,0],[0,0,4]],"seconds":2}"#;
const WALK: &str = r#"write {"line":[[0,0],[0,4]],"feet":["foot.L","foot.R"],"stride":0.6,"seconds":1.2}"#;
const KEYFRAMES: &str = r#"write {"examples":["stand","jump"],"seconds":0.5}"#;
const GROUND: &str = r#"write {"flat":0}, {"slope":10}, {"steps":{"rise":0.17,"run":0.3,"count":6}}, {"hills":{"height":0.3,"length":3}} or {"field":{"cell":0.5,"heights":[[0,0.1],[0,0.2]]}}"#;

pub(super) fn read_data(root: &Node<'_>) -> Option<PathsData> {
    let fields = root.fields(&["paths", "walk", "way", "ground", "keyframes"], SHAPE)?;
    let paths = fields.or("paths", Vec::new(), |list| list.each(read_path));
    let walk = fields.optional("walk", read_walk);
    let way = fields.optional("way", read_way);
    let ground = fields.optional("ground", read_ground);
    let keyframes = fields.optional("keyframes", read_keyframes);
    Some(PathsData { paths: paths?, walk: walk?, way: way?, ground: ground?, keyframes: keyframes? })
}

fn read_path(node: &Node<'_>) -> Option<PathData> {
    let fields = node.fields(&["handle", "points", "times", "seconds", "pin", "carries"], PATH)?;
    let handle = fields.required("handle", |node| node.text("the name of a handle"));
    let way = read_points(&fields);
    let (pin, carries) = (fields.or("pin", false, Node::boolean), fields.or("carries", false, Node::boolean));
    let WayData { points, times, seconds } = way?;
    Some(PathData { handle: handle?, points, times, seconds, pin: pin?, carries: carries? })
}

fn read_way(node: &Node<'_>) -> Option<WayData> {
    read_points(&node.fields(&["points", "times", "seconds"], WAY)?)
}

fn read_points(fields: &Fields<'_>) -> Option<WayData> {
    let points = fields.required("points", |list| list.each(Node::numbers));
    let times = fields.optional("times", |list| list.values("a number", |time| time.as_f64()));
    let seconds = fields.optional("seconds", Node::number);
    Some(WayData { points: points?, times: times?, seconds: seconds? })
}

fn read_walk(node: &Node<'_>) -> Option<WalkData> {
    let fields = node.fields(&["line", "feet", "stride", "seconds", "lift", "stance"], WALK)?;
    let line = fields.required("line", |list| list.each(Node::numbers));
    let feet = fields.required("feet", |list| match list.names("the name of a handle")?.try_into() {
        Ok(feet) => Some(feet),
        Err(names) => list.fault(format!("a walk has two feet, not {}", Vec::len(&names))),
    });
    let stride = fields.optional("stride", Node::number);
    let seconds = fields.or("seconds", super::default_secs(), Node::number);
    let lift = fields.optional("lift", Node::number);
    let stance = fields.or("stance", super::default_stance(), Node::number);
    Some(WalkData {
        line: line?,
        feet: feet?,
        stride: stride?,
        seconds: seconds?,
        lift: lift?,
        stance: stance?,
    })
}

fn read_keyframes(node: &Node<'_>) -> Option<KeyframesData> {
    let fields = node.fields(&["examples", "seconds"], KEYFRAMES)?;
    let examples = fields.required("examples", |list| list.names("the name of an example"));
    let seconds = fields.or("seconds", super::default_key_secs(), Node::number);
    Some(KeyframesData { examples: examples?, seconds: seconds? })
}

fn read_ground(node: &Node<'_>) -> Option<GroundData> {
    let Some((kind, body)) = node.variant() else {
        return node.fault_with("a ground is an object with one key, its kind", GROUND);
    };
    match kind {
        "flat" => body.number().map(GroundData::Flat),
        "slope" => body.number().map(GroundData::Slope),
        "steps" => {
            let fields = body.fields(&["rise", "run", "start", "count"], GROUND)?;
            let (rise, run) = (fields.required("rise", Node::number), fields.required("run", Node::number));
            let start = fields.or("start", 0.0, Node::number);
            let count = fields.required("count", Node::count);
            Some(GroundData::Steps { rise: rise?, run: run?, start: start?, count: count? as usize })
        }
        "hills" => {
            let fields = body.fields(&["height", "length"], GROUND)?;
            let height = fields.required("height", Node::number);
            let length = fields.required("length", Node::number);
            Some(GroundData::Hills { height: height?, length: length? })
        }
        "field" => {
            let fields = body.fields(&["origin", "cell", "heights"], GROUND)?;
            let origin = fields.or("origin", [0.0; 2], Node::numbers);
            let cell = fields.required("cell", Node::number);
            let row = |row: &Node<'_>| row.values("a height in metres", |height| height.as_f64());
            let heights = fields.required("heights", |rows| rows.each(row));
            Some(GroundData::Field { origin: origin?, cell: cell?, heights: heights? })
        }
        other => node.fault_with(format!("{other:?} is not a kind of ground"), GROUND),
    }
}
