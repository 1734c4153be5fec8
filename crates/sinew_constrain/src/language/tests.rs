use super::*;
use proptest::prelude::*;

/// All forms' examples, as one text.
fn examples() -> String {
    VERBS.iter().flat_map(|verb| verb.forms).map(|form| format!("{}\n", form.example)).collect()
}

#[test]
fn every_example_is_read_as_its_own_form() {
    for form in VERBS.iter().flat_map(|verb| verb.forms) {
        let (script, diagnostics) = parse(form.example);
        assert_eq!(diagnostics, [], "{}", form.example);
        match form.id {
            FormId::Case => assert_eq!(script.cases[0].why, "right foot on the step"),
            id => assert_eq!(script.statements[0].form.id, id, "{}", form.example),
        }
    }
}

#[test]
fn where_a_line_stands_does_not_change_what_it_says() {
    for form in VERBS.iter().flat_map(|verb| verb.forms) {
        let moved = format!("\n# why\n   {}", form.example);
        assert_eq!(parse(&moved).0, parse(form.example).0, "{}", form.example);
    }
}

#[test]
fn values_are_read_with_their_units() {
    let number = |text: &str| match &parse(&format!("number a = {text}")).0.statements[0].arguments[1] {
        Argument::Expression(Expression { term: Term::Number(value, unit), .. }) => (*value, *unit),
        other => panic!("{other:?}"),
    };
    assert_eq!(number("40 cm"), (0.4, Some(Dimension::LENGTH)));
    assert_eq!(number("1.5e1mm"), (0.015, Some(Dimension::LENGTH)));
    assert_eq!(number("180 deg"), (std::f64::consts::PI, Some(Dimension::ANGLE)));
    assert_eq!(number("50 %"), (0.5, Some(Dimension::NUMBER)));
    assert_eq!(number("7"), (7.0, None));
    assert_eq!(number("12 m/s2"), (12.0, Some(Dimension { time: -2, ..Dimension::LENGTH })));
    let (script, _) = parse("range K.rx in -10 .. 150 deg");
    let Argument::Range(low, high) = &script.statements[0].arguments[1] else { panic!() };
    assert_eq!(high.term, Term::Number(150f64.to_radians(), Some(Dimension::ANGLE)));
    let Term::Negative(low) = &low.term else { panic!() };
    assert_eq!(low.term, Term::Number(10f64.to_radians(), Some(Dimension::ANGLE)));
}

#[test]
fn precedence_is_that_of_school() {
    let tree = |text: &str| parse(&format!("{text} = 0")).0.statements[0].arguments[0].clone();
    assert_eq!(tree("a + b * c"), tree("a + (b * c)"));
    assert_eq!(tree("a - b - c"), tree("(a - b) - c"));
    assert_eq!(tree("-a ^ 2"), tree("-(a ^ 2)"));
    assert_eq!(tree("a * b ^ 2 / c"), tree("(a * (b ^ 2)) / c"));
    assert_ne!(tree("a - b - c"), tree("a - (b - c)"));
}

#[test]
fn suffixes_are_read() {
    let (script, diagnostics) =
        parse("pin A to B weight 2 soft 1cm priority 3 during 4..9 fade 2 when contact(A) always");
    assert_eq!(diagnostics, []);
    let suffixes = &script.statements[0].suffixes;
    assert!(suffixes.always && suffixes.contact.is_some() && suffixes.during.is_some());
    assert_eq!(suffixes.soft.as_ref().unwrap().term, Term::Number(0.01, Some(Dimension::LENGTH)));
}

