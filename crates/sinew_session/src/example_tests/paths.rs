//! Motions along paths: baked, replayed, scaled, refused.

use super::*;

fn walk(line: Vec<[f64; 2]>) -> PathsData {
    let feet = ["foot.L".to_owned(), "foot.R".to_owned()];
    let walk = WalkData { line, feet, stride: None, seconds: 1.2, lift: Some(0.06), stance: 0.5 };
    PathsData { walk: Some(walk), ..PathsData::default() }
}

fn bake_of(clip: &str) -> Command {
    Command::Bake { clip: clip.into(), fps: 12.0, follow: Follow::Paths }
}

#[test]
fn a_walk_is_baked_played_undone_and_baked_again() {
    let hills = GroundData::Hills { height: 0.2, length: 3.0 };
    let paths = PathsData { ground: Some(hills.clone()), ..walk(vec![[0.0, 0.0], [0.0, 1.5]]) };
    let mut history = History::new(WALKER.clone());
    history.apply(&Command::SetPaths { paths: Box::new(paths) }, None, Duration::ZERO).unwrap();
    let n_clips = WALKER.clips.len();
    let (baked, report) = motion::bake(history.document(), "stroll", 12.0, Follow::Paths, &go_on).unwrap();
    history.apply(&bake_of("stroll"), None, Duration::from_secs(9)).unwrap();
    let document = history.document().clone();
    assert_eq!(document.clips.len(), n_clips + 1);
    // The skeleton moves, with a few morph targets for what it misses.
    let n_morphs = baked.body.morphs.len();
    assert!(n_morphs <= 5 && document.body.morphs.len() == n_morphs, "{n_morphs}");
    assert!(report.fit.joints > 0 && report.fit.error < MAX_CLIP_ERROR, "{report:?}");
    let size = document.mesh().bounds()[1].y - document.mesh().bounds()[0].y;
    assert!(report.target_error[0] < 0.01 * size, "{report:?}");
    // The feet stand on the hills in every frame, and it ends where the line does.
    let ground = hills.build().unwrap();
    let clip = document.clips.last().unwrap().clone();
    let foot = &document.handles[document.find_handle("foot.L").unwrap()];
    let sole = foot.vertices.iter().map(|&v| document.mesh().positions()[v as usize].y).fold(9.0, f64::min);
    let mut end = 0.0;
    for frame in 0..report.n_frames {
        let positions = document.body.positions_at(Some(&clip), frame as f32 / 12.0).unwrap();
        let middle = foot.vertices.iter().map(|&v| positions[v as usize].as_dvec3()).sum::<DVec3>()
            / foot.vertices.len() as f64;
        assert!(middle.y > ground.height(middle.x, middle.z) + sole - 0.02 * size, "frame {frame}");
        end = middle.z;
    }
    assert!((end - 1.5).abs() < 0.1, "{end}");
    // Shown as any clip, in what was prepared before: the surface is the same.
    let mut stage = Stage::default();
    let prepared = stage.prepare(&WALKER, &go_on).unwrap();
    let shown = Display::Clip { clip: "stroll".into(), time: 0.5 };
    assert!(stage.show(&document, &shown, &go_on).is_ok());
    let again = stage.prepare(&document, &|_| ControlFlow::Break(())).unwrap();
    assert!(!Arc::ptr_eq(&prepared, &again), "it is for the new body, without being prepared again");
    // Baked again it is exchanged; removed, its frames are gone; undone, they are back.
    history.apply(&bake_of("stroll"), None, Duration::from_secs(20)).unwrap();
    assert_eq!(history.document().body.morphs.len(), n_morphs);
    history.apply(&bake_of("second"), None, Duration::from_secs(30)).unwrap();
    assert_eq!(history.document().body.morphs.len(), 2 * n_morphs);
    // After a round trip each clip has a track over all frames of both; still only its own go.
    let mut back = project_of(history.document());
    let at = |document: &Document, name: &str| {
        let clip = document.clips[document.find_clip(name).unwrap()].clone();
        document.body.positions_at(Some(&clip), 0.75).unwrap()
    };
    let far = |a: &Document, b: &Document, name: &str| {
        at(a, name).iter().zip(at(b, name)).map(|(p, q)| p.distance(q)).fold(0.0, f32::max)
    };
    assert!(far(&back, &document, "second".replace("second", "stroll").as_str()) < 1e-4);
    assert!(far(&back, history.document(), "second") < 1e-4);
    back = apply(&back, Command::RemoveClip { clip: "stroll".into() });
    assert_eq!(back.body.morphs.len(), n_morphs);
    assert!(far(&back, history.document(), "second") < 1e-4);
    back = apply(&back, Command::RemoveClip { clip: "second".into() });
    assert_eq!((back.body.morphs.len(), back.clips.len()), (0, n_clips));
    assert_eq!(*back.paths, *document.paths);
    while history.undo() {}
    assert!(history.document().body.morphs.is_empty() && history.document().clips.len() == n_clips);
}

