use super::*;
use clarabel::{
    algebra::CscMatrix,
    solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT},
};

fn project(examples: &[Vec<f64>], pose: &[f64], projection: Projection) -> Vec<f64> {
    let params = ProjectionParams { projection, ..ProjectionParams::default() };
    let solver = ProjectionSolver::new(examples, &params).unwrap();
    let mut state = ProjectionState::default();
    assert!(solver.solve(pose, &mut state).unwrap().converged);
    state.weights
}

#[test]
fn between_two_examples_all_projections_agree() {
    let examples = [vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 1.0]];
    for projection in [Projection::Linear, Projection::Positive, Projection::L1(0.1)] {
        let weights = project(&examples, &[0.25, 0.3, 1.0], projection);
        assert!(
            (weights[1] - 0.25).abs() < 1e-4 && (weights[0] - 0.75).abs() < 1e-4,
            "{projection:?} {weights:?}"
        );
    }
}

#[test]
fn beyond_the_examples_the_price_decides() {
    // At 2 on a line from 0 to 1: w₁ = 2 without a price, 1 if negative weights are forbidden. In between, the gradient
    // of w₀ is ½·2(w₁ − 2) … so that w₁ = 2 − λ/2 in units of the squared distance.
    let examples = [vec![0.0], vec![1.0]];
    let at = |projection| project(&examples, &[2.0], projection)[1];
    assert!((at(Projection::Linear) - 2.0).abs() < 1e-3);
    assert!((at(Projection::Positive) - 1.0).abs() < 1e-9);
    // The mean square of the centred examples is ¼: a share of 2 is λ = ½.
    let half = at(Projection::L1(2.0));
    assert!((half - 1.5).abs() < 1e-3, "{half}");
    assert!((at(Projection::L1(100.0)) - 1.0).abs() < 1e-9);
}

#[test]
fn equal_examples_share_and_one_example_takes_all() {
    let alike = [vec![1.0, 2.0], vec![1.0, 2.0], vec![3.0, 2.0]];
    for projection in [Projection::Linear, Projection::Positive, Projection::default()] {
        let weights = project(&alike, &[1.0, 2.0], projection);
        assert!((weights[0] - weights[1]).abs() < 1e-6 && weights[2].abs() < 1e-3, "{weights:?}");
        assert_eq!(project(&alike[..1], &[9.0, 9.0], projection), [1.0]);
    }
}

#[test]
fn a_shift_of_everything_changes_nothing() {
    let mut random = Random(5);
    let examples: Vec<Vec<f64>> = (0..6).map(|_| (0..12).map(|_| random.next()).collect()).collect();
    let pose: Vec<f64> = (0..12).map(|_| random.next()).collect();
    let shift = |pose: &Vec<f64>| pose.iter().map(|v| v + 7.0).collect::<Vec<f64>>();
    let shifted: Vec<Vec<f64>> = examples.iter().map(shift).collect();
    for projection in [Projection::Linear, Projection::Positive, Projection::default()] {
        let (a, b) = (project(&examples, &pose, projection), project(&shifted, &shift(&pose), projection));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let default = ProjectionParams::default();
    let new =
        |examples: &[Vec<f64>], params: &ProjectionParams| ProjectionSolver::new(examples, params).err();
    assert_eq!(new(&[], &default), Some(PuppetError::NoPairs));
    let uneven = [vec![1.0], vec![1.0, 2.0]];
    assert_eq!(new(&uneven, &default), Some(PuppetError::Length { pair: 1, expected: 1, actual: 2 }));
    assert!(matches!(new(&[vec![f64::NAN]], &default), Some(PuppetError::NonFinite { index: 0, .. })));
    let bad = ProjectionParams { projection: Projection::L1(-1.0), ..default };
    assert!(matches!(new(&[vec![1.0]], &bad), Some(PuppetError::Parameter { name: "lambda", .. })));
    let bad = ProjectionParams { ridge: 0.0, ..default };
    assert!(matches!(new(&[vec![1.0]], &bad), Some(PuppetError::Parameter { name: "ridge", .. })));
    let solver = ProjectionSolver::new(&[vec![1.0]], &default).unwrap();
    let mut state = ProjectionState::default();
    assert!(solver.solve(&[f64::INFINITY], &mut state).is_err());
    assert!(solver.solve(&[1.0, 2.0], &mut state).is_err());
}

/// Examples with repeats, lines and noise, and poses among them or far away.
struct Problem {
    examples: Vec<Vec<f64>>,
    poses: Vec<Vec<f64>>,
}

impl Problem {
    fn new(trial: usize, random: &mut Random) -> Self {
        let (n, d) = (1 + trial % 17, 1 + 3 * (trial % 11));
        let mut examples: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| random.next()).collect()).collect();
        if trial.is_multiple_of(3) && n > 2 {
            examples[1] = examples[0].clone();
        }
        if trial.is_multiple_of(5) && n > 3 {
            examples[2] = examples[0].iter().zip(&examples[3]).map(|(a, b)| 0.5 * (a + b)).collect();
        }
        let mut pose = |far: f64| {
            let near = &examples[trial % n];
            near.iter().map(|v| 0.7 * v + far * random.next()).collect::<Vec<f64>>()
        };
        let poses = vec![examples[0].clone(), pose(0.3), pose(0.3), pose(3.0)];
        Self { examples, poses }
    }
}

