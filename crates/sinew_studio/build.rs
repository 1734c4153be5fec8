//! Builds the page: `npm ci` and esbuild on a copy of `web/` in the build folder, only when its sources changed.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, exit},
};

/// What of `web/` is needed.
const PARTS: [&str; 8] = [
    "package.json",
    "package-lock.json",
    ".npmrc",
    "build.mjs",
    "pose.mjs",
    "tsconfig.json",
    "index.html",
    "src",
];

fn main() {
    // Asked for when it runs: a build folder that was copied to another checkout must not build the page of the first.
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("web");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", web.join(part).display());
    }
    let copy = out.join("web");
    if let Err(error) = copy_parts(&web, &copy) {
        fail(&format!("the page cannot be copied to {}: {error}", copy.display()));
    }
    // Packages are installed anew only if the list of them changed.
    let lock = fs::read(copy.join("package-lock.json")).unwrap_or_default();
    let stamp = copy.join("node_modules/.sinew-lock");
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        run(&copy, "npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        if let Err(error) = fs::write(&stamp, &lock) {
            fail(&format!("{}: {error}", stamp.display()));
        }
    }
    let page = out.join("page");
    run(&copy, "node", &["build.mjs", &page.to_string_lossy()]);
}

fn copy_parts(from: &Path, to: &Path) -> io::Result<()> {
    // Files that were deleted must not linger in the copy.
    if to.join("src").exists() {
        fs::remove_dir_all(to.join("src"))?;
    }
    fs::create_dir_all(to)?;
    PARTS.iter().try_for_each(|part| copy_tree(&from.join(part), &to.join(part)))
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))
    })
}

fn run(folder: &Path, program: &str, args: &[&str]) {
    // On Windows npm is a script, which only the shell finds.
    let mut command = if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", program]);
        shell
    } else {
        Command::new(program)
    };
    match command.args(args).current_dir(folder).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let told = [output.stdout, output.stderr].concat();
            fail(&format!(
                "`{program} {}` failed: {}",
                args.join(" "),
                String::from_utf8_lossy(&told).trim()
            ));
        }
        Err(_) => fail(
            "the studio's page is built with Node.js 18 or later, which is not installed: install it (Debian: \
             `apt install nodejs npm`, else nodejs.org), or build the command line alone with \
             `cargo build --release --no-default-features`",
        ),
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1);
}
