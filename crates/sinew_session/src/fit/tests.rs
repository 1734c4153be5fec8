use super::*;
use crate::{Command, ExportFormat, ExportParams, ExportWhat, SkinData, export, grow_sample, read_project};
use sinew_geom::{Mesh, sample::Sample};
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

fn grown(sample: Sample, n: usize) -> Document {
    grow_sample(sample, n, &mut |_| ControlFlow::Continue(()), &mut Warnings::default()).unwrap()
}

fn quick(bones: usize) -> FitSettings {
    FitSettings { bones: Some(bones), ..FitSettings::default() }
}

fn fit(stack: &mut MotionStack, document: &Document, settings: &FitSettings) -> Arc<Fitted> {
    stack.fit(document, settings, &mut Stage::default(), &sinew_skin::no_progress).unwrap()
}

#[test]
fn a_fit_runs_only_when_what_it_stands_on_changed() {
    let mut stack = MotionStack::default();
    let document = grown(Sample::Flag, 1_000);
    let first = fit(&mut stack, &document, &quick(6));
    assert!(first.is_of(&document) && first.skin.n_bones == 6 && !first.report.cancelled);
    assert!(first.errors.de > 0.0 && first.errors.de < 60.0, "{}", first.errors.de);
    assert!(Arc::ptr_eq(&first, &fit(&mut stack, &document, &quick(6))));
    // Naming the only clip is the same as naming none; a name of the document changes nothing.
    let renamed = Command::Rename { name: "x".into() }.apply(&document).unwrap();
    let named = FitSettings { clips: vec![document.clips[0].name.clone()], ..quick(6) };
    assert!(Arc::ptr_eq(&first, &fit(&mut stack, &renamed, &named)));
    assert_eq!(stack.runs[2], 1);
    let more = fit(&mut stack, &document, &quick(12));
    assert!(stack.runs[2] == 2 && more.errors.e_rms < first.errors.e_rms);
    let scaled = Command::Scale { factor: 2.0 }.apply(&document).unwrap();
    assert!(!more.is_of(&scaled));
    fit(&mut stack, &scaled, &quick(12));
    assert_eq!(stack.runs[2], 3);
}

/// The clip of a rig is as good as a sequence, and all clips share one skin.
#[test]
fn clips_of_a_skeleton_are_fitted_and_played_beside_it() {
    let document = grown(Sample::Biped, 1_000);
    assert!(document.clips.len() > 1, "the test needs several clips");
    let fitted = fit(&mut MotionStack::default(), &document, &quick(20));
    assert_eq!(fitted.character.clips.len(), document.clips.len());
    assert!(fitted.errors.e_rms_diag1 < 0.5, "{}", fitted.errors.e_rms_diag1);
    for clip in &document.clips {
        let display = Display::Clip { clip: clip.name.clone(), time: 0.5 * clip.duration_secs() };
        let frame = fitted.frame(&display).unwrap().unwrap();
        let own = document.body.positions_at(Some(clip), 0.5 * clip.duration_secs()).unwrap();
        let off = frame.positions.iter().zip(&own).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 0.1, "{} is off by {off}", clip.name);
    }
    assert!(fitted.frame(&Display::Clip { clip: "other".into(), time: 0.0 }).unwrap().is_none());
}

