import type { Random } from './random.js';
import { ENTRIES, type Entry, skeletonFor } from './skeletons.js';
import { type HoleKind, UNITS } from './units.js';

/**
 * A hostile text in short: how it is read, a skeleton with holes, and what grows in each hole. Growing a genome doubles its holes, so
 * the cost of a text can be followed as it gets longer.
 */
export interface Genome {
  readonly entry: Entry;
  readonly skeleton: string;
  /** By the marker in the skeleton. */
  readonly holes: Readonly<Record<string, Hole>>;
}

export interface Hole {
  readonly shape: Shape;
  readonly units: readonly [string, string];
  /** Characters, more or less. */
  readonly size: number;
}

/** How the units u and v fill a hole. */
const SHAPES = [
  'repeat', // uuuuuuuu
  'halves', // uuuuvvvv
  'alternate', // uvuvuvuv
  'framed', // vuuuuuuv
  'nested', // uuvv, 150 deep at most and then again
  'distinct', // u0v u1v u2v …
  'lengthening', // u uv uvv uvvv …
] as const;
export type Shape = (typeof SHAPES)[number];

const MARKER = /«([a-z]+)\d»/g;

/** A random genome with small holes. */
export function randomGenome(random: Random): Genome {
  const entry = random.chance(0.6) ? 'expression' : random.pick(ENTRIES);
  const skeleton = skeletonFor(entry, random);
  const holes: Record<string, Hole> = {};
  for (const [marker, kind] of skeleton.matchAll(MARKER)) holes[marker] = randomHole(kind as HoleKind, random);
  return { entry, skeleton, holes };
}

function randomHole(kind: HoleKind, random: Random): Hole {
  const units = UNITS[kind];
  const shape = kind === 'entries' && random.chance(0.6) ? 'distinct' : random.pick(SHAPES);
  return { shape, units: [random.pick(units), random.pick(units)], size: 8 << random.below(8) };
}

/** A neighbour: one thing about the genome is different. */
export function mutated(genome: Genome, random: Random): Genome {
  const markers = Object.keys(genome.holes);
  const marker = random.pick(markers);
  const hole = genome.holes[marker];
  if (hole === undefined || random.chance(0.1)) return randomGenome(random);
  const kind = marker.replace(/«([a-z]+)\d»/, '$1') as HoleKind;
  return { ...genome, holes: { ...genome.holes, [marker]: mutatedHole(hole, kind, random) } };
}

function mutatedHole(hole: Hole, kind: HoleKind, random: Random): Hole {
  const [first, second] = hole.units;
  const unit = random.pick(UNITS[kind]);
  switch (random.below(6)) {
    case 0:
      return { ...hole, units: [unit, second] };
    case 1:
      return { ...hole, units: [first, unit] };
    case 2:
      return { ...hole, units: [first + unit, second] };
    case 3:
      return { ...hole, shape: random.pick(SHAPES) };
    default:
      return { ...hole, size: Math.max(1, random.chance(0.6) ? hole.size * 2 : hole.size >> 1) };
  }
}

/** The genome with each hole, or the one named, twice as large. */
export function grown(genome: Genome, only?: string): Genome {
  const holes = Object.entries(genome.holes).map(([marker, hole]): [string, Hole] => [
    marker,
    only === undefined || only === marker ? { ...hole, size: hole.size * 2 } : hole,
  ]);
  return { ...genome, holes: Object.fromEntries(holes) };
}

/** The text that a genome stands for; cut in the middle of a hole rather than longer than `most` characters. */
export function textOf({ skeleton, holes }: Genome, most: number): string {
  const count = Math.max(1, skeleton.match(MARKER)?.length ?? 1);
  const room = Math.floor((most - skeleton.length) / count);
  return skeleton.replace(MARKER, (marker, kind: string) => {
    const hole = holes[marker];
    return hole === undefined ? '' : written(hole, kind as HoleKind, room);
  });
}

function written(hole: Hole, kind: HoleKind, room: number): string {
  const escaping = kind === 'text' || kind === 'pattern';
  const units: [string, string] = escaping ? [escaped(hole.units[0]), escaped(hole.units[1])] : [...hole.units];
  return filled({ ...hole, units, size: Math.min(hole.size, room) });
}

function escaped(unit: string): string {
  return JSON.stringify(unit)
    .slice(1, -1)
    .replace(/([$%])\{/g, '$1$1{')
    .replace(/\\([bf])/g, (_whole, letter) => (letter === 'b' ? '\\u0008' : '\\u000c'));
}

function filled({ shape, units: [first, second], size }: Hole): string {
  const times = (unit: string, characters: number): string =>
    unit.repeat(Math.max(0, Math.floor(characters / Math.max(1, unit.length))));
  switch (shape) {
    case 'repeat':
      return times(first, size);
    case 'halves':
      return times(first, size / 2) + times(second, size / 2);
    case 'alternate':
      return times(first + second, size);
    case 'framed':
      return second + times(first, size - 2 * second.length) + second;
    case 'nested': {
      const depth = Math.max(1, Math.min(150, Math.floor(size / (first.length + second.length))));
      return times(first.repeat(depth) + second.repeat(depth), size);
    }
    case 'distinct':
      return pieces(size, (index) => numbered(first, second, index));
    case 'lengthening':
      return pieces(size, (index) => first + second.repeat(index));
  }
}

/** The number goes behind the first letter of the unit, where it makes another name or text of it. */
function numbered(first: string, second: string, index: number): string {
  const at = first.search(/[a-z]/i);
  const number = index.toString(36);
  return at < 0 ? first + number + second : first.slice(0, at + 1) + number + first.slice(at + 1);
}

function pieces(size: number, piece: (index: number) => string): string {
  const made: string[] = [];
  let length = 0;
  for (let index = 0; ; index += 1) {
    const next = piece(index);
    length += Math.max(1, next.length);
    if (length > size) return made.join('');
    made.push(next);
  }
}
