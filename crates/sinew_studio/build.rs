//! Puts the page where the library embeds it: built by `npm ci` and esbuild on a copy of `web/` in the build folder, only
//! when its sources changed; or as it is in the folder that `SINEW_PAGE` names, without Node.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Output, exit},
};

/// What of `web/` is needed.
const PARTS: [&str; 10] = [
    "package.json",
    "package-lock.json",
    ".npmrc",
    "build.mjs",
    "licenses.mjs",
    "pack.mjs",
    "pose.mjs",
    "tsconfig.json",
    "index.html",
    "src",
];

/// What a page consists of; `src/assets.rs` embeds these.
const FILES: [&str; 10] = [
    "index.html.br",
    "app.js.br",
    "app.css.br",
    "pose.js.br",
    "pose-wasm.js.br",
    "pose.wasm.br",
    "pose-detector.begin.br",
    "pose-lite.end.br",
    "pose-full.end.br",
    "licenses.json.br",
];

const INSTEAD: &str = "or embed a page built elsewhere (there: `node build.mjs DIR` in crates/sinew_studio/web) with \
                       SINEW_PAGE=DIR, or build the command line alone with `--no-default-features`";

fn main() {
    // Asked for when it runs: a build folder that was copied to another checkout must not build the page of the first.
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-env-changed=SINEW_PAGE");
    let page = out.join("page");
    match env::var_os("SINEW_PAGE").filter(|folder| !folder.is_empty()) {
        // From the root of the workspace, where cargo is called; the script itself runs in the folder of its package.
        Some(folder) => take(&manifest.join("../..").join(folder), &page),
        None => build(&manifest.join("web"), &out.join("web"), &page),
    }
}

/// Copy a page that was built elsewhere.
fn take(folder: &Path, page: &Path) {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display();
    if !folder.is_dir() {
        fail(&format!(
            "SINEW_PAGE: {shown} is no folder; `node build.mjs DIR` in crates/sinew_studio/web makes one"
        ));
    }
    let missing: Vec<_> = FILES.into_iter().filter(|name| !folder.join(name).is_file()).collect();
    if !missing.is_empty() {
        fail(&format!(
            "SINEW_PAGE: {shown} is not a page of this version: it lacks {}; make it with `node build.mjs DIR` in \
             crates/sinew_studio/web",
            missing.join(", ")
        ));
    }
    let copied = fs::create_dir_all(page).and_then(|()| {
        FILES.iter().try_for_each(|name| {
            println!("cargo::rerun-if-changed={}", folder.join(name).display());
            fs::copy(folder.join(name), page.join(name)).map(|_| ())
        })
    });
    if let Err(error) = copied {
        fail(&format!("SINEW_PAGE: {shown} cannot be copied: {error}"));
    }
}

fn build(web: &Path, copy: &Path, page: &Path) {
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", web.join(part).display());
    }
    if let Err(error) = copy_parts(web, copy) {
        fail(&format!("the page cannot be copied to {}: {error}", copy.display()));
    }
    // Packages are installed again only if the list of them changed.
    let lock = fs::read(copy.join("package-lock.json")).unwrap_or_default();
    let stamp = copy.join("node_modules/.sinew-lock");
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        install(copy);
        if let Err(error) = fs::write(&stamp, &lock) {
            fail(&format!("{}: {error}", stamp.display()));
        }
    }
    let output = run(copy, "node", &["build.mjs", &page.to_string_lossy()]);
    if !output.status.success() {
        fail(&format!("the studio's page cannot be built: {}", words(&output)));
    }
}

fn install(copy: &Path) {
    // Asked few times only: without a network npm would try for minutes.
    let args = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", "--fetch-retries=1"];
    let output = run(copy, "npm", &args);
    if !output.status.success() {
        fail(&format!(
            "the packages of the studio's page cannot be fetched ({}): that takes Node.js 18 or later and, once, the network; connect, {INSTEAD}",
            words(&output)
        ));
    }
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

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    // On Windows npm is a script, which only the shell finds.
    let mut command = if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", program]);
        shell
    } else {
        Command::new(program)
    };
    // Who asks for a release waits longer for a smaller program.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        command.env("SINEW_PACK", "quick");
    }
    match command.args(args).current_dir(folder).output() {
        Ok(output) => output,
        Err(_) => fail(&format!(
            "the studio's page is built with Node.js 18 or later, of which `{program}` is not installed: install it (Debian: \
             `apt install nodejs npm`, else nodejs.org), {INSTEAD}"
        )),
    }
}

/// What a program said, in one line; npm says first what went wrong, esbuild too.
fn words(output: &Output) -> String {
    let said = [output.stderr.as_slice(), &output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
    lines.join("; ")
}

/// Say why in one line. Cargo ends the build because of it; a script that fails as well would have all it printed shown.
fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(0);
}
