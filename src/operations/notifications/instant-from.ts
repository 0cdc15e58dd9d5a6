/** A moment of a request document; undefined when there is none, or none that can be read, which is refused. */
export function instantFrom(
  name: string,
  value: unknown,
  refuse: (name: string, message: string) => void,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  const instant = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  refuse(name, `${name} must be a time such as 2026-01-02T03:04:05Z`);
  return undefined;
}
