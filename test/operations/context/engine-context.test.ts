import { describe, expect, test } from 'vitest';
import { Turns } from '../../../src/operations/context/engine-context.js';

/** What happens in each round of the event loop, a bar between two rounds. */
async function roundsOf(works: readonly string[], parts: number): Promise<string> {
  const turns = new Turns();
  let told = '';
  let ended = false;
  const round = (): void => {
    told += '|';
    if (!ended) setImmediate(round);
  };
  setImmediate(round);
  await Promise.all(
    works.map(async (name) => {
      for (let part = 0; part < parts; part += 1) {
        await turns.next();
        told += name;
      }
    }),
  );
  ended = true;
  return told;
}

describe('turns of the event loop', () => {
  test('work alone gets one in each round', async () => {
    expect(await roundsOf(['a'], 3)).toBe('|a|a|a');
  });

  test('two works take turns: never both in one round', async () => {
    expect(await roundsOf(['a', 'b'], 2)).toBe('|a|b|a|b');
  });

  test('work that comes later is not held up by work that goes on for ever', async () => {
    const turns = new Turns();
    let parts = 0;
    let ended = false;
    const endless = (async () => {
      for (; !ended; parts += 1) await turns.next();
    })();
    await turns.next();
    ended = true;
    await endless;
    expect(parts).toBeLessThanOrEqual(2);
  });
});
