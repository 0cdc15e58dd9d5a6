/** `2026-11-22 10:30:00 UTC`; empty without a time. */
export function timeText(unixNanoseconds: number | undefined): string {
  if (unixNanoseconds === undefined || unixNanoseconds <= 0) return '';
  return new Date(unixNanoseconds / 1e6)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}
