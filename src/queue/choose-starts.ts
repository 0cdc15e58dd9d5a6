import type { Instant } from '../shared/instant.js';
import { drawn, hasSlot, perSecond, refilled, type SlotRules, startsAt, type TokenBucket } from './limits.js';

/** The limits that apply to the attempts of a lane. */
export interface Route {
  /** What several lanes share: scheme, host and port of a destination. */
  readonly origin: string;
  /** The key of its rate, which several lanes may share. */
  readonly rateKey: string;
  /** Starts per second; 0 means unlimited. */
  readonly rate: number;
}

/** What one destination, or one key, has to do now. */
export interface Lane<T> {
  readonly key: string;
  /** In the order in which they start. */
  readonly candidates: readonly T[];
  readonly route: Route;
  /** Under way. */
  readonly running: number;
  /** The most that may be under way. */
  readonly limit: number;
  /** Nothing starts before. */
  readonly heldUntil: Instant;
}

/** What is under way in this process, and what is left of the rates. */
export interface Traffic {
  readonly inFlight: number;
  readonly perOrigin: ReadonlyMap<string, number>;
  readonly rate: (key: string) => TokenBucket | undefined;
}

/** The starts to make now. */
interface Chosen<T> {
  readonly starts: readonly { readonly key: string; readonly candidate: T }[];
  /** Rates that were drawn from. */
  readonly rates: ReadonlyMap<string, TokenBucket>;
  /** Lanes that wait for a slot, by any end. */
  readonly wantSlots: ReadonlySet<string>;
  /** When the next of a lane may start that a rate or a pause holds back. */
  readonly readyAt: ReadonlyMap<string, Instant>;
}

/** Chooses what starts, in turns over the lanes, so that none waits for another one's backlog. */
export function chooseStarts<T>(
  lanes: readonly Lane<T>[],
  traffic: Traffic,
  rules: SlotRules,
  now: Instant,
): Chosen<T> {
  const starts: { key: string; candidate: T }[] = [];
  const rates = new Map<string, TokenBucket>();
  const wantSlots = new Set<string>();
  const readyAt = new Map<string, Instant>();
  const begun = new Map<string, number>();
  let turn = lanes.filter(({ candidates }) => candidates.length > 0);
  for (let round = 0; turn.length > 0; round += 1) {
    turn = turn.filter(({ key, candidates, route, running, limit, heldUntil }) => {
      const candidate = candidates[round];
      if (candidate === undefined) return false;
      const ofOrigin = begun.get(route.origin) ?? 0;
      const use = {
        queue: running + round,
        origin: (traffic.perOrigin.get(route.origin) ?? 0) + ofOrigin,
        all: traffic.inFlight + starts.length,
      };
      if (heldUntil <= now && !hasSlot(use, limit, rules)) {
        wantSlots.add(key);
        return false;
      }
      const until = heldUntil > now ? heldUntil : drawnUntil(route, rates, traffic, now);
      if (until !== null) {
        readyAt.set(key, until);
        return false;
      }
      begun.set(route.origin, ofOrigin + 1);
      starts.push({ key, candidate });
      return true;
    });
  }
  return { starts, rates, wantSlots, readyAt };
}

/** Takes a token of the rate; null on success, otherwise the time of the next token. */
function drawnUntil(
  { rate, rateKey }: Route,
  rates: Map<string, TokenBucket>,
  traffic: Traffic,
  now: Instant,
): Instant | null {
  if (rate <= 0) return null;
  const bucket = refilled(rates.get(rateKey) ?? traffic.rate(rateKey), perSecond(rate), now);
  const at = startsAt(bucket, perSecond(rate));
  if (at > now) return at;
  rates.set(rateKey, drawn(bucket));
  return null;
}
