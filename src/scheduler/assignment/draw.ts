/** Returns an integer from 0 up to, but not including, the bound. */
export type Draw = (bound: number) => number;

/** A pseudorandom generator seeded by the string, so that generated values of a plan are reproducible. */
export function drawFrom(text: string): Draw {
  let state = 0x9e3779b9;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x85ebca6b);
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * bound);
  };
}
