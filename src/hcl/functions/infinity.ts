import { isInfinite } from '../values/number.js';
import type { HclValue } from '../values/value.js';
import { entriesOf, itemsOf } from '../values/value.js';

/** True when the value is or contains an infinite number. */
export function holdsInfinity(value: HclValue): boolean {
  if (value.kind === 'number') return isInfinite(value.value);
  const parts = itemsOf(value) ?? entriesOf(value)?.values() ?? [];
  for (const part of parts) if (holdsInfinity(part)) return true;
  return false;
}
