import { readFileSync, writeFileSync } from 'node:fs';
import type { Genome } from './genome.js';
import type { Found } from './search.js';

/** The worst texts that searches have found, one of each kind, the worst first. */
export function readCorpus(): Genome[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Genome[];
}

/** Keeps the worst of what a search that began with the old corpus has found. */
export function writeCorpus(found: readonly Found[]): void {
  const kept = found.filter(({ milliseconds }) => milliseconds > WORTH_KEEPING).slice(0, MOST);
  writeFileSync(file, `[\n${kept.map(({ genome }) => `  ${JSON.stringify(genome)}`).join(',\n')}\n]\n`);
}

/** From the project's root, where the benchmark runs bundled. */
const file = 'test/campaigns/hcl-cost/corpus.json';
const WORTH_KEEPING = 20;
const MOST = 80;
