//! Primitives compressed by Draco, by the decoder of the crate `draco-core`.

use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointIndex};

/// Decode a stream that may need at most so many bytes.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode(bytes: &[u8], most_bytes: u64) -> Result<Mesh, String> {
    let limits = DecodeLimits::default()
        .with_max_points(most_bytes / 12)
        .with_max_faces(most_bytes / 12)
        .with_max_decoded_bytes(most_bytes);
    let mut mesh = Mesh::new();
    let mut stream = DecoderBuffer::new(bytes).with_limits(limits);
    MeshDecoder::new().decode(&mut stream, &mut mesh).map_err(|error| error.to_string())?;
    Ok(mesh)
}

/// Corners of the faces, one after another.
pub(super) fn corners(mesh: &Mesh) -> impl Iterator<Item = u32> {
    mesh.faces().iter().flatten().map(|point| point.0)
}

/// Values of an attribute as an accessor has them: so many components of a type per vertex, the vertices `stride` bytes apart.
///
/// # Errors
/// If there is no such attribute, or it has other components.
pub(super) fn values(
    mesh: &Mesh,
    id: u32,
    component_type: u32,
    width: usize,
    stride: usize,
) -> Result<Vec<u8>, String> {
    let attribute = mesh
        .attribute_by_unique_id(id)
        .ok_or_else(|| format!("the compressed data has no attribute of number {id}"))?;
    if usize::from(attribute.num_components()) != width {
        return Err(format!(
            "the compressed attribute {id} has {} components instead of {width}",
            attribute.num_components()
        ));
    }
    let (wanted, size) = match component_type {
        5120 => (DataType::Int8, 1),
        5121 => (DataType::Uint8, 1),
        5122 => (DataType::Int16, 2),
        5123 => (DataType::Uint16, 2),
        5125 => (DataType::Uint32, 4),
        5126 => (DataType::Float32, 4),
        other => return Err(format!("componentType {other} is not allowed here")),
    };
    let n = mesh.num_points();
    let mut out = vec![0; n * stride];
    let elements = out.chunks_exact_mut(stride).map(|element| &mut element[..width * size]);
    if attribute.data_type() != wanted {
        // Encoders store integers wider than the accessor says.
        let floats = attribute.read_f32s(n, width);
        for (element, values) in elements.zip(floats.chunks_exact(width)) {
            for (out, &value) in element.chunks_exact_mut(size).zip(values) {
                match wanted {
                    DataType::Int8 => out.copy_from_slice(&(value as i8).to_le_bytes()),
                    DataType::Uint8 => out.copy_from_slice(&(value as u8).to_le_bytes()),
                    DataType::Int16 => out.copy_from_slice(&(value as i16).to_le_bytes()),
                    DataType::Uint16 => out.copy_from_slice(&(value as u16).to_le_bytes()),
                    DataType::Uint32 => out.copy_from_slice(&(value as u32).to_le_bytes()),
                    _ => out.copy_from_slice(&value.to_le_bytes()),
                }
            }
        }
        return Ok(out);
    }
    let (data, source_stride) = (attribute.buffer().data(), attribute.byte_stride().max(0) as usize);
    for (point, element) in elements.enumerate() {
        let at = (attribute.mapped_index(PointIndex(point as u32)).0 as usize).checked_mul(source_stride);
        let found = at.and_then(|at| data.get(at..)?.get(..element.len()));
        element
            .copy_from_slice(found.ok_or_else(|| format!("vertex {point} has no value of attribute {id}"))?);
    }
    Ok(out)
}
