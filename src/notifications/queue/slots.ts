/** Attempts under way, by what limits them. */
interface SlotUse {
  /** Of the configuration's queue. */
  readonly queue: number;
  /** To its origin (scheme, host and port), by all configurations. */
  readonly origin: number;
  readonly all: number;
}

export interface SlotRules {
  readonly all: number;
  /** Slots that all configurations at one origin share, beyond the `own` of each. */
  readonly perOrigin: number;
  /** Slots reserved for each configuration at an origin, however busy the others are. */
  readonly own: number;
}

/**
 * Whether one more attempt may be under way. Every configuration may have one, however busy the others are, up to four
 * times the overall limit; a few more are its own at its origin; further ones come out of what its origin has left. So
 * destinations that hang take nothing from one that answers, also when they are at the same origin.
 */
export function hasSlot(use: SlotUse, limit: number, rules: SlotRules): boolean {
  if (use.queue === 0) return use.all < rules.all * 4;
  if (use.queue >= limit || use.all >= rules.all) return false;
  return use.queue < rules.own || use.origin < rules.perOrigin;
}
