import { parseArgs } from 'node:util';
import { readCorpus, writeCorpus } from './corpus.js';
import { textOf } from './genome.js';
import { longestTurn, processedInSteps } from './measure.js';
import { Random } from './random.js';
import { LONGEST, search } from './search.js';

/*
 * `tsx test/campaigns/hcl-cost/main.ts [--seconds 60] [--seed 1] [--write]`: searches for texts that cost much, from the corpus on, and
 * prints the worst of each kind: its time in one call, and that of its longest turn. `--write` makes them the new corpus.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, write: { type: 'boolean' } },
});
const end = performance.now() + Number(values.seconds ?? 60) * 1000;
let texts = 0;
const found = search({
  random: new Random(Number(values.seed ?? 1)),
  until: () => performance.now() > end,
  enough: 250,
  start: readCorpus(),
  measured: () => {
    texts += 1;
  },
  report: ({ genome, milliseconds, length }) =>
    console.log(`${milliseconds.toFixed(0)} ms, ${length} characters: ${JSON.stringify(genome).slice(0, 300)}`),
});
console.log(`\n${texts} texts; the worst of each kind (ms in one call, longest turn, characters):`);
for (const { genome, milliseconds, length } of found.slice(0, 40)) {
  const turn = longestTurn(processedInSteps(genome.entry, textOf(genome, LONGEST)));
  const columns = [milliseconds, turn, length].map((figure) => figure.toFixed(0).padStart(8));
  console.log(`${columns.join('')}  ${JSON.stringify(genome).slice(0, 200)}`);
}
if (values.write === true) writeCorpus(found);
