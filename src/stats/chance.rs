//! Seeded chance: the same seed gives the same draws on every machine. Not for secrets.

/// SplitMix64 (Steele, Lea, Flood 2014): tiny, fast, good enough for orders and bootstraps.
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Starts from a seed and a name, so that two uses of one seed do not share their draws.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a: stable across versions, unlike the standard hasher.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        Self::new(seed ^ hash)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`; 0 for an empty range.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.next_u64()) * (n as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns true with probability one half.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// Puts the items in a random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_draws_are_those_of_the_published_generator() {
        // Reference output of SplitMix64 for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
        let mut chance = Chance::new(1_234_567);
        let draws: Vec<u64> = (0..5).map(|_| chance.next_u64()).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(draws, expected);
    }

    #[test]
    fn shuffle_keeps_every_item_and_repeats_with_its_seed() {
        let mut a: Vec<u32> = (0..100).collect();
        let mut b = a.clone();
        Chance::new(7).shuffle(&mut a);
        Chance::new(7).shuffle(&mut b);
        assert_eq!(a, b);
        assert_ne!(a, (0..100).collect::<Vec<_>>());
        a.sort_unstable();
        assert_eq!(a, (0..100).collect::<Vec<_>>());
    }
}
