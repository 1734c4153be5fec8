//! Two commits, each checked out and built beside the other, below `.tools/guard`.
//!
//! Working trees and the target folder stay there, so that the next run builds only what has changed. Both commits share
//! the target folder: what they have in common outside the project is built once.

use crate::places;
use anyhow::{Context, ensure};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// What the bench must have for a commit to be measured.
const HOT: &str = "crates/sinew_bench/src/hot/mod.rs";

/// Where everything is kept.
fn folder() -> PathBuf {
    places::tools("SINEW_GUARD", "guard")
}

fn git(at: &Path) -> Command {
    let mut git = Command::new("git");
    // Set where a hook starts the guard; they would name another repository's folder.
    git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE").arg("-C").arg(at);
    git
}

/// What a command prints; its complaint if it fails.
fn ask(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}", complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The full name of a commit that has hot paths to measure.
pub fn resolve(commit: &str) -> anyhow::Result<String> {
    let project = places::project();
    let named = format!("{commit}^{{commit}}");
    let full = ask(git(project).args(["rev-parse", "--verify", "--quiet", "--end-of-options", &named]))
        .with_context(|| format!("there is no commit {commit:?}"))?;
    let has_hot = ask(git(project).args(["cat-file", "-e", &format!("{full}:{HOT}")])).is_ok();
    ensure!(has_hot, "{commit} is older than the first commit that can be guarded: it has no {HOT}");
    Ok(full)
}

/// Whether there are changes that a commit does not have.
pub fn is_changed() -> bool {
    let changed = ask(git(places::project()).args(["status", "--porcelain", "--untracked-files=no"]));
    changed.is_ok_and(|lines| !lines.is_empty())
}

/// Check a commit out and build its bench; returns the program.
pub fn build(side: &str, commit: &str) -> anyhow::Result<PathBuf> {
    let folder = folder();
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let tree = folder.join(side);
    check_out(places::project(), &tree, commit)?;
    let target = folder.join("target");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--quiet", "-p", "sinew_bench"]);
    let status = cargo.env("CARGO_TARGET_DIR", &target).current_dir(&tree).status()?;
    ensure!(status.success(), "{side}: {commit} does not build");
    // The next build puts its own in the same place.
    let program = folder.join(format!("{side}-bench{}", std::env::consts::EXE_SUFFIX));
    std::fs::copy(
        target.join("release").join(format!("sinew_bench{}", std::env::consts::EXE_SUFFIX)),
        &program,
    )?;
    Ok(program)
}

/// A working tree of a repository at a commit. One that is there is reused, so that files which did not change keep their
/// times; one that an interrupted run left half done is made again.
fn check_out(repository: &Path, tree: &Path, commit: &str) -> anyhow::Result<()> {
    ask(git(repository).args(["worktree", "prune"]))?;
    if is_tree(tree) && ask(git(tree).args(["checkout", "--quiet", "--force", "--detach", commit])).is_ok() {
        return Ok(());
    }
    if tree.exists() {
        std::fs::remove_dir_all(tree).with_context(|| tree.display().to_string())?;
        ask(git(repository).args(["worktree", "prune"]))?;
    }
    let mut add = git(repository);
    add.args(["worktree", "add", "--quiet", "--force", "--detach"]).arg(tree).arg(commit);
    ask(&mut add).map(drop)
}

/// Whether a folder is the top of a working tree, rather than a folder within another one.
fn is_tree(folder: &Path) -> bool {
    let top = folder.is_dir().then(|| ask(git(folder).args(["rev-parse", "--show-toplevel"])));
    top.is_some_and(|top| top.is_ok_and(|top| Path::new(&top) == folder))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A repository with two commits of one file.
    fn repository(root: &Path) -> [String; 2] {
        std::fs::create_dir_all(root).unwrap();
        ask(git(root).args(["init", "--quiet"])).unwrap();
        ["one", "two"].map(|text| {
            std::fs::write(root.join("file"), text).unwrap();
            ask(git(root).args(["add", "."])).unwrap();
            let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
            ask(git(root).args(author).args(["commit", "--quiet", "-m", text])).unwrap();
            ask(git(root).args(["rev-parse", "HEAD"])).unwrap()
        })
    }

    #[test]
    fn trees_are_reused_and_broken_ones_made_again() {
        let folder = std::env::temp_dir().join(format!("sinew-guard-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let folder = folder.canonicalize().unwrap();
        let (root, tree) = (folder.join("root"), folder.join("tree"));
        let [one, two] = repository(&root);
        let is_at = |commit: &str, text: &str| {
            check_out(&root, &tree, commit).unwrap();
            assert_eq!(std::fs::read_to_string(tree.join("file")).unwrap(), text);
            assert_eq!(ask(git(&root).args(["worktree", "list"])).unwrap().lines().count(), 2);
        };
        is_at(&one, "one");
        is_at(&two, "two");
        // Changed by hand; locked by a run that was interrupted; without its link to the repository; half removed; gone.
        std::fs::write(tree.join("file"), "three").unwrap();
        is_at(&two, "two");
        let lock = ask(git(&tree).args(["rev-parse", "--git-path", "index.lock"])).unwrap();
        std::fs::write(tree.join(lock), "").unwrap();
        is_at(&one, "one");
        std::fs::remove_file(tree.join(".git")).unwrap();
        is_at(&two, "two");
        std::fs::remove_dir_all(root.join(".git/worktrees")).unwrap();
        is_at(&one, "one");
        std::fs::remove_dir_all(&tree).unwrap();
        is_at(&two, "two");
        assert!(check_out(&root, &tree, "0123456789012345678901234567890123456789").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
