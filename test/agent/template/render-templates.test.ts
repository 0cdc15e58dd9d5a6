import { expect, it } from 'vitest';
import { type HeldOutputs, stableOutputs } from '../../../src/agent/template/render-templates.js';

const seconds = (count: number): number => count * 1e9;
/** One that does not wait, one that waits from 2 to 5 seconds, one with a shortest wait only. */
const templates = [
  { Wait: null },
  { Wait: { Min: seconds(2), Max: seconds(5) } },
  { Wait: { Min: seconds(1), Max: null } },
];
const none: HeldOutputs = new Map();

it('writes what does not wait at once, and holds the rest back for as long as its own template asks', () => {
  const changed = [0, 1, 2].map((at) => ({ at, text: 'new' }));
  const first = stableOutputs(changed, templates, none, 1000);
  expect(first.due.map(({ at }) => at)).toEqual([0]);
  expect(first.next).toBe(2000);
  const second = stableOutputs(changed.slice(1), templates, first.held, 2000);
  expect(second.due.map(({ at }) => at)).toEqual([2]);
  expect(second.next).toBe(3000);
  const third = stableOutputs(changed.slice(1, 2), templates, second.held, 3000);
  expect(third).toEqual({ due: [{ at: 1, text: 'new' }], held: none, next: undefined });
});

it('begins to wait anew with each text, until the longest wait is over', () => {
  let held = none;
  for (const [now, next] of [
    [0, 2000],
    [1500, 3500],
    [3000, 5000],
    [4500, 5000],
  ] as const) {
    const quiet = stableOutputs([{ at: 1, text: `of ${now}` }], templates, held, now);
    expect(quiet).toMatchObject({ due: [], next });
    held = quiet.held;
  }
  expect(stableOutputs([{ at: 1, text: 'of 5000' }], templates, held, 5000).due).toEqual([{ at: 1, text: 'of 5000' }]);
});

it('takes four times the shortest wait for the longest', () => {
  const first = stableOutputs([{ at: 2, text: 'a' }], templates, none, 0);
  const last = stableOutputs([{ at: 2, text: 'b' }], templates, first.held, 3900);
  expect(last.next).toBe(4000);
});

it('forgets a text that is again the one that the task has', () => {
  const { held } = stableOutputs([{ at: 1, text: 'new' }], templates, none, 0);
  const back = stableOutputs([], templates, held, 1000);
  expect(back).toEqual({ due: [], held: none, next: undefined });
  expect(stableOutputs([{ at: 1, text: 'new' }], templates, back.held, 1500).next).toBe(3500);
});
