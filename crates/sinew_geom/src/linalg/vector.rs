//! Dot products and multiply-add.

/// Numbers that have a fused multiply-add.
pub trait Float: Copy {
    /// `self · b + c`: one instruction with one rounding if `FMA`, otherwise a product and a sum. Without hardware
    /// support the fused form is a slow library call; [`dispatch`](super::dispatch) chooses.
    fn multiply_add<const FMA: bool>(self, b: Self, c: Self) -> Self;
}

macro_rules! impl_float {
    ($($t:ty)*) => {
        $(impl Float for $t {
            #[inline(always)]
            fn multiply_add<const FMA: bool>(self, b: Self, c: Self) -> Self {
                if FMA { self.mul_add(b, c) } else { self * b + c }
            }
        })*
    };
}
impl_float!(f32 f64);

/// `a · b + c`, fused if `FMA`.
#[inline(always)]
pub fn fma<const FMA: bool, T: Float>(a: T, b: T, c: T) -> T {
    a.multiply_add::<FMA>(b, c)
}

/// Dot product, summed in order.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Dot product in `N` parallel sums, which the compiler keeps in wide registers.
#[inline(always)]
pub fn dot_wide<const FMA: bool, const N: usize>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; N];
    let (a_chunks, a_rest) = a.as_chunks::<N>();
    let (b_chunks, b_rest) = b.as_chunks::<N>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for l in 0..N {
            sums[l] = fma::<FMA, _>(x[l], y[l], sums[l]);
        }
    }
    dot(a_rest, b_rest) + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_dot_products_agree() {
        let a: Vec<f64> = (0..27).map(|i| f64::from(i) * 0.37 - 3.0).collect();
        let b: Vec<f64> = (0..27).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
        let exact = dot(&a, &b);
        for other in [dot_wide::<false, 4>(&a, &b), dot_wide::<true, 4>(&a, &b), dot_wide::<true, 8>(&a, &b)]
        {
            assert!((other - exact).abs() < 1e-13, "{other} {exact}");
        }
    }
}
