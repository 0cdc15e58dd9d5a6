/** 52 bits of a hash of the string, as 13 hexadecimal digits. Two seeds make a collision unlikely; not secure against an attacker. */
export function textHash(seed: number, text: string): string {
  let high = seed ^ 0xdeadbeef;
  let low = seed ^ 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (0x100000 * (high >>> 0) + (low >>> 12)).toString(16).padStart(13, '0');
}
