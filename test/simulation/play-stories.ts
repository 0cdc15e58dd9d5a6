import { playStory } from './story.js';

/* A process that plays the stories FIRST, FIRST + STEP, … below END, and prints those that break, one JSON text a line. */
const [first = 1, end = 1, step = 1] = process.argv.slice(2).map(Number);
let broken = 0;
for (let seed = first; seed < end && broken < 5; seed += step) {
  const { steps, faults } = await playStory(seed);
  if (faults.length === 0) continue;
  broken += 1;
  process.stdout.write(
    `${JSON.stringify([`seed ${seed}: ${faults.slice(0, 4).join('; ')}`, ...steps].join('\n  '))}\n`,
  );
}
process.stdout.write('played\n');
