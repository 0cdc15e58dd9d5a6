import type { BlockedRequirement } from './blocked-requirement.js';

/**
 * One round over the blocked evaluations after capacity was freed: highest priority first. A requirement that no node meets is
 * not retried in this round. Immutable: each step returns a new round.
 */
export interface BlockedPass {
  /** The capacity signal that started the round. */
  readonly seen: number;
  /** The head of each requirement's queue, highest priority first, as of the start of the round. */
  readonly heads: readonly BlockedRequirement[];
  /** Number of heads that were passed so far. */
  readonly begun: number;
  /** Requirements that were met, each with its next entry, highest priority first. */
  readonly found: readonly BlockedRequirement[];
  /** Requirements that no node meets, although further entries may exist. */
  readonly exhausted: ReadonlySet<string>;
  /** Evaluations tried in this round, plus those of restarted rounds since one last completed. */
  readonly tried: number;
  readonly triedSinceEnd: number;
}

/** Before the first round: when an engine starts, every evaluation is worth retrying. */
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
 * Whether new capacity starts another round at once, so that the highest priority is served first. The current round continues if it has
 * only just begun, because collecting all requirements is expensive, or if rounds were restarted too often, because
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

/** The next entry to try; undefined at the end of the round. */
export function nextOf(pass: BlockedPass): BlockedRequirement | undefined {
  const [found] = pass.found;
  const head = pass.heads[pass.begun];
  if (found === undefined || head === undefined) return found ?? head;
  return byUrgency(head, found) < 0 ? head : found;
}

/**
 * Skips an entry that need not be tried: its evaluation has ended, or its requirement is exhausted. `following`: the next entry
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
  /** The requirements that the evaluation still waits for. */
  readonly waitsFor: readonly string[];
  /** The next entry of the same requirement. */
  readonly following: BlockedRequirement | undefined;
}

/**
 * The round after an evaluation was tried: the requirements that it still waits for are exhausted. If the entry's own requirement was met,
 * the round continues with its next entry.
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
