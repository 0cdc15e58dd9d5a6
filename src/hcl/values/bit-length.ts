/** Bits of a positive whole number; 0 for zero. */
export function bitLength(magnitude: bigint): number {
  if (magnitude <= MAX_SAFE) return magnitude === 0n ? 0 : safeBitLength(Number(magnitude));
  const hex = magnitude.toString(16);
  return (hex.length - 1) * 4 + safeBitLength(Number.parseInt(hex[0] ?? '0', 16));
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

function safeBitLength(value: number): number {
  return value < 2 ** 31 ? 32 - Math.clz32(value) : 32 + safeBitLength(Math.floor(value / 2 ** 32));
}
