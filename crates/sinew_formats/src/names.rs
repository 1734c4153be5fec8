//! Unique names.

use std::collections::HashMap;

/// Names used so far, with the number that the next one of the same name tries first.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, usize>);

impl Names {
    /// The name, or if it is used already, with the first number from 2 on that is free.
    pub fn unique(&mut self, name: &str) -> String {
        let Some(&first) = self.0.get(name) else {
            self.0.insert(name.to_owned(), 2);
            return name.to_owned();
        };
        let mut count = first;
        let mut found = format!("{name}_{count}");
        while self.0.contains_key(&found) {
            count += 1;
            found = format!("{name}_{count}");
        }
        self.0.insert(name.to_owned(), count + 1);
        self.0.insert(found.clone(), 2);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_however_often_and_in_linear_time() {
        let mut names = Names::default();
        let found = ["a", "a_2", "a", "a", "a_2", ""].map(|name| names.unique(name));
        assert_eq!(found, ["a", "a_2", "a_3", "a_4", "a_2_2", ""]);
        // Quadratic work would take hours here.
        assert_eq!((0..300_000).map(|_| names.unique("b")).last().unwrap(), "b_300000");
    }
}
