//! Sparse solves of surface editing, compared with `faer`'s own and with memory bandwidth.

use crate::measure::{compare, in_pool, print_head, print_row, read_bandwidth, time};
use faer::{
    Conj, MatMut, Par, Side,
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::llt::factor::LltRegularization,
    sparse::{
        SparseColMatRef, SymbolicSparseColMatRef,
        linalg::{SupernodalThreshold, cholesky as sparse},
    },
};
use sinew::geom::{
    linalg::{Cholesky, SparseMatrix},
    measure::largest_error,
    mesh::Adjacency,
    operators::{LaplacianKind, build_cotangent_stiffness, build_laplacian},
    sample::{Sample, build_character},
};

/// Print the table.
pub fn run() -> anyhow::Result<()> {
    print_head();
    for n in [43_000, 100_000] {
        let mesh = build_character(Sample::Biped, n)?.mesh;
        let adjacency = Adjacency::new(&mesh);
        // A fifth of the vertices is held, as by painted handles.
        let held: Vec<f64> = (0..mesh.n_vertices()).map(|i| if i % 500 < 100 { 1.0 } else { 0.0 }).collect();
        let laplacian = build_laplacian(&mesh, &adjacency, LaplacianKind::Umbrella);
        let squared = laplacian.gram().add_diagonal(&held);
        let stiffness = build_cotangent_stiffness(&mesh, &adjacency).add_diagonal(&held);
        let label = |what: &str| format!("{what}, {} k", mesh.n_vertices() / 1000);
        compare_solves::<3>(&label("bi-Laplacian"), &squared)?;
        compare_solves::<6>(&label("bi-Laplacian"), &squared)?;
        compare_solves::<3>(&label("cotangent"), &stiffness)?;
    }
    Ok(())
}

fn compare_solves<const R: usize>(what: &str, a: &SparseMatrix) -> anyhow::Result<()> {
    let n = a.n_rows();
    let ours = Cholesky::<f64>::new(a)?;
    let half = Cholesky::<f32>::new(a)?;
    let peers = [Peer::new(a, true)?, Peer::new(a, false)?];
    let rhs: Vec<[f64; R]> = (0..n).map(|i| std::array::from_fn(|k| ((i + k) % 17) as f64 - 8.0)).collect();
    let mut x = rhs.clone();
    let mut columns = vec![0.0; n * R];
    for threads in [1, 2] {
        // A pass forward and a pass backward; the speed of reading depends on which cache the factor fits into.
        let limit = 2e3 * ours.n_bytes() as f64 / read_bandwidth(ours.n_bytes(), threads);
        for peer in &peers {
            let [ours_ms, peer_ms] = in_pool(threads, || {
                compare(
                    11,
                    || {
                        x.copy_from_slice(&rhs);
                        drop(ours.solve(&mut x));
                    },
                    || peer.solve::<R>(&rhs, &mut columns),
                )
            });
            let errors = (0..n).map(|i| (x[i][0] - columns[i]).abs() / (1.0 + x[i][0].abs()));
            let worst = largest_error(errors);
            anyhow::ensure!(worst < 1e-6, "the contenders disagree by {worst}");
            let kind =
                if peer.supernodal { "faer supernodal, sequential" } else { "faer simplicial, sequential" };
            print_row(&format!("{what}, {R} rhs, {threads} thr"), ours_ms, kind, peer_ms, Some(limit));
        }
    }
    let limit = 2e3 * half.n_bytes() as f64 / read_bandwidth(half.n_bytes(), 1);
    let single = in_pool(1, || {
        time(11, || {
            x.copy_from_slice(&rhs);
            drop(half.solve(&mut x));
        })
    });
    let double = in_pool(1, || {
        time(11, || {
            x.copy_from_slice(&rhs);
            drop(ours.solve(&mut x));
        })
    });
    print_row(&format!("{what}, {R} rhs, f32 factor, 1 thr"), single, "our f64 factor", double, Some(limit));
    let [factor, peer] = compare(3, || drop(Cholesky::<f64>::new(a)), || drop(Peer::new(a, true)));
    print_row(&format!("{what}, factorise"), factor, "faer supernodal", peer, None);
    Ok(())
}

/// faer's factor and faer's solve.
struct Peer {
    supernodal: bool,
    symbolic: sparse::SymbolicCholesky<u32>,
    values: Vec<f64>,
    n: usize,
}

impl Peer {
    fn new(a: &SparseMatrix, supernodal: bool) -> anyhow::Result<Self> {
        let n = a.n_rows();
        let starts: Vec<u32> = a.starts().iter().map(|&s| s as u32).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, a.columns());
        let threshold = if supernodal {
            SupernodalThreshold::FORCE_SUPERNODAL
        } else {
            SupernodalThreshold::FORCE_SIMPLICIAL
        };
        let params = sparse::CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: threshold,
            ..Default::default()
        };
        let order = sparse::SymmetricOrdering::Amd;
        let symbolic = sparse::factorize_symbolic_cholesky(pattern, Side::Lower, order, params)
            .map_err(|e| anyhow::anyhow!("{e:?}"))?;
        let mut values = vec![0.0; symbolic.len_val()];
        let mut memory =
            MemBuffer::new(symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()));
        symbolic
            .factorize_numeric_llt(
                &mut values,
                SparseColMatRef::new(pattern, a.values()),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|e| anyhow::anyhow!("{e:?}"))?;
        Ok(Self { supernodal, symbolic, values, n })
    }

    fn solve<const R: usize>(&self, rhs: &[[f64; R]], columns: &mut [f64]) {
        for (k, column) in columns.chunks_exact_mut(self.n).enumerate() {
            column.iter_mut().zip(rhs).for_each(|(c, row)| *c = row[k]);
        }
        let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(R, Par::Seq));
        sparse::LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(columns, self.n, R),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}
