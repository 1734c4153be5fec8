//! Refit every clip to every rig given: one line per pair. For trials.
use sinew_formats::{Content, read_any};
use sinew_geom::{Character, Warnings, body_map::BodyMap};
use sinew_session::{RefitRequest, refit_motion};
use std::{ops::ControlFlow, path::Path, time::Instant};

fn open(path: &str) -> Option<Character> {
    let content =
        read_any(Path::new(path), &mut Warnings::default()).map_err(|e| println!("{path}: {e}")).ok()?;
    let is_bvh = matches!(content, Content::Bvh(_));
    let character = content.into_character().ok()?;
    let rig = character.rig.clone()?;
    if !is_bvh {
        return Some(character);
    }
    let unit = BodyMap::read(&rig, &character.clips).metres_per_unit.unwrap_or(1.0);
    character.scaled(unit).ok()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let at = words.iter().position(|w| w == "--").unwrap_or(words.len());
    let clips: Vec<&String> = words[..at].iter().collect();
    let rigs: Vec<&String> = words[(at + 1).min(words.len())..].iter().collect();
    for clip_path in &clips {
        let Some(source) = open(clip_path) else { continue };
        let targets: Vec<&String> = if rigs.is_empty() { vec![clip_path] } else { rigs.clone() };
        for rig_path in targets {
            let Some(target) = open(rig_path) else { continue };
            let named = |word: &str| {
                source.clips.iter().find(|c| c.name.to_lowercase().contains(word) && c.duration_secs() > 0.2)
            };
            let Some(clip) = named("walk").or_else(|| named("run")).or(source.clips.first()) else {
                continue;
            };
            let mut warnings = Warnings::default();
            let start = Instant::now();
            let request = RefitRequest::default();
            let name = |p: &str| Path::new(p).file_name().unwrap().to_string_lossy().into_owned();
            let what = format!("{} -> {}", name(clip_path), name(rig_path));
            match refit_motion((&source, clip), &target, &request, &mut warnings, &mut |_| {
                ControlFlow::Continue(())
            }) {
                Err(error) => println!("{what}: {error}"),
                Ok(made) => {
                    let (r, q) = (&made.fitted.report, &made.fitted.report.quality);
                    let unit = 170.0 / (q.leg * 2.05);
                    println!(
                        "{what}: {} fr {:.0} fps {:.0} f/s rounds {} scale {:.3} jump {:.2} @{} {} depth {:.2} @{} {} dir {:.1} slide {:.1}/{:.1} jerk {:.2} ground {:?} legs {}",
                        made.fitted.motion.n_frames(),
                        made.fitted.motion.fps,
                        made.fitted.motion.n_frames() as f64 / start.elapsed().as_secs_f64(),
                        r.rounds,
                        r.scale,
                        q.jump.value * unit,
                        q.jump.frame,
                        q.jump.joint,
                        q.depth.value * unit,
                        q.depth.frame,
                        q.depth.joint,
                        q.direction.map_or(-1.0, f64::to_degrees),
                        r.fitted.slide * unit,
                        r.source.slide * 170.0 / (q.leg / r.scale * 2.05),
                        r.jerk_ratio() / r.scale,
                        r.ground.map(|g| g.map(|x| (x * 1000.0).round() / 10.0)),
                        made.fitted.stances.len()
                    );
                    if is_same(&source, &target) {
                        let (mut sum, mut worst, mut n) = (0.0, (0.0, 0, 0), 0);
                        let (a, rig) = (source.rig.as_ref().unwrap(), target.rig.as_ref().unwrap());
                        let (mut x, mut y) = (Vec::new(), Vec::new());
                        for (t, pose) in made.fitted.motion.poses.iter().enumerate() {
                            a.forward(&clip.sample(a, (t as f64 / made.fitted.motion.fps) as f32), &mut x)
                                .unwrap();
                            rig.forward(pose, &mut y).unwrap();
                            for (j, (x, y)) in x.iter().zip(&y).enumerate() {
                                let d = x.translation.distance(y.translation) * unit;
                                sum += d;
                                n += 1;
                                if d > worst.0 {
                                    worst = (d, t, j);
                                }
                            }
                        }
                        println!(
                            "   identity mean {:.4} max {:.4} @{} {}",
                            sum / f64::from(n),
                            worst.0,
                            worst.1,
                            a.joints()[worst.2].name
                        );
                    }
                    for w in &warnings.messages {
                        println!("   {w}");
                    }
                }
            }
        }
    }
}

fn is_same(a: &Character, b: &Character) -> bool {
    let names =
        |c: &Character| c.rig.as_ref().map(|r| r.joints().iter().map(|j| j.name.clone()).collect::<Vec<_>>());
    names(a) == names(b)
}
