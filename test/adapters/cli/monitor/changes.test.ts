import { expect, it } from 'vitest';
import { changesOf, type Read, type Waiting } from '../../../../adapters/cli/monitor/monitor.js';

/** A value that the test changes; reads that wait are answered then. */
class Source {
  readonly asked: Waiting[] = [];
  #value: string;
  #index = 1;
  readonly #waiters: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];

  constructor(value: string) {
    this.#value = value;
  }

  readonly read: Read<string> = (waiting) => {
    this.asked.push(waiting);
    if (waiting.index === undefined || waiting.index < this.#index) return Promise.resolve(this.#held());
    return new Promise((resolve, reject) => {
      this.#waiters.push({ answer: () => resolve(this.#held()), fail: reject });
      waiting.signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };

  change(value: string): void {
    this.#value = value;
    this.#index += 1;
    for (const { answer } of this.#waiters.splice(0)) answer();
  }

  fail(): void {
    for (const { fail } of this.#waiters.splice(0)) fail(new Error('gone'));
  }

  #held() {
    return { value: this.#value, index: this.#index };
  }
}

it('gives both values whenever one has changed, and asks each only once at a time', async () => {
  const [a, b] = [new Source('a1'), new Source('b1')];
  const changes = changesOf(a.read, b.read);
  expect((await changes.next()).value).toEqual(['a1', 'b1']);
  for (const [source, value, seen] of [
    [b, 'b2', ['a1', 'b2']],
    [a, 'a2', ['a2', 'b2']],
    [a, 'a3', ['a3', 'b2']],
  ] as const) {
    const next = changes.next();
    source.change(value);
    expect((await next).value).toEqual(seen);
  }
  expect([a.asked.length, b.asked.length]).toEqual([3, 3]);
  expect(a.asked.map(({ index }) => index)).toEqual([undefined, 1, 2]);
  await changes.return(undefined);
  expect(a.asked.at(-1)?.signal.aborted).toBe(true);
});

it('ends with the fault of either', async () => {
  const [a, b] = [new Source('a'), new Source('b')];
  const changes = changesOf(a.read, b.read);
  await changes.next();
  const next = changes.next();
  b.fail();
  await expect(next).rejects.toThrow('gone');
  expect(a.asked.at(-1)?.signal.aborted).toBe(true);
});
