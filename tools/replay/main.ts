/*
 * npm run replay -- FOLDER [--need N%] [--all]
 *
 * Replays every vector file of a folder and prints how many answers are equal. Exits with 1 if fewer than required are equal (default:
 * 100 %), with 2 for an invalid command line. `--all` prints every difference instead of only the first of each file.
 */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  companions,
  type Outcome,
  playerOfFile,
  playFile,
  readVectors,
  vectorFiles,
} from '../../test/replay/vector-files.js';

const usage = 'usage: npm run replay -- FOLDER [--need N%] [--all]';

process.exitCode = await main();

async function main(): Promise<number> {
  const asked = readArguments();
  if (asked === undefined) {
    console.error(usage);
    return 2;
  }
  let equal = 0;
  let total = 0;
  for (const file of vectorFiles(asked.folder).filter((name) => !companions.has(name))) {
    const { played, different } = await report(asked.folder, file, asked.all);
    total += played;
    equal += played - different;
  }
  const share = total === 0 ? 0 : (equal / total) * 100;
  console.log(`sum: ${equal} of ${total} equal (${share.toFixed(2)} %, ${asked.need} % needed)`);
  return share >= asked.need ? 0 : 1;
}

async function report(folder: string, file: string, all: boolean): Promise<{ played: number; different: number }> {
  const player = await playerOfFile(folder, file);
  if (player === undefined) {
    const played = readVectors(folder, file).length;
    console.log(`${file}: no player (${played})`);
    return { played, different: played };
  }
  const outcome = await playFile(folder, file, player);
  print(outcome, all);
  return { played: outcome.played, different: outcome.different.length };
}

function print({ file, played, different }: Outcome, all: boolean): void {
  console.log(`${file}: ${played - different.length} of ${played} equal`);
  for (const { id, difference } of all ? different : different.slice(0, 1)) console.log(`  ${id}: ${difference}`);
}

function readArguments(): { folder: string; need: number; all: boolean } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { need: { type: 'string', default: '100%' }, all: { type: 'boolean', default: false } },
    });
    const [folder] = positionals;
    const need = /^\d+(?:\.\d+)?%?$/.test(values.need) ? Number.parseFloat(values.need) : Number.NaN;
    const usable = folder !== undefined && positionals.length === 1 && statSync(folder).isDirectory() && need <= 100;
    return usable ? { folder, need, all: values.all } : undefined;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}
