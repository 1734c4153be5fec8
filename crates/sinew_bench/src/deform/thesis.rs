//! Tables 6.1, 6.2 and 9.3–9.5 of Hansen (2006), measured here on bipeds of the same sizes: milliseconds, and ratios to
//! each table's first row beside Hansen's own ratios.

use super::speed::waving;
use crate::measure::time;
use sinew::{
    deform::{EditParams, Frames, HandlePose, HandleSet, LipmanParams, Method, SurfaceEditor},
    geom::{
        Character, Warnings,
        linalg::Cholesky,
        measure::compute_vertex_normals,
        mesh::Adjacency,
        operators::{LaplacianKind, build_laplacian},
        sample::{Sample, build_character},
    },
};

struct Model {
    character: Character,
    handles: HandleSet,
    pose: HandlePose,
}

fn model(n_vertices: usize) -> anyhow::Result<Model> {
    let character = build_character(Sample::Biped, n_vertices)?;
    let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default())?;
    let pose = HandlePose::from_moves(&character.mesh, &handles, &waving(&character))?;
    Ok(Model { character, handles, pose })
}

impl Model {
    fn editor(&self, band: usize) -> anyhow::Result<SurfaceEditor> {
        let lipman = LipmanParams {
            laplacian: LaplacianKind::Umbrella,
            band,
            frames: Frames::SmoothSolve,
            ..LipmanParams::default()
        };
        let params = EditParams { method: Method::Lipman, lipman, ..EditParams::default() };
        Ok(SurfaceEditor::new(&self.character.mesh, &self.handles, &params, &mut Warnings::default())?)
    }

    fn frame_ms(&self, editor: &SurfaceEditor) -> f64 {
        let mut out = self.character.mesh.positions().to_vec();
        time(9, || drop(editor.solve(&self.pose, &mut out)))
    }
}

/// A row: what, milliseconds, and Hansen's seconds.
type Row = (String, f64, f64);

fn print(title: &str, rows: &[Row]) {
    println!("\n{title}\n{:<44}{:>10}{:>9}{:>12}{:>15}", "", "ms", "ratio", "Hansen ms", "Hansen ratio");
    let Some(first) = rows.first() else { return };
    for (what, ms, seconds) in rows {
        println!(
            "{what:<44}{ms:>10.3}{:>9.3}{:>12.1}{:>15.3}",
            ms / first.1,
            seconds * 1e3,
            seconds / first.2
        );
    }
}

/// Print the tables.
pub fn run() -> anyhow::Result<()> {
    let whole = model(12_770)?;
    let mut rows: Vec<Row> = Vec::new();
    for (band, name, thesis) in [
        (1000, "all handle vertices", 0.244),
        (3, "band of 3", 0.095),
        (2, "band of 2", 0.084),
        (1, "band of 1", 0.069),
    ] {
        let editor = whole.editor(band)?;
        let [m, n] = editor.system_size().unwrap_or_default();
        rows.push((format!("{name}, {n} x {m}"), whole.frame_ms(&editor), thesis));
    }
    print("Table 6.1: frame times by width of the band", &rows);
    print("Table 6.2: normals", &normals(&whole)?);
    print("Table 9.3: preparation, step by step (2138 vertices)", &steps(&model(2_138)?)?);
    let (mut prepare, mut frames) = (Vec::new(), Vec::new());
    for (n, prepared, frame) in
        [(2_138, 0.09, 0.040), (10_600, 0.52, 0.183), (17_300, 1.041, 0.30), (45_000, 3.45, 0.826)]
    {
        let model = model(n)?;
        let editor = model.editor(2)?;
        let [m, k] = editor.system_size().unwrap_or_default();
        let name = format!("{n} vertices, {k} x {m}");
        prepare.push((name.clone(), time(3, || drop(model.editor(2))), prepared));
        frames.push((name, model.frame_ms(&editor), frame));
    }
    print("Table 9.4: preparation by size", &prepare);
    print("Table 9.5: one deformation by size", &frames);
    Ok(())
}

fn normals(model: &Model) -> anyhow::Result<Vec<Row>> {
    let editor = model.editor(2)?;
    let mesh = &model.character.mesh;
    let rest = compute_vertex_normals(mesh.positions(), mesh.faces());
    let (mut out, mut turned) = (mesh.positions().to_vec(), rest.clone());
    let none = model.frame_ms(&editor);
    let computed = time(9, || {
        drop(editor.solve(&model.pose, &mut out));
        turned = compute_vertex_normals(&out, mesh.faces());
    });
    let carried = time(9, || drop(editor.solve_with_normals(&model.pose, &rest, &mut out, &mut turned)));
    Ok(vec![
        ("no normals".into(), none, 0.088),
        ("all normals computed".into(), computed, 0.193),
        ("all normals turned".into(), carried, 0.095),
    ])
}

/// The same steps on a matrix over all vertices, since ours are interleaved.
fn steps(model: &Model) -> anyhow::Result<Vec<Row>> {
    let mesh = &model.character.mesh;
    let adjacency = Adjacency::new(mesh);
    let held: Vec<f64> = (0..mesh.n_vertices()).map(|v| model.handles.weight(v)).collect();
    let create = time(9, || drop(build_laplacian(mesh, &adjacency, LaplacianKind::Umbrella)));
    let l = build_laplacian(mesh, &adjacency, LaplacianKind::Umbrella);
    let transpose = time(9, || drop(l.transpose()));
    let multiply = time(9, || drop(l.gram())) - transpose;
    let normal = l.gram().add_diagonal(&held);
    let factor = time(9, || drop(Cholesky::<f64>::new(&normal)));
    Ok(vec![
        ("create L".into(), create, 0.0097),
        ("transpose L".into(), transpose, 0.001),
        ("multiply".into(), multiply, 0.021),
        ("factorise".into(), factor, 0.025),
        ("prepare in all".into(), time(9, || drop(model.editor(2))), 0.090),
    ])
}
