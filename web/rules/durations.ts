const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Milliseconds in at most two units: `2 h 5 min`, `41 s`, `80 ms`. */
export function durationText(milliseconds: number): string {
  const rest = Math.max(0, Math.round(milliseconds));
  if (rest < 1000) return `${rest} ms`;
  if (rest < 10_000) return `${Math.floor(rest / 100) / 10} s`;
  const first = units.findIndex(([, size]) => rest >= size);
  const [name, size] = units[first] ?? units[3];
  const count = Math.floor(rest / size);
  const next = units[first + 1];
  const part = next === undefined ? 0 : Math.floor((rest - count * size) / next[1]);
  return next === undefined || part === 0 ? `${count} ${name}` : `${count} ${name} ${part} ${next[0]}`;
}

/** The distance of a time from now: `3 min ago`, `in 2 h`; the largest unit only. */
export function relativeText(at: number, now: number): string {
  const distance = Math.abs(at - now);
  const unit = units.find(([, size]) => distance >= size);
  if (unit === undefined) return 'now';
  const text = `${Math.floor(distance / unit[1])} ${unit[0]}`;
  return at < now ? `${text} ago` : `in ${text}`;
}

/** Bytes with a unit of 1,024: `3.1 MiB`. */
export function bytesText(bytes: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(names.length - 1, Math.floor(Math.log2(bytes) / 10));
  const count = bytes / 1024 ** power;
  return `${power === 0 || count >= 100 ? Math.round(count) : Math.round(count * 10) / 10} ${names[power]}`;
}

export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}