#[test]
fn a_stopped_fit_is_the_best_so_far_and_goes_on_when_asked_again() {
    let mut stack = MotionStack::default();
    let document = grown(Sample::Flag, 1_000);
    let n_rounds = AtomicUsize::new(0);
    let stop = |status: FitStatus| {
        let is_late = status.stage == FitStage::Refine && n_rounds.fetch_add(1, Ordering::Relaxed) >= 2;
        if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = stack.fit(&document, &quick(10), &mut Stage::default(), &stop).unwrap();
    assert!(stopped.report.cancelled && stopped.skin.n_bones == 10);
    assert!(Arc::ptr_eq(&stopped, stack.ready_fit(&document, &quick(10)).unwrap()));
    let whole = fit(&mut stack, &document, &quick(10));
    assert!(!whole.report.cancelled && whole.errors.e_rms < stopped.errors.e_rms);
    // Before bones are placed there is nothing to keep, and what was there stays.
    let at_once = |_: FitStatus| ControlFlow::Break(());
    let error = stack.fit(&document, &quick(5), &mut Stage::default(), &at_once).unwrap_err();
    assert!(matches!(error, SessionError::Cancelled), "{error}");
    assert!(Arc::ptr_eq(&whole, stack.fitted().unwrap()));
}

#[test]
fn as_few_bones_as_reach_an_error() {
    let document = grown(Sample::Flag, 1_000);
    let settings = FitSettings { error: Some(0.5), ..FitSettings::default() };
    let fitted = fit(&mut MotionStack::default(), &document, &settings);
    assert!(fitted.errors.e_rms_diag1 < 0.55, "{}", fitted.errors.e_rms_diag1);
    let fewer = fit(&mut MotionStack::default(), &document, &quick(fitted.skin.n_bones / 2));
    assert!(fewer.errors.e_rms_diag1 > 0.5, "{} bones would do", fewer.skin.n_bones);
}

/// A vertex without a face, texture seams and handles outlive the exchange, and so does a journal's line.
#[test]
fn a_taken_skin_keeps_the_vertices_and_is_one_step() {
    let mut document = grown(Sample::Balloon, 1_000);
    let mut positions = document.mesh().positions().to_vec();
    positions.push(DVec3::new(0.1, 0.2, 0.3));
    let mut body = (*document.body).clone();
    body.mesh = Mesh::new(positions, body.mesh.faces().to_vec()).unwrap();
    body.morphs.iter_mut().for_each(|morph| morph.offsets.push(glam::Vec3::ZERO));
    document.body = Arc::new(body);
    let document = Command::AddHandle { name: "top".into() }.apply(&document).unwrap();
    let fitted = fit(&mut MotionStack::default(), &document, &quick(8));
    let command = Command::TakeSkin { skin: SkinData::new(&fitted).unwrap() };
    let line = serde_json::to_string(&command).unwrap();
    assert_eq!(serde_json::from_str::<Command>(&line).unwrap(), command);
    let taken = command.apply(&document).unwrap();
    assert_eq!(taken.mesh().n_vertices(), document.mesh().n_vertices());
    assert!(taken.body.morphs.is_empty() && taken.body.rig.is_some() && taken.handles.len() == 1);
    assert_eq!(taken.clips[0].name, document.clips[0].name);
    let shown =
        fitted.frame(&Display::Clip { clip: taken.clips[0].name.clone(), time: 0.4 }).unwrap().unwrap();
    let played = taken.body.positions_at(Some(&taken.clips[0]), 0.4).unwrap();
    let off = shown.positions.iter().zip(&played).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
    assert!(!fitted.is_of(&taken));
    assert!(command.apply(&grown(Sample::Bar, 1_000)).unwrap_err().to_string().contains("another mesh"));
}

#[test]
fn an_export_goes_through_the_fit_without_fitting_twice() {
    let (mut stack, mut stage, mut warnings) =
        (MotionStack::default(), Stage::default(), Warnings::default());
    let document = grown(Sample::Tablecloth, 1_000);
    let fitted = fit(&mut stack, &document, &quick(9));
    let params: ExportParams = serde_json::from_str(r#"{"format":"glb","what":"fit"}"#).unwrap();
    assert_eq!((params.format, params.what), (ExportFormat::Glb, ExportWhat::Fit));
    let go_on = |_: f64| ControlFlow::Continue(());
    let made = export(&document, &params, &mut stack, &mut stage, &go_on, &mut warnings).unwrap();
    assert_eq!((stack.runs[2], made.bytes.len()), (1, fitted.bytes[1]));
    let back = read_project(&made.bytes, Path::new("x.glb"), &mut warnings).unwrap();
    assert_eq!(back.body.rig.as_ref().unwrap().n_joints(), fitted.exported.joints);
    let other = ExportParams { fit: Some(quick(4)), ..params };
    export(&document, &other, &mut stack, &mut stage, &go_on, &mut warnings).unwrap();
    assert_eq!((stack.runs[2], stack.fitted().unwrap().skin.n_bones), (2, 4));
}

#[test]
fn what_cannot_be_fitted_is_refused_by_name() {
    let mut stack = MotionStack::default();
    let mut refuse = |document: &Document, settings: FitSettings| {
        let done = stack.fit(document, &settings, &mut Stage::default(), &sinew_skin::no_progress);
        done.unwrap_err().to_string()
    };
    let still = Document::new(grown(Sample::Flag, 1_000).character());
    let flag = grown(Sample::Flag, 1_000);
    let bare = Document { clips: Vec::new(), ..still };
    assert!(refuse(&bare, quick(5)).contains("nothing moves"));
    assert!(refuse(&flag, quick(0)).contains("at least 1"));
    assert!(refuse(&flag, quick(1_000_000)).contains("at most"));
    assert!(refuse(&flag, FitSettings { clips: vec!["no".into()], ..quick(5) }).contains("no clip"));
    assert!(refuse(&flag, FitSettings { influences: 9, ..quick(5) }).contains("influences"));
    assert!(refuse(&flag, FitSettings { error: Some(-1.0), ..quick(5) }).contains("positive"));
    assert!(refuse(&flag, FitSettings { fps: Some(f64::NAN), ..quick(5) }).contains("frame"));
}

/// Without a number, the same bones as the command line takes; projects and journals hold a number, an absent one or null.
#[test]
fn without_a_number_there_are_as_many_bones_as_the_frames_pay_for() {
    let document = grown(Sample::Flag, 1_000);
    let settings: FitSettings = serde_json::from_str(r#"{"influences":4}"#).unwrap();
    assert_eq!(settings, FitSettings::default());
    let fitted = fit(&mut MotionStack::default(), &document, &settings);
    let most = affordable_bones(document.mesh(), fitted.n_frames, most_bones(BoneKind::Rigid, 256));
    assert!((1..=most).contains(&fitted.skin.n_bones), "{} of {most}", fitted.skin.n_bones);
    assert!(fitted.bytes[1] <= fitted.bytes[0], "{:?}", fitted.bytes);
    let read = |text: &str| serde_json::from_str::<FitSettings>(text).unwrap().bones;
    assert_eq!([read(r#"{"bones":50}"#), read(r#"{"bones":null}"#)], [Some(50), None]);
}

#[test]
fn a_fit_says_what_will_be_seen() {
    let document = grown(Sample::Flag, 1_000);
    let settings = FitSettings { bones: Some(1), ..FitSettings::default() };
    let fitted = fit(&mut MotionStack::default(), &document, &settings);
    assert!(
        fitted.warnings().iter().any(|text| text.contains("shading will show it")),
        "{:?}",
        fitted.warnings()
    );
}
