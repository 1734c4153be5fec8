use sinew_formats::{gltf, read_any};
use sinew_gait::{Gait, GaitParams, make_gait};
use sinew_geom::Warnings;
use std::path::PathBuf;
fn main() {
    let out = PathBuf::from(std::env::args().nth(1).unwrap());
    let gait: Option<Gait> = std::env::var("GAIT").ok().map(|g| g.parse().unwrap());
    for path in std::env::args().skip(2) {
        let Ok(content) = read_any(path.as_ref(), &mut Warnings::default()) else {
            println!("{path}: unreadable");
            continue;
        };
        let Some(mut c) = content.into_character() else { continue };
        if c.rig.as_ref().is_none_or(|r| r.n_joints() == 0) {
            match sinew_rig::build_rig(&c.mesh, &Default::default()) {
                Ok(a) => {
                    c.rig = Some(a.rig);
                    c.skin = Some(a.skin);
                }
                Err(e) => {
                    println!("{path}: rig: {e}");
                    continue;
                }
            }
        }
        let rig = c.rig.clone().unwrap();
        if std::env::var("DEBUG").is_ok() {
            let map = sinew_geom::body_map::BodyMap::read(&rig, &c.clips);
            let att = sinew_geom::body_map::attachments(&rig, &c.clips);
            println!(
                "{path} {:?} up {} fwd {} unit {:?} clips {}",
                map.class,
                map.up,
                map.forward,
                map.metres_per_unit,
                c.clips.len()
            );
            for (k, j) in rig.joints().iter().enumerate() {
                println!(
                    "  {k} {} <- {:?} att {:?} {:?} {:?} {} y {:.2}",
                    j.name,
                    j.parent.map(|p| rig.joints()[p].name.clone()),
                    att[k].map(|p| rig.joints()[p].name.clone()),
                    map.joints[k].part,
                    map.joints[k].side,
                    if map.joints[k].is_structural { "struct" } else { "" },
                    map.places[k].y
                );
            }
        }
        let line = std::env::var("LINE")
            .ok()
            .map(|l| {
                let v: Vec<f64> = l.split(',').map(|x| x.parse().unwrap()).collect();
                v.chunks(2).map(|p| [p[0], p[1]]).collect()
            })
            .unwrap_or_default();
        let ground = std::env::var("GROUND").ok().map(|g| g.parse().unwrap()).unwrap_or_default();
        let short: String = path.rsplit('/').next().unwrap().into();
        match make_gait(&c, &rig, &GaitParams { gait, line, ground, ..Default::default() }) {
            Ok(m) => {
                let r = &m.report;
                println!(
                    "{short:32} {:10} {} v{:.2} stride {:.2} T{:.2} leg {:.2} sink {:.2}% slide/leg {:?} lift/leg {:?} {}",
                    r.class.name(),
                    r.feet.len(),
                    r.speed,
                    r.stride,
                    r.stride_secs,
                    r.leg,
                    100.0 * r.sink / r.height,
                    r.feet.iter().map(|f| (1000.0 * f.slide / r.leg).round() / 10.0).collect::<Vec<_>>(),
                    r.feet.iter().map(|f| (100.0 * f.lift / r.leg).round()).collect::<Vec<_>>(),
                    r.feet.iter().map(|f| f.name.clone()).collect::<Vec<_>>().join(",")
                );
                c.clips = vec![m.clip];
                let bytes = gltf::write_glb(&c, &Default::default(), &mut Warnings::default()).unwrap();
                std::fs::write(out.join(format!("{short}.glb")), bytes).unwrap();
            }
            Err(e) => println!("{short:32} {e}"),
        }
    }
}
