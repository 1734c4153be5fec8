//! Damage to real files: every reader must give a mesh or an error, never a panic.

use crate::{hostile::READERS, support::data};
use std::path::Path;

/// Bytes of a file that are damaged one by one.
const MAX_LEN: usize = 2_000;
/// Places of a larger file.
const N_PLACES: usize = 300;

const FILES: &[&str] = &[
    "bad/trimesh/cube_compressed.obj",
    "bad/trimesh/negative_indices.obj",
    "bad/trimesh/nancolor.obj",
    "bad/trimesh/singlevn.obj",
    "bad/trimesh/polygonfaces.obj",
    "bad/trimesh/metadata.ply",
    "bad/trimesh/multi.ply",
    "bad/trimesh/mirror.ply",
    "bad/threejs/dolphins_be.ply",
    "bad/trimesh/soup.stl",
    "bad/trimesh/empty.stl",
    "bad/trimesh/comments.off",
    "bad/cgal/mesh_with_colors.off",
    "bad/cgal/cross_quad.off",
    "bad/cgal/degeneracies/existing_flip.off",
    "meshes/libigl-octopus-low.mesh",
    "bvh/cmu/09_01.bvh",
    "bvh/bandai-namco/dataset-1_walk_normal_001.bvh",
    "kinect20/msraction3d/a18_s03_e02_skeleton3D.txt",
    "kinect20/utkinect/joints_s01_e01.txt",
];

/// The beginning of a file, so that damage is tried everywhere in reasonable time.
fn prefix(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.truncate(if path.extension().is_some_and(|e| e == "bvh") { 12_000 } else { 8_000 });
    bytes
}

fn places(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(if n <= MAX_LEN { 1 } else { n / N_PLACES })
}

fn each(mut damage: impl FnMut(&[u8], &mut dyn FnMut(&[u8]))) {
    let Some(data) = data() else { return };
    for name in FILES {
        let path = data.join(name);
        let ending = path.extension().unwrap().to_str().unwrap();
        let (_, read) = READERS.iter().find(|(format, _)| *format == ending).unwrap();
        damage(&prefix(&path), &mut |bytes| drop(read(bytes)));
    }
}

#[test]
fn files_cut_anywhere() {
    each(|bytes, read| places(bytes.len()).for_each(|end| read(&bytes[..end])));
}

#[test]
fn files_with_a_byte_changed() {
    each(|bytes, read| {
        let mut damaged = bytes.to_vec();
        for at in places(bytes.len()) {
            for byte in [bytes[at] ^ 1, bytes[at] ^ 0x80, b'9', b'-', b'\n', 0, 0xff] {
                damaged[at] = byte;
                read(&damaged);
            }
            damaged[at] = bytes[at];
        }
    });
}

#[test]
fn files_with_a_line_left_out_or_twice() {
    each(|bytes, read| {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        for at in places(lines.len()) {
            read(&[&lines[..at], &lines[at + 1..]].concat().concat());
            read(&[&lines[..=at], &lines[at..]].concat().concat());
        }
    });
}

#[test]
fn every_reader_on_files_of_the_others() {
    each(|bytes, _| READERS.iter().for_each(|(_, read)| drop(read(bytes))));
}
