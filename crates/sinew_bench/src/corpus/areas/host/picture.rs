//! Pictures by three.js: one browser for the whole run, behind `tests/judges/draw.mjs`.

use super::super::super::{draw::Sheet, lab::Lab};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::Duration,
};

/// Side of a picture in pixels.
const SIZE: usize = 256;
/// Seconds a picture may take, and the first one, for which a browser starts.
const SECONDS: u64 = 60;
/// Failures of the painter before pictures are abandoned.
const FAILURES: usize = 3;

/// The painter, once it is needed.
static PAINTER: Mutex<(Option<Painter>, usize)> = Mutex::new((None, 0));

struct Painter {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// Pixels, three bytes each.
pub struct Picture {
    size: usize,
    pixels: Vec<u8>,
}

/// Draw files at rest, all with the camera of the first. An error says why there are no pictures at all.
pub fn draw(files: &[&Path], lab: &Lab) -> Result<Vec<Result<Picture, String>>, String> {
    let out: Vec<PathBuf> = (0..files.len()).map(|k| lab.file(&format!("picture-{k}.png"))).collect();
    let job = json!({ "files": files, "out": out, "size": SIZE });
    let mut state = PAINTER.lock().unwrap_or_else(|e| e.into_inner());
    if state.1 >= FAILURES {
        return Err("the painter failed too often".to_owned());
    }
    let answer = ask(&mut state.0, &job, files.len());
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => {
            if let Some(mut painter) = state.0.take() {
                let _ = painter.child.kill();
                let _ = painter.child.wait();
            }
            state.1 += 1;
            return Err(why);
        }
    };
    drop(state);
    let faults = answer["faults"].as_array().cloned().unwrap_or_default();
    let picture = |(path, fault): (&PathBuf, &Value)| match fault.as_str() {
        Some(fault) => Err(fault.to_owned()),
        None => Picture::read(path).map_err(|error| format!("{error:#}")),
    };
    Ok(out.iter().zip(&faults).map(picture).collect())
}

fn ask(painter: &mut Option<Painter>, job: &Value, n_files: usize) -> Result<Value, String> {
    if painter.is_none() {
        *painter = Some(Painter::start()?);
    }
    let Some(painter) = painter else { return Err("there is no painter".to_owned()) };
    writeln!(painter.input, "{job}").map_err(|error| format!("the painter has ended: {error}"))?;
    let limit = Duration::from_secs(SECONDS * (n_files as u64 + 1));
    let line = painter.lines.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => "the painter took too long".to_owned(),
        RecvTimeoutError::Disconnected => {
            "the painter ended; it needs node, Chromium and three.js".to_owned()
        }
    })?;
    serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))
}

impl Painter {
    fn start() -> Result<Self, String> {
        let [script, tools] = super::tools();
        let three = tools.join("npm/node_modules/three");
        if !three.is_dir() {
            return Err(format!("{} is not there; tests/judges/install brings it", three.display()));
        }
        let mut command = Command::new("node");
        command.arg(script).env("SINEW_TOOLS", tools);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("node: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the painter has no input or output".to_owned());
        };
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines })
    }
}

impl Picture {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().unwrap_or(0)];
        let info = reader.next_frame(&mut bytes)?;
        let samples = info.color_type.samples();
        anyhow::ensure!(samples >= 3 && info.width == info.height, "a picture of another shape");
        let pixels = bytes[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]);
        Ok(Self { size: info.width as usize, pixels: pixels.collect() })
    }

    /// Whether it shows nothing but the background, which a corner shows.
    pub fn is_blank(&self) -> bool {
        self.pixels.chunks_exact(3).all(|pixel| pixel == &self.pixels[..3])
    }

    pub fn show(&self, title: &str, sheet: &mut Sheet) {
        sheet.add_picture(title, self.size, &self.pixels);
    }

    /// Difference of each pixel, 0 to 1; none where both show the background.
    fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Option<f64>> + 'a {
        let background = &self.pixels[..3];
        let pairs = self.pixels.chunks_exact(3).zip(other.pixels.chunks_exact(3));
        pairs.map(move |(a, b)| {
            let sum: f64 = a.iter().zip(b).map(|(x, y)| f64::from(x.abs_diff(*y))).sum();
            (a != background || b != background).then_some(sum / (3.0 * 255.0))
        })
    }

    /// Mean difference over the pixels that show something in either.
    pub fn difference(&self, other: &Self) -> f64 {
        if self.size != other.size {
            return 1.0;
        }
        let all: Vec<f64> = self.differences(other).flatten().collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    /// This picture in grey, red where another one differs.
    pub fn changes(&self, other: &Self) -> Self {
        let color = |(pixel, difference): (&[u8], Option<f64>)| {
            let grey = pixel.iter().map(|x| u32::from(*x)).sum::<u32>() as f64 / 6.0 + 100.0;
            let red = (difference.unwrap_or(0.0) * 10.0).min(1.0);
            [grey + (230.0 - grey) * red, grey * (1.0 - red), grey * (1.0 - red)]
                .map(|x| x.clamp(0.0, 255.0) as u8)
        };
        let pixels = self.pixels.chunks_exact(3).zip(self.differences(other)).flat_map(color).collect();
        Self { size: self.size, pixels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_does_not_dilute_a_difference() {
        let picture = |color: u8| {
            let mut pixels = vec![128; 16 * 3];
            pixels[15..18].fill(color);
            Picture { size: 4, pixels }
        };
        assert!((picture(0).difference(&picture(255)) - 1.0).abs() < 1e-12);
        assert!((picture(0).difference(&picture(51)) - 0.2).abs() < 1e-12);
        assert_eq!(picture(7).difference(&picture(7)), 0.0);
        assert!(picture(128).is_blank() && !picture(0).is_blank());
    }
}
