const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
const LONGEST = 2n ** 63n - 1n;

/**
 * Nanoseconds of a duration text such as `1h2m3.5s`: one or more numbers with a unit, a sign in front allowed; `0` needs no unit.
 * There is no unit longer than an hour. Undefined for anything else, and beyond 292 years.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > 200) return undefined;
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0;
  if (body === '') return undefined;
  let total = 0n;
  let at = 0;
  while (at < body.length) {
    PART.lastIndex = at;
    const match = PART.exec(body);
    if (match === null) return undefined;
    const [whole, digits = '', fraction = '', name = ''] = match;
    const unit = UNITS[name];
    if (unit === undefined || digits + fraction === '') return undefined;
    // Digits beyond a nanosecond are cut off.
    total +=
      BigInt(digits === '' ? '0' : digits) * unit + (BigInt(`0${fraction}`) * unit) / 10n ** BigInt(fraction.length);
    at += whole.length;
  }
  if (total > LONGEST) return undefined;
  return Number(negative ? -total : total) + 0;
}
