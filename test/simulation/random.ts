/** Draws that are the same for the same seed. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number;
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number;
  readonly pick: <T>(...choices: readonly T[]) => T;
  readonly chance: (share: number) => boolean;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    pick: (...choices) => choices[between(0, choices.length - 1)] as never,
    chance: (share) => next() < share,
  };
}

/** A number in [0, 1) that belongs to a text, whenever it is asked for. */
export function shareOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return randomFrom(hash).next();
}
