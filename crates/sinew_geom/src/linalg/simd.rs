//! Choosing instructions at run time.

/// A computation compiled twice: with fused multiply-add and wide registers, and without.
///
/// Everything `run` calls must be `#[inline(always)]`, so that it is compiled for the chosen instructions.
pub trait Kernel {
    /// Result of the computation.
    type Output;
    /// Run it. `FMA` says whether `mul_add` is one instruction (otherwise it is a slow library call).
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Run a kernel with the best instructions of this machine.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        struct Fused<K>(K);
        impl<K: Kernel> pulp::NullaryFnOnce for Fused<K> {
            type Output = K::Output;
            #[inline(always)]
            fn call(self) -> K::Output {
                self.0.run::<true>()
            }
        }
        match pulp::x86::V3::try_new() {
            Some(v3) => v3.vectorize(Fused(kernel)),
            None => kernel.run::<false>(),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // 64-bit ARM always has fused multiply-add; elsewhere plain arithmetic is safe.
        if cfg!(target_arch = "aarch64") { kernel.run::<true>() } else { kernel.run::<false>() }
    }
}

/// Multiply-add on eight lanes that stay in one register. The compiler is free to split a plain loop over eight
/// lanes into halves, and does so when a later step uses halves: skinning lost a third of its speed.
pub(crate) trait Lanes8: Copy {
    /// `a · b + c`.
    fn mul_add(self, a: [f32; 8], b: [f32; 8], c: [f32; 8]) -> [f32; 8];
}

/// Lanes as the compiler chooses.
#[derive(Clone, Copy)]
pub(crate) struct AnyLanes<const FMA: bool>;

impl<const FMA: bool> Lanes8 for AnyLanes<FMA> {
    #[inline(always)]
    fn mul_add(self, a: [f32; 8], b: [f32; 8], mut c: [f32; 8]) -> [f32; 8] {
        for i in 0..8 {
            c[i] = super::fma::<FMA, _>(a[i], b[i], c[i]);
        }
        c
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes8 for pulp::x86::V3 {
    #[inline(always)]
    fn mul_add(self, a: [f32; 8], b: [f32; 8], c: [f32; 8]) -> [f32; 8] {
        pulp::cast(self.mul_add_f32x8(pulp::cast(a), pulp::cast(b), pulp::cast(c)))
    }
}
