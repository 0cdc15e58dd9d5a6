import { valueKey } from '../../values/set-order.js';
import type { HclValue } from '../../values/value.js';

/** The items without duplicates, each at its first position. All items have one type. */
export function distinctItems(items: readonly HclValue[]): readonly HclValue[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = valueKey(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
