//! What a skeleton is, for `sinew info`.

use serde_json::{Value, json};
use sinew::geom::{Character, body_map::BodyMap, rig::Side};

/// The body map of a character's skeleton; nothing without one.
pub fn describe(character: &Character) -> Option<Value> {
    let rig = character.rig.as_ref().filter(|rig| rig.n_joints() > 1)?;
    let map = BodyMap::read(rig, &character.clips);
    let side = |side: Side| match side {
        Side::Left => "left",
        Side::Right => "right",
        Side::Middle => "middle",
    };
    let joint = |(k, joint): (usize, &sinew::geom::body_map::JointMeaning)| {
        let mut value =
            json!({ "name": rig.joints()[k].name, "part": joint.part.name(), "side": side(joint.side) });
        if joint.is_structural {
            value["structural"] = json!(true);
        }
        if let Some(hinge) = joint.hinge {
            value["hinge"] =
                json!({ "axis": hinge.axis.to_array(), "range_degrees": hinge.range.map(f64::to_degrees) });
        }
        value
    };
    Some(json!({
        "class": map.class.name(),
        "confidence": map.confidence,
        "up": map.up.to_array(),
        "facing": map.forward.to_array(),
        "unit": map.metres_per_unit,
        "joints": map.joints.iter().enumerate().map(joint).collect::<Vec<_>>(),
    }))
}

/// One line for people.
pub fn as_text(body: &Value) -> String {
    let axis = |key: &str| {
        let v: Vec<f64> = body[key].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let name = |(k, x): (usize, &f64)| {
            (x.abs() > 0.99).then(|| format!("{}{}", if *x < 0.0 { '−' } else { '+' }, ["X", "Y", "Z"][k]))
        };
        v.iter().enumerate().find_map(name).unwrap_or_else(|| format!("{v:.2?}"))
    };
    let confidence = 100.0 * body["confidence"].as_f64().unwrap_or(0.0);
    let class = body["class"].as_str().unwrap_or_default();
    let unit = match body["unit"].as_f64() {
        Some(1.0) => ", in metres".to_owned(),
        Some(unit) => format!(", 1 unit is {unit} m"),
        None => String::new(),
    };
    format!("{class} (confidence {confidence:.0} %), up {}, facing {}{unit}", axis("up"), axis("facing"))
}