/// The same problem, by an interior-point method that shares nothing with ours: weights split into what is positive and
/// what is negative (Sun (2017), eq. 4.9).
fn oracle(examples: &[Vec<f64>], pose: &[f64], params: &ProjectionParams) -> Vec<f64> {
    let (n, d) = (examples.len(), pose.len());
    let mean: Vec<f64> = (0..d).map(|k| examples.iter().map(|e| e[k]).sum::<f64>() / n as f64).collect();
    let centred = |pose: &[f64]| pose.iter().zip(&mean).map(|(v, m)| v - m).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = examples.iter().map(|e| centred(e)).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let trace = rows.iter().map(|r| product(r, r)).sum::<f64>() / n as f64;
    let scale = if trace > 0.0 { trace } else { 1.0 };
    let lambda = params.projection.lambda();
    let n_split = if lambda.is_finite() { 2 * n } else { n };
    let entry = |i: usize, j: usize| {
        let sign = if (i < n) == (j < n) { 1.0 } else { -1.0 };
        let ridge = if i % n == j % n { params.ridge * scale } else { 0.0 };
        sign * (product(&rows[i % n], &rows[j % n]) + ridge)
    };
    let (mut columns, mut at, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n_split {
        for i in 0..=j {
            at.push(i);
            values.push(entry(i, j));
        }
        columns.push(at.len());
    }
    let quadratic = CscMatrix::new(n_split, n_split, columns, at, values);
    let (mut columns, mut at, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n_split {
        at.extend([0, 1 + j]);
        values.extend([if j < n { 1.0 } else { -1.0 }, -1.0]);
        columns.push(at.len());
    }
    let constraints = CscMatrix::new(1 + n_split, n_split, columns, at, values);
    let b = centred(pose);
    let linear: Vec<f64> = (0..n_split)
        .map(|i| match i < n {
            true => -product(&rows[i], &b),
            false => product(&rows[i - n], &b) + lambda * scale,
        })
        .collect();
    let mut sums = vec![0.0; 1 + n_split];
    sums[0] = 1.0;
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-14)
        .tol_gap_rel(1e-14)
        .tol_feas(1e-14)
        .build()
        .unwrap();
    let cones = [ZeroConeT(1), NonnegativeConeT(n_split)];
    let mut solver = DefaultSolver::new(&quadratic, &linear, &constraints, &sums, &cones, settings).unwrap();
    solver.solve();
    let x = &solver.solution.x;
    (0..n).map(|i| if n_split > n { x[i] - x[n + i] } else { x[i] }).collect()
}

/// 25,000 problems, each started from the weights of the one before: the conditions of an optimum hold, and Clarabel
/// finds the same weights within 1e-6. Where it stops some digits before, its answer is polished on the set it found.
#[test]
fn weights_are_those_of_clarabel_on_degenerate_problems() {
    let check = |trials: std::ops::Range<usize>| {
        let mut random = Random(12_345 + trials.start as u64);
        let (mut n_solved, mut n_polished) = (0, 0);
        for trial in trials {
            let problem = Problem::new(trial, &mut random);
            for projection in [Projection::Positive, Projection::L1(0.02), Projection::Linear] {
                let params = ProjectionParams { projection, ridge: [1e-4, 1e-3, 1e-5][trial % 3] };
                let solver = ProjectionSolver::new(&problem.examples, &params).unwrap();
                let mut state = ProjectionState::default();
                for pose in &problem.poses {
                    solver.solve(pose, &mut state).unwrap();
                    n_solved += 1;
                    let wrong = optimality(&problem.examples, pose, &params, &state.weights);
                    assert!(wrong < 1e-8, "trial {trial} {projection:?}: {wrong:e} {:?}", state.weights);
                    let expected = oracle(&problem.examples, pose, &params);
                    let pairs = state.weights.iter().zip(&expected);
                    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    if worst > 1e-6 {
                        let exact = polished(&problem.examples, pose, &params, &expected);
                        let pairs = state.weights.iter().zip(&exact);
                        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(worst < 1e-6, "trial {trial} {projection:?}: {worst:e} {exact:?}");
                        n_polished += 1;
                    }
                }
            }
        }
        [n_solved, n_polished]
    };
    let halves = std::thread::scope(|scope| {
        [0..1_050, 1_050..2_100].map(|trials| scope.spawn(|| check(trials))).map(|half| half.join().unwrap())
    });
    let [n_solved, n_polished] = [0, 1].map(|k| halves.iter().map(|half| half[k]).sum::<usize>());
    assert!(n_solved > 25_000 && 50 * n_polished < n_solved, "{n_polished} of {n_solved} were polished");
}

/// Clarabel's answer made exact: it ends some digits before, where weights of a millionth and none look alike. From its
/// signs, those that turn out wrong are repaired one by one, by elimination and by the conditions of an optimum.
fn polished(examples: &[Vec<f64>], pose: &[f64], params: &ProjectionParams, rough: &[f64]) -> Vec<f64> {
    let n = examples.len();
    let mean: Vec<f64> =
        (0..pose.len()).map(|k| examples.iter().map(|e| e[k]).sum::<f64>() / n as f64).collect();
    let centred = |p: &[f64]| p.iter().zip(&mean).map(|(v, m)| v - m).collect::<Vec<f64>>();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let rows: Vec<Vec<f64>> = examples.iter().map(|e| centred(e)).collect();
    let trace = rows.iter().map(|r| product(r, r)).sum::<f64>() / n as f64;
    let scale = if trace > 0.0 { trace } else { 1.0 };
    let (target, lambda) = (centred(pose), params.projection.lambda());
    let gram =
        |i: usize, j: usize| product(&rows[i], &rows[j]) / scale + if i == j { params.ridge } else { 0.0 };
    let pull: Vec<f64> = rows.iter().map(|row| product(row, &target) / scale).collect();
    let mut sign: Vec<f64> = rough.iter().map(|w| if w.abs() > 1e-6 { w.signum() } else { 0.0 }).collect();
    let mut weights = vec![0.0; n];
    for _ in 0..8 * n + 20 {
        let kept: Vec<usize> = (0..n).filter(|&i| sign[i] != 0.0).collect();
        let price = |i: usize| if sign[i] < 0.0 { lambda } else { 0.0 };
        let row = |&i: &usize| kept.iter().map(|&j| gram(i, j)).chain([-1.0, pull[i] + price(i)]).collect();
        let sum = kept.iter().map(|_| 1.0).chain([0.0, 1.0]).collect();
        let solved = eliminate(kept.iter().map(row).chain([sum]).collect());
        weights.fill(0.0);
        kept.iter().zip(&solved).for_each(|(&i, &w)| weights[i] = w);
        let wrong = |&&i: &&usize| weights[i] * sign[i] < 0.0 && kept.len() > 1;
        if let Some(&worst) =
            kept.iter().filter(wrong).max_by(|&&a, &&b| weights[a].abs().total_cmp(&weights[b].abs()))
        {
            sign[worst] = 0.0;
            continue;
        }
        let mu = solved[kept.len()];
        let slope = |i: usize| (0..n).map(|j| gram(i, j) * weights[j]).sum::<f64>() - pull[i] - mu;
        let gain = |i: usize| (-slope(i)).max(slope(i) - lambda);
        let outside = (0..n).filter(|&i| sign[i] == 0.0 && gain(i) > 1e-11);
        let Some(best) = outside.max_by(|&a, &b| gain(a).total_cmp(&gain(b))) else { break };
        sign[best] = if slope(best) < 0.0 { 1.0 } else { -1.0 };
    }
    weights
}

/// Gaussian elimination with pivots by column; the last entry of a row is its right side.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for c in 0..n {
        let best = (c..n).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs())).unwrap();
        rows.swap(c, best);
        for r in (0..n).filter(|&r| r != c) {
            let factor = rows[r][c] / rows[c][c];
            for k in c..=n {
                rows[r][k] -= factor * rows[c][k];
            }
        }
    }
    (0..n).map(|r| rows[r][n] / rows[r][r]).collect()
}

