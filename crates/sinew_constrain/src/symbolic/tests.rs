use super::{arena::Expr, *};
use proptest::prelude::*;

/// Build a random expression over three symbols from a list of bytes.
fn build(arena: &mut Arena, bytes: &[u8]) -> Expr {
    let mut stack: Vec<Expr> = (0..3).map(|i| arena.symbol(i)).collect();
    for &byte in bytes {
        let a = stack[byte as usize % stack.len()];
        let b = stack[(byte / 16) as usize % stack.len()];
        let next = match byte % 13 {
            0 => arena.add(a, b),
            1 => arena.sub(a, b),
            2 | 3 => arena.mul(a, b),
            4 => {
                let square = arena.mul(b, b);
                let one = arena.number(1.5);
                let positive = arena.add(square, one);
                arena.div(a, positive)
            }
            5 => arena.neg(a),
            6 => arena.sin(a),
            7 => arena.cos(a),
            8 => {
                let square = arena.mul(a, a);
                let one = arena.number(1.0);
                let positive = arena.add(square, one);
                arena.sqrt(positive)
            }
            9 => arena.number(f64::from(byte) / 50.0 - 2.0),
            10 => {
                let half = arena.number(0.25);
                let small = arena.sin(a);
                let small = arena.mul(half, small);
                arena.tan(small)
            }
            11 => {
                let two = arena.number(2.5);
                let away = arena.sin(b);
                let away = arena.add(away, two);
                arena.atan2(a, away)
            }
            _ => {
                let two = arena.number(2.5);
                let away = arena.sin(a);
                let away = arena.add(away, two);
                arena.power(away, -1.5)
            }
        };
        stack.push(next);
    }
    // Values that explode say nothing about derivatives.
    let last = stack[stack.len() - 1];
    arena.sin(last)
}

proptest! {
    #[test]
    fn derivatives_agree_with_differences(bytes in prop::collection::vec(any::<u8>(), 0..14), at in prop::array::uniform3(-1.0..1.0f64)) {
        let mut arena = Arena::default();
        let expr = build(&mut arena, &bytes);
        let mut bound: f64 = 1.0;
        for symbol in 0..3 {
            let derivative = arena.differentiate(expr, symbol);
            let exact = arena.evaluate(derivative, &at);
            let value = |x: f64| { let mut at = at; at[symbol] += x; arena.evaluate(expr, &at) };
            let difference = |h: f64| (value(h) - value(-h)) / (2.0 * h);
            // Differences are only as good as they agree with themselves.
            let (fine, coarse) = (difference(1e-5), difference(2e-5));
            bound = bound.max(exact.abs());
            prop_assert!((exact - fine).abs() < 1e-6 * bound + 4.0 * (fine - coarse).abs(), "{exact} {fine}");
        }
    }

    #[test]
    fn tapes_compute_what_expressions_mean(bytes in prop::collection::vec(any::<u8>(), 0..30), at in prop::array::uniform3(-1.0..1.0f64)) {
        let mut arena = Arena::default();
        let expr = build(&mut arena, &bytes);
        let first = arena.symbol(1);
        let tape = Tape::new(&arena, 3, &[expr, first]);
        let mut slots = tape.slots();
        slots[..3].copy_from_slice(&at);
        tape.run(&mut slots);
        let expected = arena.evaluate(expr, &at);
        prop_assert!(slots[tape.outputs[0] as usize] == expected || expected.is_nan());
        prop_assert_eq!(slots[tape.outputs[1] as usize], at[1]);
    }

    #[test]
    fn equal_expressions_are_one(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
        let mut arena = Arena::default();
        let (a, b) = (build(&mut arena, &bytes), build(&mut arena, &bytes));
        prop_assert_eq!(a, b);
        let zero = arena.sub(a, b);
        prop_assert_eq!(arena.as_number(zero), Some(0.0));
    }
}

fn xyz(symbol: usize) -> String {
    ["x", "y", "z"][symbol].to_owned()
}

#[test]
fn the_thesis_example_prints_and_derives() {
    // Abdelhay (2008), §3.6.3: (Y*33) + cos(X), and d(x*y + y)/dx = y.
    let mut arena = Arena::default();
    let (x, y) = (arena.symbol(0), arena.symbol(1));
    let n = arena.number(33.0);
    let (product, cosine) = (arena.mul(y, n), arena.cos(x));
    let sum = arena.add(product, cosine);
    assert_eq!(arena.print(sum, &xyz), "33*y + cos(x)");
    let xy = arena.mul(x, y);
    let expr = arena.add(xy, y);
    assert_eq!(arena.differentiate(expr, 0), y);
    let by_y = arena.differentiate(expr, 1);
    assert_eq!(arena.print(by_y, &xyz), "x + 1");
}

#[test]
fn what_is_simple_is_simplified() {
    let mut arena = Arena::default();
    let (x, y) = (arena.symbol(0), arena.symbol(1));
    let (zero, one) = (arena.number(0.0), arena.number(1.0));
    assert_eq!(arena.mul(x, zero), zero);
    assert_eq!(arena.mul(one, x), x);
    assert_eq!(arena.add(x, zero), x);
    assert_eq!(arena.div(x, x), one);
    let (a, b) = (arena.add(x, y), arena.add(y, x));
    assert_eq!(a, b);
    let minus = arena.neg(x);
    assert_eq!(arena.neg(minus), x);
    assert_eq!(arena.add(x, minus), zero);
    let (s, c) = (arena.sin(x), arena.cos(x));
    let (ss, cc) = (arena.mul(s, s), arena.mul(c, c));
    assert_eq!(arena.add(cc, ss), one);
    let root = arena.sqrt(y);
    assert_eq!(arena.mul(root, root), y);
    let two = arena.number(2.0);
    let (double, again) = (arena.mul(two, x), arena.add(x, x));
    assert_eq!(double, again);
    let four = arena.mul(two, double);
    assert_eq!(arena.print(four, &xyz), "4*x");
}

#[test]
fn printing_names_what_is_shared() {
    let mut arena = Arena::default();
    let (x, y) = (arena.symbol(0), arena.symbol(1));
    let sum = arena.add(x, y);
    let square = arena.mul(sum, sum);
    let sine = arena.sin(sum);
    let product = arena.mul(square, sine);
    let minus = arena.neg(product);
    let mut printer = Printer::new(&arena, &[minus], &xyz);
    let (lines, text) = printer.print(minus);
    assert_eq!(lines, ["t1 = x + y"]);
    assert_eq!(text, "-t1^2*sin(t1)");
    assert_eq!(arena.print(minus, &xyz), "-(x + y)^2*sin(x + y)");
}

#[test]
fn substitution_reaches_every_symbol() {
    let mut arena = Arena::default();
    let (x, y) = (arena.symbol(0), arena.symbol(1));
    let sine = arena.sin(x);
    let expr = arena.mul(sine, y);
    let swapped = arena.substitute(expr, |arena, symbol| arena.symbol(1 - symbol));
    assert_eq!(arena.print(swapped, &xyz), "x*sin(y)");
}