#[test]
fn what_is_wrong_is_reported_with_its_place() {
    let bad = [
        ("pni FootR to Step", "1:1: unknown verb `pni`; did you mean `pin`?"),
        ("pin FootR at Step", "1:11: expected `to`, found `at`; write: pin POINT to POINT"),
        ("pin FootR to", "1:13: expected a point, found the end of the line"),
        ("\n\n  aim A -> along C", "3:12: expected a point, found `along`"),
        ("distance A B < 4", "1:14: `<` is not used; write `<=`"),
        ("distance A B = 4 wieght 2", "unknown suffix `wieght`; did you mean `weight`?"),
        ("range A.rx in 0 150", "expected `..`, found `150`"),
        ("free Root: tx rw", "expected some of tx ty tz rx ry rz, found `rw`"),
        ("pin A to B weight 1 weight 2", "`weight` is given twice"),
        ("pin \"A to B", "this quote has no end"),
        ("dot(A, B = 0", "expected `)`, found `=`"),
        ("A + ; = 0", "`;` is not expected here"),
        ("A B", "a line begins with a verb"),
        ("point p = (1, 2) cm", "expected `,` and a third coordinate"),
        ("number n = 1e999", "too large a number"),
        ("case 1 2 3", "expected a number and a reason"),
        ("use skeleton skel", "expected text in quotes"),
        ("plane P = through A normal B -> C weight 3", "expected the end of the line"),
    ];
    for (text, part) in bad {
        let (_, diagnostics) = parse(text);
        assert_eq!(diagnostics.len(), 1, "{text}");
        assert!(diagnostics[0].to_string().contains(part), "{text}: {}", diagnostics[0]);
    }
    let deep = format!("{}1{} = 0", "(".repeat(500), ")".repeat(500));
    assert!(parse(&deep).1[0].message.contains("parentheses"));
    let minus = format!("{}1 = 0", "-".repeat(100_000));
    assert_eq!(parse(&minus).1.len(), 1);
}

#[test]
fn one_bad_line_does_not_hide_the_others() {
    let (script, diagnostics) = parse("pin A to B\npin C\npin D to E\n???\n");
    assert_eq!((script.statements.len(), diagnostics.len()), (2, 2));
    assert_eq!(diagnostics[1].span.line, 4);
}

#[test]
fn names_of_other_programs_are_read() {
    let (script, diagnostics) =
        parse("pin mixamorig:Hips to upper_arm.L\npin \"Bip01 L Thigh\" to Ärmel_2\nfree Root: tx");
    assert_eq!(diagnostics, []);
    let Argument::Expression(name) = &script.statements[1].arguments[0] else { panic!() };
    assert_eq!(name.term, Term::Name("Bip01 L Thigh".into()));
}

#[test]
fn texts_are_written_evenly() {
    let text = "case 1   \"why\"   # because\npin FootR   to  StepMarker\n\n\n\ndistance A B=-40cm\n  a*( b-c )^2>=  - 3 deg\nlimit acceleration( Root )<=12 m / s2\nfree Root :tx ty\n#note\n";
    let expected = "case 1 \"why\"  # because\n  pin FootR to StepMarker\n\ndistance A B = -40 cm\na * (b - c)^2 >= -3 deg\nlimit acceleration(Root) <= 12 m/s2\nfree Root: tx ty\n# note\n";
    assert_eq!(format(text), expected);
    // A sign and a comparison are not run together into an arrow.
    assert_eq!(format("a = - >= 4"), "a = - >= 4\n");
}

#[test]
fn formatting_keeps_what_examples_say() {
    let text = examples();
    assert_eq!(parse(&format(&text)).0, parse(&text).0);
}

proptest! {
    #[test]
    fn any_text_is_read_and_formatted(text in "[ -~\n\"äé\u{3000}]{0,200}") {
        let (script, _) = parse(&text);
        let tidy = format(&text);
        prop_assert_eq!(&format(&tidy), &tidy);
        prop_assert_eq!(parse(&tidy).0, script);
    }

    #[test]
    fn shuffled_words_are_read_and_formatted(words in prop::collection::vec(prop::sample::select(vec![
        "pin", "to", "aim", "->", "A", "B.rx", "=", "<=", ">=", "(", ")", ",", "-", "+", "*", "/", "^", "12", "..", "cm", "deg", "m",
        "weight", "during", "case", "\"x\"", "\n", "dot(", "s2", ":", "free", "%", "put", "on", "distance",
    ]), 0..40)) {
        let text = words.join(" ");
        let (script, _) = parse(&text);
        let tidy = format(&text);
        prop_assert_eq!(&format(&tidy), &tidy);
        prop_assert_eq!(parse(&tidy).0, script, "{}", tidy);
    }
}

#[test]
fn names_are_exchanged_in_lines_but_not_in_comments() {
    let text = "pin Cup to (0, Cup.y, 0) # Cup\ncase 1 \"Cup\"\naim Cup2 -> \"Cup\" along Cup -> A\n";
    let named = rename(text, "Cup", "Bowl");
    assert_eq!(named, "pin Bowl to (0, Bowl.y, 0) # Cup\ncase 1 \"Cup\"\naim Cup2 -> Bowl along Bowl -> A\n");
    assert_eq!(rename("pin a to Cup", "Cup", "to"), "pin a to \"to\"");
    assert!(
        is_plain_name("hand.L")
            && !is_plain_name("left hand")
            && !is_plain_name("pin")
            && !is_plain_name("by")
    );
}
