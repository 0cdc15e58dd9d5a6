import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../adapters/memory/index.js';
import { type Cron, defineFunction, type FunctionDefinition } from '../../src/functions/define-function.js';
import { day, hour, minute } from '../../src/shared/duration.js';
import { processOver, stopAll, type World, world } from '../support/function-processes.js';

/*
 * Processes over one store whose clocks are wrong, are set forward and back, and pass the changes of daylight saving, while processes come
 * and go: each launch of a schedule is made once. `SIGNALBOX_FUNCTION_CLOCKS=1000` for more random histories.
 */
const seeds = Number(process.env['SIGNALBOX_FUNCTION_CLOCKS'] ?? 4);

afterEach(stopAll);

const zone = 'Europe/Berlin';
/** Which local times each schedule means: all times when the clocks skip an hour, and when they show one twice. */
const crons: readonly (Cron<string> & { readonly has: (hours: number, minutes: number) => boolean })[] = [
  { schedule: '15,45 * * * *', has: (_, minutes) => minutes === 15 || minutes === 45 },
  { schedule: '30 2 * * *', has: (hours, minutes) => hours === 2 && minutes === 30 },
];

/** Numbers that only look random: the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

/** The launches after `from` and up to `to`, found by looking at each minute. */
function expected(from: number, to: number, has: (hours: number, minutes: number) => boolean): string[] {
  const local = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
  const found: string[] = [];
  for (let at = from + minute; at <= to; at += minute) {
    const [hours = 0, minutes = 0] = local.format(at).split(':').map(Number);
    if (has(hours, minutes)) found.push(new Date(at).toISOString());
  }
  return found;
}

test.each<[string, number]>([
  ['into summer time', Date.UTC(2026, 2, 27, 12)],
  ['out of summer time', Date.UTC(2026, 9, 23, 12)],
])(
  'clocks that are stepped by an hour, and go %s: each launch is made once',
  {
    timeout: 60_000 + seeds * 20_000,
  },
  async (_name, start) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = numbers(seed * 7919);
      const chance = (share: number): boolean => random.next().value < share;
      const launched: string[][] = crons.map(() => []);
      const functions = crons.map(
        ({ schedule }, at): FunctionDefinition<void, void> =>
          defineFunction<void, void, void>(
            { name: `work-${at}`, cron: { schedule, timeZone: zone, missed: 'all', overlap: 'allow' } },
            (_none, run) => {
              launched[at]?.push(run.dueAt.toISOString());
            },
          ),
      );
      const shared = world();
      // The clock of the third process is an hour ahead.
      const [first, ahead]: readonly World[] = [0, hour].map((by) => ({ ...shared, clock: manualClock(start + by) }));
      const own = [first ?? shared, first ?? shared, ahead ?? shared];
      const fleet = await Promise.all(own.map((each) => processOver(each, functions)));
      const clocks = [...new Set(own.map(({ clock }) => clock))];
      let latest = start;
      const settle = async (): Promise<void> => {
        for (const clock of clocks) await clock.settle();
        latest = Math.max(latest, ...clocks.map((clock) => clock.now()));
      };
      for (let passed = 0; passed < 4 * day; ) {
        const span = Math.ceil(random.next().value * 6 * 60) * minute;
        passed += span;
        for (let part = 0; part < span; part += 30 * minute)
          for (const clock of clocks) await clock.advance(Math.min(30 * minute, span - part));
        await settle();
        if (chance(0.4)) {
          const stepped = clocks[chance(0.5) ? 0 : 1];
          await stepped?.step(chance(0.5) ? hour : -hour);
          await settle();
        }
        if (chance(0.3)) {
          const at = Math.floor(random.next().value * fleet.length);
          const world = own[at] ?? shared;
          await fleet[at]?.stop({ deadline: 0 });
          if (chance(0.5)) await world.clock.advance(minute);
          fleet[at] = await processOver(world, functions);
          await settle();
        }
      }
      await settle();
      for (const [at, { has }] of crons.entries())
        expect([seed, ...(launched[at] ?? []).toSorted()]).toEqual([seed, ...expected(start, latest, has)]);
    }
  },
);