/// Kriging: examples are met, weights sum to one, and between two examples half-way both count alike.
#[test]
fn likeness_meets_examples() {
    let mut random = Random(3);
    let examples: Vec<Vec<f64>> = (0..9).map(|_| (0..12).map(|_| random.next()).collect()).collect();
    for (at, example) in examples.iter().enumerate() {
        let weights = project(&examples, example, Projection::Radial);
        assert!((weights[at] - 1.0).abs() < 1e-2, "{at}: {weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let two = [vec![0.0, 0.0], vec![1.0, 0.0]];
    let weights = project(&two, &[0.5, 7.0], Projection::Radial);
    assert!((weights[0] - 0.5).abs() < 1e-9, "{weights:?}");
    // Far beyond, it does not run away as a plane does.
    let far = project(&two, &[50.0, 0.0], Projection::Radial);
    assert!(far[1] < 1.1, "{far:?}");
    let alike = [vec![1.0, 2.0], vec![1.0, 2.0], vec![3.0, 2.0]];
    let weights = project(&alike, &[1.0, 2.0], Projection::Radial);
    assert!((weights[0] - weights[1]).abs() < 1e-6 && weights[2].abs() < 1e-2, "{weights:?}");
}

/// A state that served other examples gives what a new one does.
#[test]
fn a_state_of_other_examples_is_not_trusted() {
    let mut random = Random(8);
    let mut poses =
        |n: usize| (0..n).map(|_| (0..12).map(|_| random.next()).collect()).collect::<Vec<Vec<f64>>>();
    let (a, b, pose) = (poses(7), poses(7), poses(1));
    let params = ProjectionParams::default();
    let [a, b] = [a, b].map(|examples| ProjectionSolver::new(&examples, &params).unwrap());
    let (mut warm, mut cold) = (ProjectionState::default(), ProjectionState::default());
    a.solve(&pose[0], &mut warm).unwrap();
    b.solve(&pose[0], &mut warm).unwrap();
    b.solve(&pose[0], &mut cold).unwrap();
    assert!(warm.weights.iter().zip(&cold.weights).all(|(a, b)| (a - b).abs() < 1e-9));
}

/// By how much the conditions of an optimum are missed, relative to the problem.
fn optimality(examples: &[Vec<f64>], pose: &[f64], params: &ProjectionParams, w: &[f64]) -> f64 {
    let n = examples.len();
    let d = pose.len();
    let mean: Vec<f64> = (0..d).map(|k| examples.iter().map(|e| e[k]).sum::<f64>() / n as f64).collect();
    let blend: Vec<f64> =
        (0..d).map(|k| w.iter().zip(examples).map(|(w, e)| w * (e[k] - mean[k])).sum::<f64>()).collect();
    let square = |e: &Vec<f64>| (0..d).map(|k| (e[k] - mean[k]).powi(2)).sum::<f64>();
    let trace = examples.iter().map(square).sum::<f64>() / n as f64;
    let scale = if trace > 0.0 { trace } else { 1.0 };
    let gradient = |i: usize| {
        let fit: f64 = (0..d).map(|k| (blend[k] - pose[k] + mean[k]) * (examples[i][k] - mean[k])).sum();
        (fit + params.ridge * scale * w[i]) / scale
    };
    let lambda = params.projection.lambda();
    let positive: Vec<usize> = (0..n).filter(|&i| w[i] > 0.0).collect();
    let mu = positive.iter().map(|&i| gradient(i)).sum::<f64>() / positive.len() as f64;
    let mut wrong = (w.iter().sum::<f64>() - 1.0).abs();
    for i in 0..n {
        let g = gradient(i) - mu;
        wrong = wrong.max(match w[i] {
            w if w > 0.0 => g.abs(),
            w if w < 0.0 => (g - lambda).abs(),
            _ => (-g).max(g - lambda),
        });
    }
    // Poses far away have large gradients, and rounding with them.
    let size = pose.iter().zip(&mean).map(|(v, m)| (v - m).powi(2)).sum::<f64>() / scale;
    wrong / (1.0 + size)
}
