import { type Genome, grown, mutated, randomGenome, textOf } from './genome.js';
import { processed, processorTime } from './measure.js';
import type { Random } from './random.js';

export interface Found {
  readonly genome: Genome;
  readonly milliseconds: number;
  readonly length: number;
}

/** Characters of the longest text that is read at all. */
export const LONGEST = 1024 * 1024;

export interface SearchOptions {
  readonly random: Random;
  readonly until: () => boolean;
  /** Texts that cost more than this are not grown further. */
  readonly enough: number;
  readonly start?: readonly Genome[];
  /** Told of each text that is measured. */
  readonly measured?: () => void;
  readonly report?: (found: Found) => void;
}

/**
 * Looks for texts that cost much: starts at random, follows each text as it grows for as long as its cost does, and goes on from the
 * neighbours of the worst found so far. Keeps the worst text of each kind (reader and skeleton head).
 */
export function search({ random, until, enough, start = [], measured: told, report }: SearchOptions): Found[] {
  const worst = new Map<string, Found>();
  const keep = (found: Found): void => {
    told?.();
    const key = kindOf(found.genome);
    const known = worst.get(key);
    if (known !== undefined && known.milliseconds >= found.milliseconds) return;
    worst.set(key, found);
    if (found.milliseconds > enough) report?.(found);
  };
  for (const genome of start) keep(measured(genome));
  while (!until()) {
    const parents = [...worst.values()];
    const explores = parents.length < 20 || random.chance(0.5);
    const genome = explores ? randomGenome(random) : mutated(tournament(parents, random).genome, random);
    keep(followed(genome, enough, random));
  }
  return [...worst.values()].sort((left, right) => right.milliseconds - left.milliseconds);
}

function followed(start: Genome, enough: number, random: Random): Found {
  const markers = Object.keys(start.holes);
  // One hole at a time, or all of them: which of the arguments costs is not known.
  const only = markers.length > 1 && random.chance(0.5) ? random.pick(markers) : undefined;
  let best = measured(start);
  let current = best;
  let genome = start;
  while (current.milliseconds < enough && current.length < LONGEST * 0.9) {
    genome = grown(genome, only);
    const next = measured(genome);
    if (next.length === current.length) break;
    current = next;
    if (current.milliseconds > best.milliseconds) best = current;
    // What is refused early stays refused.
    if (current.milliseconds < best.milliseconds / 4) break;
  }
  return best;
}

/** The cheapest of several runs once it matters: a collection of garbage is nobody's fault. */
export function measured(genome: Genome, runs = 3, care = 120): Found {
  const text = textOf(genome, LONGEST);
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const took = processorTime(() => processed(genome.entry, text));
    milliseconds = Math.min(milliseconds, took);
    if (milliseconds < care || took > 2000) break;
  }
  return { genome, milliseconds, length: text.length };
}

function tournament(found: readonly Found[], random: Random): Found {
  let best = random.pick(found);
  for (let round = 0; round < 3; round += 1) {
    const other = random.pick(found);
    if (other.milliseconds > best.milliseconds) best = other;
  }
  return best;
}

/** What a text does: its reader and its skeleton without the arguments. */
function kindOf({ entry, skeleton }: Genome): string {
  return `${entry} ${skeleton.replace(/\(.*/s, '').replace(/«.*?»/g, '').slice(0, 50)}`;
}
