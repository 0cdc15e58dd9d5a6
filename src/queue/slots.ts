/** Attempts in progress, per limit. */
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
 * Whether one more attempt may start. Every configuration may have one, however busy the others are, up to four
 * times the overall limit; a few more are reserved for it at its origin; further ones share the rest of the origin's limit. So
 * hanging destinations cannot block one that answers, even at the same origin.
 */
export function hasSlot(use: SlotUse, limit: number, rules: SlotRules): boolean {
  if (use.queue === 0) return use.all < rules.all * 4;
  if (use.queue >= limit || use.all >= rules.all) return false;
  return use.queue < rules.own || use.origin < rules.perOrigin;
}
