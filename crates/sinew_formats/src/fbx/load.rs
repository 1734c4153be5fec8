//! Parsing, within bounds, and what its errors mean.

use crate::{Fault, FormatError, Place};
use ufbx::{
    AllocatorOpts, CoordinateAxes, CoordinateAxis, ErrorType, FileFormat, GeometryTransformHandling,
    InheritModeHandling, LoadOpts, MirrorAxis, PivotHandling, SceneRoot, SpaceConversion,
};

/// Memory that any file may use; larger ones get [`GROWTH`] times their size in addition.
const BASE_MEMORY: usize = 512 << 20;
/// Compressed arrays grow about tenfold, and tables of connections come with them.
const GROWTH: usize = 64;
/// Nodes that may lie below each other. Skeletons have some 50.
const MAX_DEPTH: u32 = 512;

/// Bytes that a file of this size may use.
pub(super) fn memory_limit(file_size: usize) -> usize {
    BASE_MEMORY.saturating_add(GROWTH.saturating_mul(file_size))
}

/// An allocator that refuses more than a limit.
pub(super) fn within(memory_limit: usize) -> AllocatorOpts {
    AllocatorOpts { memory_limit, ..AllocatorOpts::default() }
}

/// Parse a file, with everything in metres, +Y up, faces counter-clockwise, and nodes whose transforms mean what those of
/// glTF do: geometric transforms and pivots are moved into the geometry, scales that are not inherited into the children or
/// into helper nodes.
pub(super) fn load(bytes: &[u8], name: &str) -> Result<SceneRoot, FormatError> {
    let limit = memory_limit(bytes.len());
    let options = LoadOpts {
        temp_allocator: within(limit),
        result_allocator: within(limit),
        file_format: FileFormat::Fbx,
        node_depth_limit: MAX_DEPTH,
        clean_skin_weights: true,
        use_blender_pbr_material: true,
        generate_missing_normals: true,
        normalize_normals: true,
        geometry_transform_handling: GeometryTransformHandling::ModifyGeometry,
        inherit_mode_handling: InheritModeHandling::Compensate,
        pivot_handling: PivotHandling::AdjustToRotationPivot,
        pivot_handling_retain_empties: true,
        space_conversion: SpaceConversion::ModifyGeometry,
        handedness_conversion_axis: MirrorAxis::X,
        target_axes: CoordinateAxes {
            right: CoordinateAxis::PositiveX,
            up: CoordinateAxis::PositiveY,
            front: CoordinateAxis::PositiveZ,
        },
        target_unit_meters: 1.0,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, options).map_err(|error| {
        let (cause, remedy) = explain(error.type_, &error.description, limit);
        FormatError::faults(name, vec![Fault::new(Place::Whole, cause).with_remedy(remedy)])
    })
}

fn explain(kind: ErrorType, description: &str, limit: usize) -> (String, &'static str) {
    const AGAIN: &str = "export it again from the program that made it";
    match kind {
        ErrorType::EmptyFile => ("the file is empty".to_owned(), AGAIN),
        ErrorType::TruncatedFile | ErrorType::Io => {
            ("the file ends in the middle of its data".to_owned(), "copy or export it again")
        }
        ErrorType::UnrecognizedFileFormat => {
            ("this is not FBX, whatever its name says".to_owned(), "check which program wrote it")
        }
        ErrorType::UnsupportedVersion => {
            ("this version of FBX is not known".to_owned(), "export it as FBX 2020, binary")
        }
        ErrorType::OutOfMemory | ErrorType::MemoryLimit | ErrorType::AllocationLimit => {
            let cause = format!(
                "its content needs more than the {} MB that a file of this size may use",
                limit >> 20
            );
            (cause, "the file is damaged, or must be split")
        }
        ErrorType::NodeDepthLimit => {
            let cause = format!("its nodes lie more than {MAX_DEPTH} deep below each other");
            (cause, "flatten the hierarchy, or export it again")
        }
        // What it says where it knows nothing more.
        _ if description.is_empty() || description == "Failed to load" => {
            ("the FBX data is damaged".to_owned(), AGAIN)
        }
        _ => (format!("the FBX data is damaged ({})", description.to_lowercase()), AGAIN),
    }
}
