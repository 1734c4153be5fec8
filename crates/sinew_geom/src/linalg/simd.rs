//! Choosing machine code at run time.

/// A computation compiled twice: with fused multiply-add and wide registers, and without.
///
/// Everything `run` calls must be `#[inline(always)]`, so that it is compiled for the chosen machine.
pub(crate) trait Kernel {
    /// What it computes.
    type Output;
    /// Do it. `FMA` tells whether `mul_add` is one instruction (otherwise it is a slow library call).
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Run a kernel with the best instructions this machine has.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
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
