//! Opening: every file opens and can be shown, or the error names the file, the cause and what to do.

use super::super::{
    Random,
    draw::Surface,
    find::{Item, Kind},
    lab::{Lab, Outcome},
    row::Verdict,
    scene::Scene,
};
use super::Task;

/// A file that does not open is an answer by itself.
pub const DAMAGE_WORDS: &[&str] = &[];

pub fn plan<'a>(items: &'a [Item], _: &mut Random) -> Vec<Task<'a>> {
    items.iter().map(Task::of).collect()
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let item = task.items[0];
    let mut verdict = Verdict::default();
    let outcome = lab.sinew(&["info".as_ref(), item.path.as_os_str()])?;
    // A small file takes as long as starting the program.
    let megabytes = (item.bytes as f64 / 1e6).max(0.2);
    verdict.set("seconds_per_mb", outcome.seconds / megabytes);
    verdict.set("memory_per_byte", outcome.peak_mb * 1e6 / (item.bytes as f64).max(2e6));
    if !outcome.is_done() {
        verdict.set("opened", 0.0);
        let (is_answer, why) = is_answer(&outcome, item);
        verdict.set("answered", f64::from(u8::from(is_answer)));
        verdict.note(outcome.fault());
        verdict.notes.extend(why);
        return Ok(verdict);
    }
    verdict.set("opened", 1.0);
    verdict.set("answered", 1.0);
    // Kinds that their content alone does not say may have a surface too.
    let has_surface = outcome.stdout.lines().any(|line| line.starts_with("vertices "));
    if matches!(item.kind, Kind::Mesh | Kind::Rig | Kind::Sequence) || has_surface {
        show(item, lab, &mut verdict)?;
    }
    Ok(verdict)
}

/// Whether a refusal is helpful: it ends with code 1, says `error:`, names the file, and says what to do.
fn is_answer(outcome: &Outcome, item: &Item) -> (bool, Option<String>) {
    let name = item.path.file_name().unwrap_or_default().to_string_lossy();
    let text = outcome.stderr.trim();
    let checks = [
        (outcome.code == Some(1), "it did not end with code 1"),
        (text.contains("error: "), "no line begins with `error:`"),
        (text.contains(name.as_ref()), "the error does not name the file"),
        (text.contains("; "), "the error does not say what to do"),
    ];
    let missing = checks.iter().find(|(is, _)| !is).map(|(_, what)| (*what).to_owned());
    (missing.is_none(), missing)
}

/// Draw the result.
fn show(item: &Item, lab: &Lab, verdict: &mut Verdict) -> anyhow::Result<()> {
    let out = lab.file("opened.glb");
    let outcome = lab.sinew(&["convert".as_ref(), item.path.as_os_str(), out.as_os_str()])?;
    if !outcome.is_done() {
        // `info` shows what `convert` cannot write: points, empty files.
        verdict.note(format!("convert: {}", outcome.fault()));
        return Ok(());
    }
    let scene = Scene::read(&out)?;
    verdict.set("vertices", scene.n_vertices() as f64);
    let clips = scene.clips();
    let last = clips.first().map(|(_, seconds)| *seconds);
    for (title, clip, time) in
        [("opened", None, 0.0), ("mid clip", last.map(|_| 0), last.unwrap_or(0.0) * 0.5)]
    {
        if title == "opened" || clip.is_some() {
            let positions = scene.positions(clip, time);
            verdict.sheet.add(title, &Surface { positions: &positions, faces: &scene.faces, damage: &[] });
        }
    }
    Ok(())
}