#[test]
fn work_on_paths_and_details_is_done_again_after_a_crash() {
    let root = std::env::temp_dir().join(format!("sinew-session-examples-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    let mut session = Session::new(WALKER.clone(), None, Some(root.clone()));
    let name = WALKER.examples[0].name.clone();
    let commands = [
        Command::SetPaths { paths: Box::new(walk(vec![[0.0, 0.0], [0.0, 0.6]])) },
        bake_of("stroll"),
        Command::LoadExample { name: name.clone() },
        Command::Sculpt { example: Some(name.clone()), vertices: vec![3, 4], offsets: vec![0.01, -0.02] },
        Command::ReachPose { moves: WALKER.examples[0].moves.to_vec(), weights: vec![(name.clone(), 0.5)] },
        Command::MirrorExample { name, to: "twin".into() },
    ];
    for command in &commands {
        session.apply(command, None).unwrap();
    }
    assert!(session.flush());
    let (detail, clip) =
        (session.document().detail.clone(), session.document().clips.last().unwrap().clone());
    let shape = |document: &Document, clip: &Clip| document.body.positions_at(Some(clip), 0.5).unwrap();
    let shown = shape(session.document(), &clip);
    drop(session);
    let found = Recovery::find_all(&root);
    let mut warnings = Warnings::default();
    let recovered = found[0].recover(&mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    let document = recovered.history.document();
    assert_eq!(document.detail.as_deref(), detail.as_deref());
    assert_eq!(document.clips.last().unwrap().name, clip.name);
    // The base was written in single precision, so that searches end a little elsewhere.
    let again = shape(document, document.clips.last().unwrap());
    assert!(again.iter().zip(&shown).all(|(p, q)| p.distance(*q) < 2e-3));
    assert!(document.find_example("twin").is_ok() && recovered.history.len() == 1 + commands.len());
    drop(found);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn paths_follow_their_handles_and_the_size_of_the_body() {
    let mut paths = walk(vec![[0.0, 0.0], [1.0, 2.0]]);
    paths.paths.push(PathData {
        handle: "hand.L".into(),
        points: vec![[0.5, 1.0, 0.0], [0.5, 1.5, 0.2]],
        times: None,
        seconds: Some(2.0),
        pin: true,
        carries: false,
    });
    let names = WALKER.examples[..2].iter().map(|example| example.name.clone()).collect::<Vec<_>>();
    paths.keyframes = Some(KeyframesData { examples: names.clone(), seconds: 0.5 });
    let document = apply(&WALKER, Command::SetPaths { paths: Box::new(paths.clone()) });
    assert_eq!(*project_of(&document).paths, paths);
    let renamed = apply(&document, Command::RenameHandle { name: "hand.L".into(), to: "paw".into() });
    assert_eq!(renamed.paths.paths[0].handle, "paw");
    let removed = apply(&document, Command::RemoveHandle { name: "foot.L".into() });
    assert!(removed.paths.walk.is_none() && removed.paths.paths.len() == 1);
    let doubled = apply(&document, Command::Scale { factor: 2.0 });
    assert_eq!(doubled.paths.walk.as_ref().unwrap().line[1], [2.0, 4.0]);
    assert_eq!(doubled.paths.walk.as_ref().unwrap().lift, Some(0.12));
    assert_eq!(doubled.paths.paths[0].points[1], [1.0, 3.0, 0.4]);
    let renamed = apply(&document, Command::RenameExample { name: names[0].clone(), to: "key".into() });
    assert_eq!(renamed.paths.keyframes.as_ref().unwrap().examples, ["key", names[1].as_str()]);
    let removed = apply(&document, Command::RemoveExample { name: names[0].clone() });
    assert_eq!(removed.paths.keyframes.as_ref().unwrap().examples, [names[1].as_str()]);
    // Keyframes are a motion of their own: the first frame is the first example, the last the last.
    let bake = Command::Bake { clip: "keys".into(), fps: 10.0, follow: Follow::Keyframes };
    let baked = apply(&document, bake);
    let clip = baked.clips.last().unwrap();
    let prepared = Prepared::new(&document, &go_on).unwrap();
    for (time, example) in [(0.0, 0), (0.5, 1)] {
        let expected = prepared.positions(&document.examples[example].moves).unwrap();
        let shown = baked.body.positions_at(Some(clip), time).unwrap();
        let expected: Vec<_> = expected.iter().map(|p| p.as_vec3()).collect();
        let far = rms(&shown, &expected) / document.mesh().diagonal();
        assert!(far < 1.5 * MAX_CLIP_ERROR, "{time}: {far}");
    }
}

#[test]
fn paths_that_cannot_be_followed_are_refused_with_what_is_wrong() {
    let set = |paths: PathsData| Command::SetPaths { paths: Box::new(paths) };
    let path = |handle: &str, points: Vec<[f64; 3]>| PathsData {
        paths: vec![PathData {
            handle: handle.into(),
            points,
            times: None,
            seconds: Some(1.0),
            pin: false,
            carries: false,
        }],
        ..PathsData::default()
    };
    assert!(refused(&WALKER, set(path("tail", vec![[0.0; 3]]))).contains("\"tail\""));
    assert!(refused(&WALKER, set(path("head", vec![]))).contains("point"));
    assert!(refused(&WALKER, set(path("head", vec![[f64::NAN; 3]]))).contains("finite"));
    let flat = PathsData { ground: Some(GroundData::Hills { height: 1.0, length: 0.0 }), ..walk(vec![]) };
    assert!(refused(&WALKER, set(flat)).contains("ground"));
    let keys = KeyframesData { examples: vec!["nobody".into()], seconds: 1.0 };
    let keys = PathsData { keyframes: Some(keys), ..PathsData::default() };
    assert!(refused(&WALKER, set(keys)).contains("nobody"));
    let wrong = |paths: PathsData, command: Command| refused(&apply(&WALKER, set(paths)), command);
    assert!(refused(&WALKER, bake_of("x")).contains("draw a walk"));
    // While it is drawn a walk has one point; it cannot be walked yet, nor can one without length.
    assert!(wrong(walk(vec![[0.0, 0.0]]), bake_of("x")).contains("two points"));
    assert!(wrong(walk(vec![[1.0, 1.0]; 3]), bake_of("x")).contains("two points"));
    let line = || walk(vec![[0.0, 0.0], [0.0, 1.0]]);
    assert!(
        wrong(PathsData { paths: path("foot.L", vec![[0.0; 3]]).paths, ..line() }, bake_of("x"))
            .contains("has two")
    );
    assert!(wrong(line(), bake_of("walk")).contains("taken"), "a clip of the skeleton is not lost");
    assert!(wrong(line(), bake_of(" ")).contains("empty"));
    let at = |fps: f64| Command::Bake { clip: "x".into(), fps, follow: Follow::Paths };
    assert!(wrong(line(), at(0.0)).contains("frame rate"));
    assert!(wrong(line(), at(20_000.0)).contains("choose"));
    let keys = Command::Bake { clip: "x".into(), fps: 10.0, follow: Follow::Keyframes };
    assert!(wrong(line(), keys).contains("no example is chosen"));
    // One point is a place to stay at.
    let stay = path("hand.L", vec![[0.5, 1.2, 0.1]]);
    let document = apply(&WALKER, set(stay));
    assert!(motion::bake(&document, "stay", 10.0, Follow::Paths, &go_on).is_ok());
    let stopped = motion::bake(&document, "stay", 10.0, Follow::Paths, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SessionError::Cancelled)));
    let bare = Document { examples: Vec::new(), ..document };
    let error = motion::bake(&bare, "x", 10.0, Follow::Paths, &go_on).unwrap_err();
    assert!(matches!(error, SessionError::Deform(DeformError::NoExample)));
}

fn rms(a: &[glam::Vec3], b: &[glam::Vec3]) -> f64 {
    let squared: f64 = a.iter().zip(b).map(|(p, q)| f64::from(p.distance_squared(*q))).sum();
    (squared / a.len() as f64).sqrt()
}

/// A scan with handles and no skeleton: its walk is joints, weights, tracks and a few morph targets, small and near enough;
/// a skeleton of its shape takes the walk over.
#[test]
fn the_walk_of_a_mesh_with_handles_is_a_small_skinned_clip() {
    let bare = Character { rig: None, skin: None, ..(*WALKER.body).clone() };
    let mut scan = Document { body: Arc::new(bare), clips: Vec::new(), ..WALKER.clone() };
    scan.paths = Arc::new(walk(vec![[0.0, 0.0], [0.0, 1.5], [0.6, 2.5]]));
    let (baked, report) = motion::bake(&scan, "stroll", 24.0, Follow::Paths, &go_on).unwrap();
    let (rig, size) = (baked.body.rig.as_ref().unwrap(), scan.mesh().diagonal());
    assert!(rig.n_joints() == scan.handles.len() && report.fit.error < MAX_CLIP_ERROR, "{report:?}");
    assert!(report.fit.morphs <= 5 && report.n_frames > 60, "{report:?}");
    // Joints are at the centres of the handles, not at the origin.
    let world = rig.rest_world();
    for handle in &scan.handles {
        let joint = rig.find(&handle.name).unwrap();
        assert!(world[joint].translation.distance(handle.center) < 1e-9);
    }
    // The project with the motion, beside the mesh alone.
    let n_bytes = |document: &Document| {
        sinew_formats::gltf::write_glb(&document.character(), &Default::default(), &mut Warnings::default())
            .unwrap()
            .len() as f64
    };
    let plain = Document { handles: Vec::new(), examples: Vec::new(), ..scan.clone() };
    let seconds = f64::from(baked.clips[0].duration_secs());
    let (mesh, project) = (n_bytes(&plain), n_bytes(&baked));
    assert!(project <= 2.0 * mesh + 1e5 * seconds, "{project} bytes, {mesh} of the mesh, {seconds} s");
    let back = project_of(&baked);
    let shape = |document: &Document, time: f32| {
        document.body.positions_at(document.clips.first().map(|clip| &**clip), time).unwrap()
    };
    for time in [0.0, 0.7, 2.2] {
        assert!(rms(&shape(&back, time), &shape(&baked, time)) < 1e-4 * size);
    }
    // The skeleton made for the clip is replaced by one of the shape, and the walk keeps playing.
    let rigged = apply(&baked, Command::AddSkeleton { template: None });
    let names = |document: &Document| document.body.rig.as_ref().unwrap().find("hips");
    assert!(names(&rigged).is_some() && !rigged.flesh.bound && rigged.clips[0].name == "stroll");
    assert!(
        rigged.clips[0].joints.len() >= 15 && rigged.body.morphs.len() < 20,
        "{}",
        rigged.body.morphs.len()
    );
    for time in [0.0, 0.7, 2.2] {
        let off = rms(&shape(&rigged, time), &shape(&baked, time)) / size;
        assert!(off < 2.0 * MAX_CLIP_ERROR, "{off} at {time}");
    }
    assert!(refused(&rigged, Command::AddSkeleton { template: None }).contains("already"));
}
