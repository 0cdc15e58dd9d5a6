import type { BlockedRequirement } from './blocked-requirement.js';

/**
 * One round over the blocked evaluations after capacity was freed: most urgent first, and a requirement that no node meets is
 * not tried again in this round. A value: each step gives another one.
 */
export interface BlockedPass {
  /** The capacity signal that it answers. */
  readonly seen: number;
  /** The most urgent entry of each requirement, most urgent first, as they were at the beginning. */
  readonly heads: readonly BlockedRequirement[];
  /** The number of heads that were passed so far. */
  readonly begun: number;
  /** Requirements that were met, each with its next entry, most urgent first. */
  readonly found: readonly BlockedRequirement[];
  /** Requirements that no node meets, where another entry might still reach them. */
  readonly exhausted: ReadonlySet<string>;
  /** Evaluations tried in this round, and since a round last came to its end. */
  readonly tried: number;
  readonly triedSinceEnd: number;
}

/** Before the first round: everything is worth a try when an engine starts. */
export const firstPass: BlockedPass = {
  seen: -1,
  heads: [],
  begun: 0,
  found: [],
  exhausted: new Set(),
  tried: 0,
  triedSinceEnd: 0,
};

/**
 * Whether new capacity begins another round at once, so that the most urgent evaluation gets it. The present round continues first if it has
 * only just begun, because looking through all requirements has its cost too, or if rounds were started over again and again, because
 * the last requirements would then never be tried.
 */
export function beginsAnew(pass: BlockedPass, signalled: number): boolean {
  if (signalled <= pass.seen) return false;
  if (isOver(pass)) return true;
  const requirements = pass.heads.length;
  return pass.tried >= requirements / leastShare && pass.triedSinceEnd < 2 * requirements + mostRestarts;
}

const leastShare = 16;
const mostRestarts = 64;

export function passOver(heads: readonly BlockedRequirement[], before: BlockedPass, signalled: number): BlockedPass {
  return {
    ...firstPass,
    seen: signalled,
    heads: [...heads].sort(byUrgency),
    triedSinceEnd: isOver(before) ? 0 : before.triedSinceEnd,
  };
}

/** The next entry to try; undefined when the round is over. */
export function nextOf(pass: BlockedPass): BlockedRequirement | undefined {
  const [found] = pass.found;
  const head = pass.heads[pass.begun];
  if (found === undefined || head === undefined) return found ?? head;
  return byUrgency(head, found) < 0 ? head : found;
}

/**
 * Passes over an entry that need not be tried: its evaluation is over, or its requirement is exhausted. `following`: the next entry
 * of the same requirement.
 */
export function skipped(
  pass: BlockedPass,
  entry: BlockedRequirement,
  following: BlockedRequirement | undefined,
): BlockedPass {
  return withFound(taken(pass, entry), following);
}

interface Trial {
  readonly entry: BlockedRequirement;
  /** What its evaluation still waits for. */
  readonly waitsFor: readonly string[];
  /** The next entry of the same requirement. */
  readonly following: BlockedRequirement | undefined;
}

/**
 * The round after an evaluation was tried: what it still waits for is exhausted; the entry's requirement continues when it
 * was met.
 */
export function afterTrial(pass: BlockedPass, { entry, waitsFor, following }: Trial): BlockedPass {
  const rest = taken(pass, entry);
  const others = waitsFor.filter((requirement) => requirement !== entry.requirement);
  return withFound(
    {
      ...rest,
      exhausted: others.length === 0 ? rest.exhausted : new Set([...rest.exhausted, ...others]),
      tried: pass.tried + 1,
      triedSinceEnd: pass.triedSinceEnd + 1,
    },
    waitsFor.includes(entry.requirement) ? undefined : following,
  );
}

function isOver(pass: BlockedPass): boolean {
  return nextOf(pass) === undefined;
}

function taken(pass: BlockedPass, entry: BlockedRequirement): BlockedPass {
  if (pass.heads[pass.begun] === entry) return { ...pass, begun: pass.begun + 1 };
  return { ...pass, found: pass.found.filter((other) => other !== entry) };
}

function withFound(pass: BlockedPass, entry: BlockedRequirement | undefined): BlockedPass {
  return entry === undefined ? pass : { ...pass, found: [...pass.found, entry].sort(byUrgency) };
}

function byUrgency(a: BlockedRequirement, b: BlockedRequirement): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.createIndex !== b.createIndex) return a.createIndex - b.createIndex;
  return a.ID < b.ID ? -1 : a.ID > b.ID ? 1 : 0;
}
