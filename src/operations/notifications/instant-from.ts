import { type Instant, instantFromRfc3339 } from '../../shared/instant.js';

/** A time of a request document; undefined if absent or invalid; an invalid one is refused. */
export function instantFrom(
  name: string,
  value: unknown,
  refuse: (name: string, message: string) => void,
): Instant | undefined {
  if (value === undefined || value === null) return undefined;
  const instant = typeof value === 'string' ? instantFromRfc3339(value) : undefined;
  if (instant === undefined) refuse(name, `${name} must be a time such as 2026-01-02T03:04:05Z`);
  return instant;
}
